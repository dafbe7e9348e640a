// Columns of window that are totals of whole groups: they are computed with a hash of the group, and have the same bytes as with
// sorting, which another column that depends on the order requires.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { window } from '../../../workers/operations/window.ts';
import { fc, noise } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation, type Table } from './harness.ts';

const COLUMNS = ['g', 'h', 'i', 'd', 'n', 'day', 't', 'b'];
const TYPES = ['text', 'decimal', 'integer', 'decimal', 'number', 'date', 'text', 'boolean'] as const;

const TOTALS = [
  { fn: 'group_size' },
  { fn: 'count' },
  { fn: 'count', where: 'i > 0', as: 'positive' },
  ...['i', 'd', 'n'].flatMap((column) => ['sum', 'mean', 'percent_of_total'].map((fn) => ({ fn, column }))),
  ...['i', 'd', 'n', 'day', 't', 'b'].flatMap((column) => ['min', 'max', 'count'].map((fn) => ({ fn, column }))),
  { fn: 'sum', column: 'd', where: 't != "x"', as: 'chosen' },
  { fn: 'max', column: 't', where: 'i > 0', as: 'chosen_text' },
];

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 1_500_000 },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 333, budgetBytes: 100_000, arenaBytes: 65_536, sparse: true },
];

/** The output, or the failure of the Run. */
function outcome(columns: readonly object[], groups: readonly string[], input: Table, way: RunOptions): string {
  const operation = { op: 'window', ...(groups.length === 0 ? {} : { partition_by: groups }), columns };
  try {
    const made = runOperation(window, operation, input, way);
    const rows = made.rows.map((row) => row.slice(0, input.columns.length + TOTALS.length));
    return JSON.stringify([made.problems, rows, made.sources]);
  } catch (error) {
    return String((error as Error).message);
  }
}

function hashed(groups: readonly string[], rows: readonly Cell[][], way: RunOptions): string {
  return outcome(TOTALS, groups, { columns: COLUMNS, types: TYPES, rows }, way);
}

function sorted(groups: readonly string[], rows: readonly Cell[][]): string {
  const columns = [...TOTALS, { fn: 'row_number' }];
  return outcome(columns, groups, { columns: COLUMNS, types: TYPES, rows }, { batchRows: 1000 });
}

function rowsOf(count: number, groups: number): Cell[][] {
  const next = noise(count + groups);
  return Array.from({ length: count }, () => {
    const group = next(groups);
    const cell = (value: string): Cell => (next(7) === 0 ? null : value);
    return [
      group === 0 ? null : `g${group}`,
      cell(['1', '1.0', '2.50'][next(3)]!),
      cell(String(next(200) - 100)),
      cell(`${next(1000) - 500}.${'0'.repeat(next(3))}${next(10)}`),
      cell(String(next(1000) / 8)),
      cell(`2026-01-${String(1 + next(28)).padStart(2, '0')}`),
      cell('x'.repeat(next(30)) + next(100)),
      cell(next(2) === 0 ? 'true' : 'false'),
    ];
  });
}

test('by hash as by sorting, spilling or not', { skip: skipUnlessLong }, async (t) => {
  for (const [count, groups] of [
    [2000, 20],
    [4000, 100_000],
  ] as const) {
    const rows = rowsOf(count, groups);
    for (const key of [[], ['g'], ['h', 'g']]) {
      const answer = sorted(key, rows);
      t.ok(answer.startsWith('[[],[['), 'rows come out');
      for (const way of WAYS) {
        t.ok(hashed(key, rows, way) === answer, `${groups} groups by ${key.join(' ')} ${JSON.stringify(way)}`);
      }
    }
  }
});

test('any small table, with numbers at the ends of their types', async () => {
  const option = (...texts: string[]) => fc.option(fc.constantFrom(...texts), { nil: null });
  const large = '99999999999999999999999999999999999999';
  const row = fc.tuple(
    option('', 'a', 'b'),
    option('1', '1.0', '-0', '0'),
    option('0', '1', '-1', '9223372036854775807', '-9223372036854775808'),
    option('0', '0.10', '-0.1', '9223372036854775808', large, `-${large}`, '0.00000000000000000000000000000000001'),
    option('0', '-0', '1e308', '-1e308', '0.1', '1e-300'),
    option('0001-01-01', '9999-12-31', '2026-01-01'),
    option('', 'a', 'ä', '\u{10ffff}', 'x'),
    option('true', 'false'),
  );
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 12 }),
      fc.subarray(['g', 'h']),
      fc.integer({ min: 1, max: 5 }),
      (rows, groups, batchRows) => hashed(groups, rows, { batchRows, sparse: true }) === sorted(groups, rows),
    ),
    { numRuns: sweep({ short: 13, long: 2000 }) },
  );
});

test('more decimals beyond 64 bits than the runtime is to hold', async (t) => {
  const rows = Array.from({ length: 5000 }, (_, n) => [
    `g${n}`,
    null,
    null,
    `1234567890123456789${n}`,
    null,
    null,
    null,
    null,
  ]);
  t.ok(hashed(['g'], rows, { batchRows: 1000 }) === sorted(['g'], rows));
});

test('a total that is too large for a double gives no shares, instead of shares of 0', async (t) => {
  const input = { columns: ['x'], types: ['number'] as const, rows: [['1.7e308'], ['1.7e308']] };
  for (const more of [[], [{ fn: 'row_number' }]]) {
    const columns = [{ fn: 'percent_of_total', column: 'x', as: 'share' }, ...more];
    const run = () => runOperation(window, { op: 'window', columns }, input, { batchRows: 1000 });
    t.throws(run, /OUT_OF_RANGE/, `${columns.length} columns`);
  }
});
