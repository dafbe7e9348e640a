// The operation lookup_range finds the same range as a search through all ranges, for all batch sizes, in memory and with files.

import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { lookupRange } from '../../../workers/operations/lookup-range.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1 },
  { batchRows: 1000, arenaBytes: 512 },
  { batchRows: 7, sparse: true, budgetBytes: 0 },
];

const OPERATION = { op: 'lookup_range', table: 't', value: 'n', from: 'low', to: 'high' };

interface Range {
  readonly low: number | null;
  readonly high: number | null;
}

/** Ranges that do not overlap, from pairs of points. The first and last range are open if requested. */
function rangesOf(points: readonly number[], openBelow: boolean, openAbove: boolean): Range[] {
  const sorted = [...points].sort((a, b) => a - b);
  const ranges: Range[] = [];
  for (let at = 0; at + 1 < sorted.length; at += 2) ranges.push({ low: sorted[at]!, high: sorted[at + 1]! });
  if (openBelow && ranges.length > 0) ranges[0] = { ...ranges[0]!, low: null };
  if (openAbove && ranges.length > 0) ranges.push({ ...ranges.pop()!, high: null });
  return ranges;
}

/** Points at which one range ends and the next one begins. */
function eachTwice(points: readonly number[]): number[] {
  return [...points]
    .sort((a, b) => a - b)
    .flatMap((point) => [point, point])
    .slice(1);
}

/** Numbers as texts of one width, which sort equally as texts and as numbers. */
const written = (n: number): string => String(n + 2_000_000);

type Inclusive = 'both' | 'from' | 'to' | 'neither';

function runOn(
  type: ColumnType,
  ranges: readonly Range[],
  values: readonly (number | null)[],
  way: RunOptions,
  inclusive: Inclusive = 'both',
) {
  const cell = (n: number | null): string => (n === null ? '' : written(n));
  const table = ['low,high,no', ...ranges.map(({ low, high }, no) => `${cell(low)},${cell(high)},${no}`)].join('\n');
  const rows = values.map((n): Cell[] => [n === null ? null : written(n)]);
  return runOperation(
    lookupRange,
    { ...OPERATION, inclusive },
    { columns: ['n'], types: [type], rows },
    { ...way, tables: { t: table } },
  );
}

test('lookup_range finds the same range as a search through all ranges', async (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 300 }), { maxLength: 60 }),
      fc.array(fc.option(fc.integer({ min: -5, max: 305 })), { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      fc.boolean(),
      fc.integer(),
      fc.constantFrom<ColumnType>('text', 'integer', 'decimal', 'number'),
      fc.constantFrom(...WAYS),
      fc.constantFrom<Inclusive>('both', 'from', 'to', 'neither'),
      (points, values, openBelow, openAbove, seed, type, way, inclusive) => {
        const ranges = rangesOf(inclusive === 'both' ? points : eachTwice(points), openBelow, openAbove);
        const [hasFrom, hasTo] = [['both', 'from'].includes(inclusive), ['both', 'to'].includes(inclusive)];
        ranges.sort((a, b) => (((a.high ?? 7) * seed) % 101) - (((b.high ?? 7) * seed) % 101));
        if (ranges.length === 0) return;
        const { rows } = runOn(type, ranges, values, way, inclusive);
        const expected = values.map((n) => {
          const no = ranges.findIndex(
            ({ low, high }) =>
              n !== null &&
              (low === null || n > low || (hasFrom && n === low)) &&
              (high === null || n < high || (hasTo && n === high)),
          );
          return [n === null ? null : written(n), no < 0 ? null : String(no)];
        });
        if (JSON.stringify(rows) !== JSON.stringify(expected)) {
          throw new Error(`${JSON.stringify(rows)} is not ${JSON.stringify(expected)}`);
        }
      },
    ),
    { numRuns: sweep({ short: 15, long: 1000 }) },
  );
  t.pass();
});

test('a table beyond the budget goes to a file, and finds the same', async (t) => {
  const ranges = Array.from({ length: 30_000 }, (_, n): Range => {
    const no = (n * 7919) % 30_000;
    return { low: no * 10, high: no * 10 + 7 };
  });
  const values = Array.from({ length: 5000 }, (_, n) => (n * 104_729) % 300_100);
  const place = new Map(ranges.map(({ low }, no) => [low, String(no)]));
  const expected = values.map((n) => (n % 10 > 7 ? null : (place.get(n - (n % 10)) ?? null)));
  for (const budgetBytes of [undefined, 100_000, 0]) {
    const way: RunOptions = budgetBytes === undefined ? { batchRows: 1000 } : { batchRows: 1000, budgetBytes };
    const made = runOn('integer', ranges, values, way);
    t.ok(JSON.stringify(made.rows.map(([, no]) => no)) === JSON.stringify(expected), `budget ${budgetBytes}`);
    t.equal(made.spilled, budgetBytes !== undefined);
  }
});

test('ranges that touch are refused wherever they are in a large table', async (t) => {
  const ranges = Array.from({ length: 9000 }, (_, n): Range => ({ low: n * 10, high: n * 10 + (n === 8191 ? 10 : 9) }));
  for (const way of [{}, { budgetBytes: 0 }]) {
    t.throws(
      () => runOn('decimal', ranges, [1], way),
      /^Rows 8192 and 8193 of the ranges of the reference table "t" overlap/,
    );
  }
});
