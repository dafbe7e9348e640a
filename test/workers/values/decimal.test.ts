// Compares decimals with exact fractions.

import { test } from 'tap';
import {
  addDecimals,
  compareDecimals,
  DECIMAL_DIGITS_MAX,
  type Decimal,
  DIVISION_SCALE,
  decimalFromNumber,
  decimalText,
  decimalToNumber,
  divideDecimals,
  floorDecimal,
  multiplyDecimals,
  parseDecimal,
  ROUNDINGS,
  type Rounding,
  remainderOfDecimals,
  roundDecimal,
  subtractDecimals,
} from '../../../workers/values/decimal.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

/** An exact fraction. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

const fractionOf = (value: Decimal): Fraction => ({ top: BigInt(value.digits), bottom: 10n ** BigInt(value.scale) });
const sameFraction = (a: Fraction, b: Fraction): boolean => a.top * b.bottom === b.top * a.bottom;

const texts = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat({ max: 25 }), fc.nat({ max: 2 }))
  .map(([negative, digits, scale, size]) => {
    const shortened = size === 0 ? digits % 1000n : size === 1 ? digits % 10n ** 16n : digits;
    const text = String(shortened).padStart(scale + 1, '0');
    const point = text.length - scale;
    return `${negative && shortened !== 0n ? '-' : ''}${text.slice(0, point)}${scale === 0 ? '' : `.${text.slice(point)}`}`;
  });
const decimals = texts.map((text) => parseDecimal(text)!);

test('decimals compute as exact fractions', async (t) => {
  fc.assert(
    fc.property(decimals, decimals, (left, right) => {
      const a = fractionOf(left);
      const b = fractionOf(right);
      const sum = fractionOf(addDecimals(left, right)!);
      const difference = fractionOf(subtractDecimals(left, right)!);
      const product = fractionOf(multiplyDecimals(left, right)!);
      const order = a.top * b.bottom < b.top * a.bottom ? -1 : a.top * b.bottom > b.top * a.bottom ? 1 : 0;
      const computed =
        sameFraction(sum, { top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom }) &&
        sameFraction(difference, { top: a.top * b.bottom - b.top * a.bottom, bottom: a.bottom * b.bottom }) &&
        sameFraction(product, { top: a.top * b.top, bottom: a.bottom * b.bottom });
      if (right.digits === 0) return computed && compareDecimals(left, right) === order;
      const rest = fractionOf(remainderOfDecimals(left, right)!);
      const whole = (a.top * b.bottom) / (a.bottom * b.top);
      const expected = { top: a.top * b.bottom - whole * b.top * a.bottom, bottom: a.bottom * b.bottom };
      return computed && compareDecimals(left, right) === order && sameFraction(rest, expected);
    }),
    { numRuns: sweep({ short: 63, long: 1000 }) },
  );
  t.pass('sums, differences, products, remainders, order');
});

test('a quotient is the nearest decimal of its scale, halves to even', async (t) => {
  fc.assert(
    fc.property(decimals, decimals, (left, right) => {
      if (right.digits === 0) return true;
      const quotient = divideDecimals(left, right)!;
      const kept = Math.max(left.scale, right.scale);
      const unit = 10n ** BigInt(Math.max(kept, DIVISION_SCALE));
      const a = fractionOf(left);
      const b = fractionOf(right);
      const q = fractionOf(quotient);
      // |q - a/b| * 2 * unit <= 1, multiplied by all denominators.
      const gap = q.top * a.bottom * b.top - a.top * b.bottom * q.bottom;
      const scale = q.bottom * a.bottom * b.top;
      const size = (value: bigint) => (value < 0n ? -value : value);
      return quotient.scale >= kept && size(gap) * 2n * unit <= size(scale);
    }),
    { numRuns: sweep({ short: 63, long: 1000 }) },
  );
  t.equal(decimalText(divideDecimals(parseDecimal('10.00')!, parseDecimal('4')!)!), '2.50');
  t.equal(decimalText(divideDecimals(parseDecimal('2')!, parseDecimal('3')!)!), '0.6666666667');
});

test('roundings agree with a slow definition', async (t) => {
  const slow = (value: Decimal, scale: number, rounding: Rounding): bigint | null => {
    const { top, bottom } = fractionOf(value);
    const shifted = scale >= 0 ? top * 10n ** BigInt(scale) : top;
    const divisor = scale >= 0 ? bottom : bottom * 10n ** BigInt(-scale);
    const down = shifted / divisor;
    const rest = shifted - down * divisor;
    const away = shifted < 0n ? down - 1n : down + 1n;
    const twice = rest < 0n ? -rest * 2n : rest * 2n;
    if (rest === 0n || rounding === 'down') return down;
    if (rounding === 'error') return null;
    if (twice !== divisor) return twice > divisor ? away : down;
    return rounding === 'half_up' || down % 2n !== 0n ? away : down;
  };
  fc.assert(
    fc.property(decimals, fc.integer({ min: -3, max: 12 }), fc.constantFrom(...ROUNDINGS), (value, scale, rounding) => {
      const expected = slow(value, scale, rounding);
      const rounded = roundDecimal(value, scale, rounding);
      if (expected === null || rounded === null) return expected === null && rounded === null;
      const wanted =
        scale >= 0
          ? { top: expected, bottom: 10n ** BigInt(scale) }
          : { top: expected * 10n ** BigInt(-scale), bottom: 1n };
      return sameFraction(fractionOf(rounded), wanted) && rounded.scale === Math.max(scale, 0);
    }),
    { numRuns: sweep({ short: 63, long: 1000 }) },
  );
  t.equal(decimalText(floorDecimal(parseDecimal('-0.1')!)!), '-1');
});

test('decimals keep their text', async (t) => {
  fc.assert(fc.property(texts, (text) => decimalText(parseDecimal(text)!) === text));
  fc.assert(
    fc.property(
      decimals,
      ({ digits }) =>
        (typeof digits === 'number') === (digits <= Number.MAX_SAFE_INTEGER && digits >= -Number.MAX_SAFE_INTEGER),
    ),
  );
  fc.assert(fc.property(decimals, (value) => Object.is(decimalToNumber(value), Number(decimalText(value)))));
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }),
      (value) => decimalToNumber(decimalFromNumber(value)!) === value,
    ),
  );
  for (const text of ['', '-', '.', '1.2.3', '1e5', '0x1', ' 1', '1 ', '+-1', '١'])
    t.equal(parseDecimal(text), null, text);
  t.equal(decimalText(parseDecimal('-0.00')!), '0.00', 'zero has no sign');
  t.equal(decimalText(parseDecimal('+1.5e-3', true)!), '0.0015');
  t.equal(parseDecimal('9'.repeat(DECIMAL_DIGITS_MAX + 1)), null);
});
