// Operations with keyed state: the same rows with and without spilling, for all batch sizes.

import { test } from 'tap';
import { dedupe } from '../../../workers/operations/dedupe.ts';
import { top } from '../../../workers/operations/top.ts';
import { fc, noise } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import type { Cell, Rows } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 999, budgetBytes: 150_000, arenaBytes: 65_536 },
];

function rowsOf(count: number, keys: number, stream: number): Cell[][] {
  const next = noise(stream);
  return Array.from({ length: count }, (_, row) => {
    const key = next(keys);
    const text = key === 0 ? null : key === 1 ? '' : `key ${'ä'.repeat(key % 5)}${key}`;
    return [String(row), text, next(10) === 0 ? null : 'x'.repeat(next(40))];
  });
}

function firstOfEach(rows: Rows, key: (row: readonly Cell[]) => string): Cell[][] {
  const seen = new Set<string>();
  return rows.filter((row) => !seen.has(key(row)) && seen.add(key(row))).map((row) => [...row]);
}

test('dedupe keeps the first of each key in order, spilling or not', async (t) => {
  for (const [count, keys] of [
    [3000, 50],
    [12_000, 1_000_000],
  ] as const) {
    const rows = rowsOf(count, keys, count);
    const expected = firstOfEach(rows, (row) => JSON.stringify(row[1]));
    for (const way of WAYS) {
      const input = { columns: ['n', 'k', 'x'], rows };
      const made = runOperation(dedupe, { op: 'dedupe', by: ['k'] }, input, way);
      t.equal(made.rows.length, expected.length, `${keys} keys ${JSON.stringify(way)}`);
      t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), 'the same rows');
      t.equal(made.spilled, keys > 50 && way.budgetBytes !== undefined, 'spills when it must');
      t.same(
        made.sources,
        expected.map((row) => Number(row[0]) + 1),
        'with their source rows',
      );
    }
  }
});

test('dedupe by several columns, with nulls that are distinct, spilling or not', async (t) => {
  const rows = rowsOf(8000, 200, 7);
  const expected = firstOfEach(rows, ([n, k, x]) => JSON.stringify(k === null || x === null ? n : [k, x]));
  for (const way of WAYS) {
    const made = runOperation(
      dedupe,
      { op: 'dedupe', by: ['k', 'x'], nulls: 'distinct' },
      { columns: ['n', 'k', 'x'], rows },
      way,
    );
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), JSON.stringify(way));
  }
});

test('large rows and keys pass through spill files', async (t) => {
  const big = (n: number): string => `${n}-`.repeat(60_000);
  const rows = Array.from({ length: 60 }, (_, n) => [String(n), big(n % 20), big(n)]);
  const expected = rows.slice(0, 20);
  const made = runOperation(
    dedupe,
    { op: 'dedupe', by: 'k' },
    { columns: ['n', 'k', 'x'], rows },
    { batchRows: 7, budgetBytes: 100_000 },
  );
  t.ok(JSON.stringify(made.rows) === JSON.stringify(expected));
});

test('dedupe of any small table', async () => {
  const cell = fc.option(fc.constantFrom('', 'a', 'A', ' a', 'ß', 'SS', 'é', 'e\u0301'), { nil: null });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (rows, batchRows) => {
        const made = runOperation(dedupe, { op: 'dedupe' }, { columns: ['a', 'b'], rows }, { batchRows, sparse: true });
        const expected = firstOfEach(rows, (row) => JSON.stringify(row));
        return JSON.stringify(made.rows) === JSON.stringify(expected);
      },
    ),
    { numRuns: 60 },
  );
});

test('dedupe keeps the last, or only rows that are alone, spilling or not', { skip: skipUnlessLong }, async (t) => {
  const rows = rowsOf(6000, 3000, 11);
  const byKey = new Map<string, Cell[][]>();
  for (const row of rows) byKey.set(JSON.stringify(row[1]), [...(byKey.get(JSON.stringify(row[1])) ?? []), row]);
  const inOrder = (some: readonly (readonly Cell[])[]) => some.toSorted((a, b) => Number(a[0]) - Number(b[0]));
  const last = inOrder([...byKey.values()].map((group) => group[group.length - 1]!));
  const alone = inOrder([...byKey.values()].filter((group) => group.length === 1).map((group) => group[0]!));
  const counted = last.map((row) => [...row, String(byKey.get(JSON.stringify(row[1]))!.length)]);
  const input = { columns: ['n', 'k', 'x'], rows };
  for (const way of WAYS) {
    const by = { op: 'dedupe', by: ['k'] };
    const kept = runOperation(dedupe, { ...by, keep: 'last', count_into: 'rows' }, input, way);
    t.ok(JSON.stringify(kept.rows) === JSON.stringify(counted), `last ${JSON.stringify(way)}`);
    t.same(
      kept.sources,
      last.map((row) => Number(row[0]) + 1),
    );
    const uncounted = runOperation(dedupe, { ...by, keep: 'last' }, input, way);
    t.ok(JSON.stringify(uncounted.rows) === JSON.stringify(last), `last, uncounted ${JSON.stringify(way)}`);
    t.same(uncounted.sources, kept.sources);
    const none = runOperation(dedupe, { ...by, keep: 'none' }, input, way);
    t.ok(JSON.stringify(none.rows) === JSON.stringify(alone), `none ${JSON.stringify(way)}`);
  }
});

test('typed keys are equal where their values are', async (t) => {
  const zeros = '0'.repeat(30);
  const decimal = fc.oneof(
    fc.constantFrom('0', '0.00', '1', '1.0', `1.${zeros}`, `100${zeros}`, `100${zeros}.0`, '100', '-2.50', '-2.5'),
    fc
      .tuple(fc.integer({ min: -30, max: 30 }), fc.constantFrom('', '.0', '.00', '.5', '.50'))
      .map((parts) => parts.join('')),
    fc.constantFrom(
      '9223372036854775807',
      '9223372036854775808',
      '-9223372036854775808.0',
      `0.${zeros}${'0'.repeat(230)}1`,
    ),
  );
  const number = fc.constantFrom('0', '-0', '1', '1.5', '-1.5', '1e300');
  const date = fc.constantFrom('2026-01-31', '1969-12-31', '2026-02-01');
  const row = fc.tuple(
    ...[decimal, number, date, fc.constantFrom('true', 'false')].map((cell) => fc.option(cell, { nil: null })),
  );
  const types = ['decimal', 'number', 'date', 'boolean'] as const;
  const columns = ['d', 'n', 'day', 'b'];
  const value = (cell: Cell): string => {
    if (cell === null) return 'null';
    const plain = cell.includes('.') ? cell.replace(/\.?0+$/, '') : cell;
    return plain === '-0' ? '0' : plain;
  };
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.subarray(columns, { minLength: 1 }), (rows, by) => {
      const places = by.map((name) => columns.indexOf(name));
      const expected = firstOfEach(rows, (cells) => JSON.stringify(places.map((place) => value(cells[place]!))));
      const made = runOperation(
        dedupe,
        { op: 'dedupe', by },
        { columns, types, rows },
        { batchRows: 7, arenaBytes: 4096 },
      );
      return (
        JSON.stringify(made.sources) ===
        JSON.stringify(expected.map((cells) => rows.findIndex((at) => sameCells(at, cells)) + 1))
      );
    }),
    { numRuns: sweep({ short: 19, long: 300 }) },
  );
  t.pass();
});

function sameCells(a: readonly Cell[], b: readonly Cell[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

test('keys of several columns differ wherever a column does, at lengths that are written in one byte and in five', async (t) => {
  const lengths = [0, 1, 252, 253, 254, 255, 256, 70_000];
  const texts = [null, ...lengths.flatMap((length) => ['x'.repeat(length), `${'x'.repeat(Math.max(0, length - 1))}y`])];
  const pairs = texts.flatMap((a) => [...texts.slice(0, 8), a].map((b) => [a, b]));
  const rows = [...pairs, ...[...pairs].reverse()];
  const made = runOperation(dedupe, { op: 'dedupe' }, { columns: ['a', 'b'], rows });
  const lengthsOf = (list: Rows): string[] =>
    list.map((row) => row.map((cell) => `${cell?.length}${cell?.at(-1)}`).join());
  t.same(lengthsOf(made.rows), [...new Set(lengthsOf(pairs))]);
});

test('groups of long keys are kept apart', async (t) => {
  const groups = [null, 'DE', 'x'.repeat(253), 'x'.repeat(254), `${'x'.repeat(299)}y`, 'x'.repeat(300)];
  const rows = [...groups, ...groups].map((group, index) => [group, String(index)]);
  const operation = { op: 'top', by: 'n', n: 1, group_by: ['g'] };
  t.same(runOperation(top, operation, { columns: ['g', 'n'], rows }).rows.length, groups.length);
});
