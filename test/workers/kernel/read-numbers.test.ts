// Numbers parsed by the kernel against its scalar reference implementation: the same value or the same error for any text,
// spelling and rounding.

import { test } from 'tap';
import { cast } from '../../../workers/operations/cast.ts';
import { parseNumber } from '../../../workers/operations/parse-number.ts';
import { decimalText, decimalToNumber, parseDecimal, roundDecimal } from '../../../workers/values/decimal.ts';
import { parseNumberText } from '../../../workers/values/number-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from '../operations/harness.ts';

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 17 });
const sign = fc.constantFrom('', '', '-', '+', '−', '(');
const text = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(..."0123456789.,-'_ e%€"), minLength: 1, maxLength: 22 }),
    fc
      .tuple(sign, digits, fc.constantFrom('', '.', ','), digits, fc.constantFrom('', '', '-', ' €', '%'))
      .map((parts) => parts.join('')),
    fc
      .tuple(
        sign,
        fc.array(fc.stringMatching(/^[0-9]{2,4}$/), { maxLength: 4 }),
        fc.constantFrom('.', ',', ' '),
        fc.constantFrom('', '.5', ',50'),
      )
      .map(([first, groups, mark, rest]) => first + groups.join(mark) + rest),
  )
  .filter((made) => made !== '');
const cells = fc.array(fc.option(text, { nil: null, freq: 9 }), { minLength: 1, maxLength: 40 });

const given = fc.record(
  {
    decimal: fc.constantFrom('.', ',', 'x'),
    grouping: fc.constantFrom('', "'", ' ', '_'),
    negative: fc.constantFrom(['-x'], ['x-'], ['-x', 'x-', '(x)']),
    strip: fc.constantFrom(['€'], ['-'], ['1'], ['€', ' ']),
    percent: fc.boolean(),
    exponent: fc.boolean(),
    type: fc.constantFrom('decimal' as const, 'integer' as const, 'number' as const),
    scale: fc.constantFrom(0, 1, 2, 5, 15, 18, 40),
    rounding: fc.constantFrom('half_even' as const, 'half_up' as const, 'down' as const, 'error' as const),
  },
  { requiredKeys: [] },
);

test('parse_number reads like its scalar reference', (t) => {
  fc.assert(
    fc.property(given, cells, fc.boolean(), (parameters, texts, sparse) => {
      const { type = 'decimal', scale, rounding = 'error' } = parameters;
      const most = type === 'integer' ? 0 : scale;
      const expected = texts.map((cell) => {
        const parsed = cell === null ? null : parseNumberText(cell, parameters);
        const value = parsed === null || most === undefined ? parsed : roundDecimal(parsed, most, rounding);
        if (value === null) return null;
        if (type === 'integer' && BigInt.asIntN(64, BigInt(value.digits)) !== BigInt(value.digits)) return null;
        if (type !== 'number') return decimalText(value);
        const number = decimalToNumber(value);
        return Number.isFinite(number) ? String(number) : null;
      });
      const input = { columns: ['a'], rows: texts.map((cell) => [cell]) };
      const made = runOperation(parseNumber, { op: 'parse_number', columns: 'a', ...parameters }, input, { sparse });
      const filled = expected.filter((cell) => cell !== null).length;
      return (
        JSON.stringify(made.rows.map(([cell]) => cell)) === JSON.stringify(expected) &&
        Object.values(made.errors).reduce((sum, entry) => sum + entry.count, 0) ===
          texts.filter((cell) => cell !== null).length - filled
      );
    }),
    { numRuns: sweep({ short: 38, long: 600 }) },
  );
  t.pass();
  t.end();
});

test('cast reads plain numbers like its scalar reference', (t) => {
  fc.assert(
    fc.property(cells, (texts) => {
      const rows = texts.map((cell) => [cell, cell, cell]);
      const columns = { d: 'decimal', i: 'integer', n: 'number' };
      const made = runOperation(cast, { op: 'cast', columns }, { columns: ['d', 'i', 'n'], rows });
      const expected = texts.map((cell) => {
        const value = cell === null ? null : parseDecimal(cell);
        const whole = value === null ? null : roundDecimal(value, 0, 'error');
        const fits = whole !== null && BigInt.asIntN(64, BigInt(whole.digits)) === BigInt(whole.digits);
        const isNumber = cell !== null && /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?$/.test(cell);
        const number = isNumber && Number.isFinite(Number(cell)) ? Number(cell) : null;
        return [value && decimalText(value), fits ? decimalText(whole) : null, number];
      });
      return made.rows.every(([decimal, integer, number], at) => {
        const [d, i, n] = expected[at]!;
        return decimal === d && integer === i && (number === null ? null : Number(number)) === n;
      });
    }),
    { numRuns: sweep({ short: 25, long: 400 }) },
  );
  t.pass();
  t.end();
});
