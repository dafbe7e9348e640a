// Decimals rounded and written by kernels, against their scalar reference implementations: the same text, the same error, the
// same changes.

import { test } from 'tap';
import { formatNumber } from '../../../workers/operations/format-number.ts';
import { round } from '../../../workers/operations/round.ts';
import {
  decimalFromNumber,
  decimalText,
  decimalToNumber,
  parseDecimal,
  roundDecimal,
} from '../../../workers/values/decimal.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { runOperation } from '../operations/harness.ts';

const digits = fc.oneof(
  fc.bigInt({ min: -99_999n, max: 99_999n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
);
const decimal = fc.tuple(digits, fc.integer({ min: 0, max: 21 })).map(([unscaled, scale]) => {
  const text = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
});
// Also lists of small decimals only: a list that contains one that the kernel does not support is processed cell by cell.
const short = fc
  .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([unscaled, scale]) => (unscaled / 10 ** scale).toFixed(scale).replace(/^-(0(?:\.0*)?)$/, '$1'));
const cellsOf = (cell: fc.Arbitrary<string>) =>
  fc.array(fc.option(cell, { nil: null, freq: 9 }), { minLength: 1, maxLength: 30 });
const cells = fc.oneof(cellsOf(short), cellsOf(short), cellsOf(decimal));
const rounding = fc.constantFrom('half_even' as const, 'half_up' as const, 'down' as const, 'error' as const);
const scale = fc.constantFrom(0, 1, 2, 5, 18, 19);

const inputOf = (texts: readonly (string | null)[]) => ({
  columns: ['a'],
  types: ['decimal' as const],
  rows: texts.map((text) => [text]),
});

/** The text at a scale; null if the rounding mode refuses the decimal. */
function roundedText(text: string, places: number, mode: 'half_even' | 'half_up' | 'down' | 'error'): string | null {
  const value = roundDecimal(parseDecimal(text, true)!, places, mode);
  return value === null ? null : decimalText(value);
}

test('round rounds decimals like its scalar reference', (t) => {
  fc.assert(
    fc.property(cells, scale, rounding, fc.boolean(), fc.boolean(), (texts, places, mode, sparse, copied) => {
      const operation = { op: 'round', columns: 'a', scale: places, mode, ...(copied ? { into: 'b' } : {}) };
      const made = runOperation(round, operation, inputOf(texts), { sparse });
      const expected = texts.map((text) => (text === null ? null : roundedText(text, places, mode)));
      const before = (at: number): string | null => (copied ? null : texts[at]!);
      const failed = expected.filter((text, at) => text === null && texts[at] !== null).length;
      const blanked = copied ? 0 : failed;
      const changed = expected.filter((text, at) => text !== null && text !== before(at)).length;
      return (
        JSON.stringify(made.rows.map((row) => row.at(-1))) === JSON.stringify(expected) &&
        (made.errors.PRECISION_LOSS?.count ?? 0) === failed &&
        made.report.cells_changed === changed + blanked
      );
    }),
    { numRuns: sweep({ short: 25, long: 800 }) },
  );
  t.pass();
  t.end();
});

const plainDouble = fc
  .tuple(fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.integer({ min: 0, max: 8 }))
  .map(([unscaled, places]) => unscaled / 10 ** places);
const double = fc.oneof(
  { weight: 5, arbitrary: plainDouble },
  fc.tuple(plainDouble, plainDouble).map(([a, b]) => a + b),
  fc.tuple(plainDouble, fc.constantFrom(0.5, 0.05, 0.005, 1e-9, 1e-17)).map(([a, b]) => Math.trunc(a) + b),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    0.1 + 0.2,
    1.005,
    2.675,
    999_999_999_999_999,
    1e15,
    1e21,
    2 ** 53,
    5e-324,
    0.3 * 3,
    123456789012345.6,
  ),
);

test('round rounds doubles like its scalar reference', (t) => {
  fc.assert(
    fc.property(
      cellsOf(double.map(String)),
      scale,
      rounding,
      fc.boolean(),
      fc.boolean(),
      (texts, places, mode, sparse, copied) => {
        const operation = { op: 'round', columns: 'a', scale: places, mode, ...(copied ? { into: 'b' } : {}) };
        const input = { ...inputOf(texts), types: ['number' as const] };
        const made = runOperation(round, operation, input, { sparse });
        const expected = texts.map((text) => {
          const value = text === null ? null : roundDecimal(decimalFromNumber(Number(text))!, places, mode);
          return value === null ? null : decimalToNumber(value);
        });
        const failed = expected.filter((value, at) => value === null && texts[at] !== null).length;
        const blanked = copied ? 0 : failed;
        const changed = expected.filter(
          (value, at) => value !== null && (copied || !Object.is(value, Number(texts[at]))),
        ).length;
        const values = made.rows.map((row) => (row.at(-1) === null ? null : Number(row.at(-1))));
        return (
          values.every((value, at) => Object.is(value, expected[at])) &&
          (made.errors.PRECISION_LOSS?.count ?? 0) === failed &&
          made.report.cells_changed === changed + blanked
        );
      },
    ),
    { numRuns: sweep({ short: 38, long: 1200 }) },
  );
  t.pass();
  t.end();
});

test('format_number writes like its scalar reference', (t) => {
  const given = fc.record(
    {
      decimal: fc.constantFrom('.', ',', '·'),
      grouping: fc.constantFrom('', '.', "'", '\u202f'),
      scale,
      rounding,
      negative: fc.constantFrom('-x' as const, 'x-' as const, '(x)' as const),
      prefix: fc.constantFrom('', '€ ', 'a rather long text in front of it '),
      suffix: fc.constantFrom('', ' €', ' of what there is in all of them'),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(cells, given, fc.boolean(), (texts, parameters, sparse) => {
      const { decimal: mark = '.', grouping = '', negative = '-x', prefix = '', suffix = '' } = parameters;
      const expected = texts.map((text) => {
        const { scale: places } = parameters;
        const plain =
          text === null || places === undefined ? text : roundedText(text, places, parameters.rounding ?? 'half_even');
        if (plain === null) return null;
        const [whole = '', fraction] = plain.replace('-', '').split('.');
        const groups = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, '|').replaceAll('|', grouping);
        const number = prefix + groups + (fraction === undefined ? '' : mark + fraction) + suffix;
        if (!plain.startsWith('-')) return number;
        return { '-x': `-${number}`, 'x-': `${number}-`, '(x)': `(${number})` }[negative];
      });
      const operation = { op: 'format_number', columns: 'a', ...parameters };
      const made = runOperation(formatNumber, operation, inputOf(texts), { sparse, arenaBytes: 4096 });
      const failed = expected.filter((text, at) => text === null && texts[at] !== null).length;
      return (
        JSON.stringify(made.rows.map(([text]) => text)) === JSON.stringify(expected) &&
        (made.errors.PRECISION_LOSS?.count ?? 0) === failed
      );
    }),
    { numRuns: sweep({ short: 25, long: 800 }) },
  );
  t.pass();
  t.end();
});
