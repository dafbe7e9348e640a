// window, and top by groups: every function against its definition over whole groups. The results are the same for all batch
// sizes and with rows in files.
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'tap';
import { top } from '../../../workers/operations/top.ts';
import { window } from '../../../workers/operations/window.ts';
import { fc, noise } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 700, arenaBytes: 4096, sparse: true },
  { batchRows: 1000, budgetBytes: 300_000 },
  { batchRows: 333, budgetBytes: 100_000, arenaBytes: 65_536, sparse: true },
];

const FUNCTIONS = [
  ...['row_number', 'rank', 'dense_rank', 'group_size'].map((fn) => ({ fn })),
  ...['running_sum', 'running_count', 'previous', 'next', 'first', 'last', 'difference', 'percent_of_total'].map(
    (fn) => ({
      fn,
      column: 'x',
    }),
  ),
  { fn: 'moving_average', column: 'x', rows: 3 },
  ...['partition', 'up_to_here'].flatMap((frame) =>
    ['sum', 'min', 'max', 'count'].map((fn) => ({ fn, column: 'x', frame, as: `${fn}_${frame}` })),
  ),
  { fn: 'count', where: 'o == "o1" || o == "2"', as: 'chosen' },
  { fn: 'sum', column: 'x', where: 'x > 0', as: 'above', frame: 'up_to_here' },
  { fn: 'previous', column: 'x', offset: 3, as: 'third_before' },
  { fn: 'next', column: 'x', offset: 2, as: 'second_behind' },
];

/** Results of the functions for one row of a group of numbers, by definition. `tie`: the rows are equal in the order. */
function expectedCells(xs: readonly (number | null)[], orders: readonly Cell[], at: number): Cell[] {
  const sum = (some: readonly (number | null)[]): number | null =>
    some.some((x) => x !== null) ? some.reduce<number>((all, x) => all + (x ?? 0), 0) : null;
  const before = at === 0 ? null : xs[at - 1]!;
  const total = sum(xs);
  const x = xs[at]!;
  const rank = orders.indexOf(orders[at]!) + 1;
  const near = xs.slice(Math.max(0, at - 2), at + 1).filter((one) => one !== null);
  const numbers: (number | null)[] = [
    at + 1,
    rank,
    new Set(orders.slice(0, rank)).size,
    xs.length,
    sum(xs.slice(0, at + 1)),
    xs.slice(0, at + 1).filter((one) => one !== null).length,
    before,
    xs[at + 1] ?? null,
    xs[0]!,
    xs.at(-1)!,
    x === null || before === null ? null : x - before,
    x === null || !total ? null : (x * 100) / total,
    near.length === 0 ? null : sum(near)! / near.length,
    ...[xs, xs.slice(0, at + 1)].flatMap((frame) => {
      const there = frame.filter((one) => one !== null);
      const ends = there.length === 0 ? [null, null] : [Math.min(...there), Math.max(...there)];
      return [sum(frame), ...ends, there.length];
    }),
    orders.filter((order) => order === 'o1' || order === '2').length,
    sum(xs.slice(0, at + 1).filter((one) => one !== null && one > 0)),
    xs[at - 3] ?? null,
    xs[at + 2] ?? null,
  ];
  return numbers.map((n) => (n === null ? null : String(n)));
}

/** Rows are [group, order, x]. x is a multiple of 12, so that averages of up to three values have finitely many digits. */
function expected(rows: readonly Cell[][], isGrouped: boolean, isOrdered: boolean): Cell[][] {
  const groups = new Map<string, number[]>();
  for (const [index, row] of rows.entries()) {
    const key = isGrouped ? JSON.stringify(row[0]) : '';
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  const made: Cell[][] = [];
  for (const members of groups.values()) {
    const place = (index: number): string => rows[index]![1] ?? '\u{10ffff}';
    const sorted = isOrdered
      ? members.toSorted((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : a - b))
      : members;
    const xs = sorted.map((index) => (rows[index]![2] === null ? null : Number(rows[index]![2])));
    const orders = sorted.map((index) => rows[index]![1]!);
    for (const [at, index] of sorted.entries()) made[index] = [...rows[index]!, ...expectedCells(xs, orders, at)];
  }
  return made;
}

/** Rounds percentages, which are doubles: the test does not depend on their last digits. */
function rounded(rows: readonly (readonly Cell[])[]): string {
  return JSON.stringify(
    rows.map((row) => row.map((cell, at) => (at === 14 && cell !== null ? Number(cell).toFixed(6) : cell))),
  );
}

function rowsOf(count: number, groups: number): Cell[][] {
  const next = noise(count);
  return Array.from({ length: count }, () => {
    const group = next(groups);
    return [
      group === 0 ? null : `g${group}`,
      next(9) === 0 ? null : `o${next(40)}`,
      next(5) === 0 ? null : `${next(50) * 12}`,
    ];
  });
}

const COLUMNS = ['g', 'o', 'x'];
const TYPES = ['text', 'text', 'integer'] as const;

test('all functions, by group and order, spilling or not', { skip: skipUnlessLong }, async (t) => {
  const rows = rowsOf(4000, 300);
  const input = { columns: COLUMNS, types: TYPES, rows };
  const operation = { op: 'window', partition_by: ['g'], order_by: 'o', columns: FUNCTIONS };
  const answer = rounded(expected(rows, true, true));
  for (const way of WAYS) {
    const made = runOperation(window, operation, input, way);
    t.same(made.problems, []);
    t.ok(rounded(made.rows) === answer, JSON.stringify(way));
    t.equal(made.spilled, way.budgetBytes !== undefined);
    t.same(made.sources.slice(0, 3), [1, 2, 3]);
  }
  const free = FUNCTIONS.filter(({ fn }) => !fn.includes('rank'));
  const whole = expected(rows, false, false).map((row) => row.filter((_, at) => at !== 4 && at !== 5));
  for (const way of WAYS) {
    const made = runOperation(window, { op: 'window', columns: free }, input, way);
    const [a, b] = [made.rows, whole].map((some) =>
      JSON.stringify(some.map((row) => row.filter((_, at) => at !== 12))),
    );
    t.ok(a === b, `without groups ${JSON.stringify(way)}`);
  }
});

test('groups larger than a sorted batch, between small ones, spilling or not', (t) => {
  const columns = [{ fn: 'row_number' }, { fn: 'group_size' }, ...['next', 'last'].map((fn) => ({ fn, column: 'x' }))];
  const groups = new Map<string, number[]>();
  const rows = Array.from({ length: 7500 }, (_, row): Cell[] => {
    const small = `${'ant'[(row % 9) % 3]}${String(Math.floor(row / 20)).padStart(4, '0')}`;
    const group = [small, 'hhhhh', 'zzzzz'][row % 3]!;
    groups.set(group, [...(groups.get(group) ?? []), row]);
    return [group, 'o', row % 7 === 0 ? null : String(row)];
  });
  const answer: Cell[][] = [];
  for (const members of groups.values()) {
    const x = (at: number): Cell => rows[members[at]!]![2]!;
    for (const [at, row] of members.entries()) {
      const next = at + 1 < members.length ? x(at + 1) : null;
      answer[row] = [...rows[row]!, String(at + 1), String(members.length), next, x(members.length - 1)];
    }
  }
  for (const way of WAYS) {
    const operation = { op: 'window', partition_by: 'g', order_by: 'o', columns };
    const made = runOperation(window, operation, { columns: COLUMNS, types: TYPES, rows }, way);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(answer), JSON.stringify(way));
  }
  t.end();
});

/** Some texts are too large for one memory block, or all texts together take megabytes. */
for (const [kind, lengthOf] of [
  ['some long', (row: number) => (row % 500 < 60 ? 16_000 : 0)],
  ['all of medium length', () => 300],
] as const) {
  test(`texts of other rows, ${kind}, whatever memory is left for them`, (t) => {
    const functions = ['previous', 'next', 'first', 'last'];
    const columns = [...functions.map((fn) => ({ fn, column: 'x' })), { fn: 'row_number' }];
    const groups = new Map<string, number[]>();
    const rows = Array.from({ length: 3000 }, (_, row): Cell[] => {
      const group = `g${row % 700}`;
      groups.set(group, [...(groups.get(group) ?? []), row]);
      const text = `é${row}${'x'.repeat(lengthOf(row))}`;
      return [group, 'o', row % 7 === 0 ? null : row % 11 === 0 ? '' : text];
    });
    const answer: Cell[][] = [];
    for (const members of groups.values()) {
      const x = (at: number): Cell => rows[members[at] ?? -1]?.[2] ?? null;
      for (const [at, row] of members.entries()) {
        answer[row] = [...rows[row]!, x(at - 1), x(at + 1), x(0), x(members.length - 1), String(at + 1)];
      }
    }
    const budgets = [0.3, 1, 2, 3, 4, 5, 6, 9].map((megabytes) => ({ budgetBytes: megabytes * 1e6 }));
    for (const way of [...WAYS, ...budgets]) {
      const operation = { op: 'window', partition_by: 'g', order_by: 'o', columns };
      const input = { columns: COLUMNS, types: ['text', 'text', 'text'] as const, rows };
      const made = runOperation(window, operation, input, way);
      t.ok(JSON.stringify(made.rows) === JSON.stringify(answer), JSON.stringify(way));
    }
    t.end();
  });
}

test('any small table', async () => {
  const cell = (...texts: string[]) => fc.option(fc.constantFrom(...texts), { nil: null });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell('a', 'b'), cell('1', '2', '3'), cell('0', '12', '-24')), { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      (rows, isGrouped, batchRows) => {
        const operation = {
          op: 'window',
          ...(isGrouped ? { partition_by: 'g' } : {}),
          order_by: 'o',
          columns: FUNCTIONS,
        };
        const input = { columns: COLUMNS, types: TYPES, rows };
        const made = runOperation(window, operation, input, { batchRows, sparse: true });
        return (
          rounded(made.rows) ===
          rounded(
            expected(
              rows.map((row) => [...row]),
              isGrouped,
              true,
            ),
          )
        );
      },
    ),
    { numRuns: sweep({ short: 10, long: 100 }) },
  );
});

test('the answers of Miller', async (t) => {
  if (spawnSync('mlr', ['--version']).status !== 0) return t.comment('mlr is not installed');
  const rows = rowsOf(500, 9).map(([g, _, x], n) => `${g ?? 'none'},${n},${x ?? '7'}`);
  const input = `g,n,x\n${rows.join('\n')}\n`;
  // Miller emits a row late if its result depends on later rows.
  const steps = 'step -a shift,shift_lead,rsum,counter -f x -g g then sort -nf n'.split(' ');
  const miller = execFileSync('mlr', ['--csv', ...steps], { input, encoding: 'utf8' });
  const columns = [
    { fn: 'previous', as: 'x_shift' },
    { fn: 'next', as: 'x_shift_lead' },
    { fn: 'running_sum', as: 'x_rsum' },
    { fn: 'running_count', as: 'x_counter' },
  ].map((one) => ({ ...one, column: 'x' }));
  const operations = [
    { op: 'cast', columns: { x: 'integer' } },
    { op: 'window', partition_by: 'g', columns },
  ];
  for (const batchRows of [1, 100, 4096]) {
    const { text } = await applyTemplate({ operations }, input, batchRows);
    t.ok(text === miller, `batches of ${batchRows}`);
  }
});

test('exact and typed', async (t) => {
  const input = 'day,amount\n2026-01-02,0.10\n2026-01-01,0.20\n';
  const operations = [
    { op: 'parse_number', columns: ['amount'] },
    { op: 'window', order_by: 'day', columns: [{ fn: 'running_sum', column: 'amount', as: 'sum' }] },
    { op: 'set', columns: { twice: 'sum + sum' } },
  ];
  const { text } = await applyTemplate({ operations }, input);
  t.equal(text, 'day,amount,sum,twice\n2026-01-02,0.10,0.30,0.60\n2026-01-01,0.20,0.20,0.40\n');
  const refused = (columns: object[]) => applyTemplate({ operations: [{ op: 'window', columns }] }, input);
  await t.rejects(refused([{ fn: 'rank' }]), /"rank" needs order_by/);
  await t.rejects(refused([{ fn: 'running_sum', column: 'day' }]), /takes numbers, and the column is text/);
  await t.rejects(refused([{ fn: 'next' }]), /"next" needs a column/);
  await t.rejects(refused([{ fn: 'group_size', column: 'day' }]), /takes no column/);
  await t.rejects(refused([{ fn: 'next', column: 'day', rows: 2 }]), /BAD_WINDOW/);
});

test('top of groups: the first rows of each by the order, in that order, spilling or not', async (t) => {
  const rows = rowsOf(6000, 2000).map(([g, o, x], n) => [g!, o!, x!, `${n}`]);
  const input = { columns: ['g', 'o', 'x', 'n'], types: ['text', 'text', 'integer', 'text'] as const, rows };
  const operation = { op: 'top', n: 2, by: [{ column: 'x', order: 'desc' }, 'o'], group_by: ['g'] };
  const text = (cell: Cell): string => cell ?? '\u{10ffff}';
  const sorted = rows.toSorted((a, b) => {
    const byNumber = Number(b[2] ?? -1) - Number(a[2] ?? -1);
    return byNumber || (text(a[1]!) < text(b[1]!) ? -1 : text(a[1]!) > text(b[1]!) ? 1 : Number(a[3]) - Number(b[3]));
  });
  const seen = new Map<Cell, number>();
  const answer = sorted.filter((row) => {
    const count = (seen.get(row[0]!) ?? 0) + 1;
    seen.set(row[0]!, count);
    return count <= 2;
  });
  for (const way of WAYS) {
    const made = runOperation(top, operation, input, way);
    t.equal(made.rows.length, answer.length);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(answer), JSON.stringify(way));
    t.equal(made.spilled, way.budgetBytes !== undefined);
  }
});
