// Numbers with signs and units around them have the same value, whether or not these surroundings occurred before.
import { test } from 'tap';
import { Decimal } from '../../../workers/values/decimal.ts';
import { type NumberFormat, parseNumberText } from '../../../workers/values/number-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const around = fc.array(
  fc.constantFrom(
    '',
    ' ',
    '-',
    '+',
    '−',
    '€',
    'EUR',
    '%',
    '(',
    ')',
    'CR',
    'dr',
    'k',
    ' M',
    '\u00a0',
    '.',
    ',',
    'x',
    '.-',
  ),
  { maxLength: 3 },
);
const number = fc.oneof(
  fc.constantFrom('0', '0.00', '12', '1.234', '1,234.50', '1.234,5', '12,34', '.5', '5.', '1e3', '9'.repeat(16), ''),
  fc.string({ unit: fc.constantFrom(...'0123456789.,'), maxLength: 9 }),
);
const text = fc
  .tuple(around, number, around)
  .map(([before, digits, after]) => before.join('') + digits + after.join(''));

const format: fc.Arbitrary<NumberFormat> = fc.record({
  decimal: fc.constantFrom('.', ','),
  grouping: fc.constantFrom('', ' ', "'"),
  negative: fc.subarray(['-x', 'x-', '(x)', 'x CR'] as const),
  strip: fc.subarray(['€', 'EUR', '.-', '1x']),
  percent: fc.boolean(),
  exponent: fc.boolean(),
  groups: fc.constantFrom('thousands' as const, 'indian' as const),
  units: fc.constantFrom(
    [],
    [
      { text: 'k', factor: new Decimal(1000, 0) },
      { text: 'M', factor: new Decimal(5, 1) },
    ],
  ),
});

test('a text has the same value with and without a memory of earlier texts', async (t) => {
  fc.assert(
    fc.property(format, fc.array(text, { minLength: 1, maxLength: 12 }), (plain, texts) => {
      const remembering = { ...plain, seen: new Map() };
      for (const each of [...texts, ...texts]) {
        const [expected, found] = [parseNumberText(each, plain), parseNumberText(each, remembering)];
        const isSame = String(expected) === String(found) && expected?.scale === found?.scale;
        if (!isSame || Object.is(found?.digits, -0)) throw new Error(JSON.stringify({ each, expected, found }));
      }
    }),
    { numRuns: sweep({ short: 500, long: 20_000 }) },
  );
  t.pass('all are the same');
});
