// Aggregation: groups in the order of first appearance, exact sums, the same results with and without spill files.

import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { ExactSum } from '../../../workers/execution/aggregate/sums.ts';
import { aggregate } from '../../../workers/operations/aggregate.ts';
import { Failed } from '../../../workers/protocol/failure.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 77, arenaBytes: 16_384, sparse: true },
  { batchRows: 1000, budgetBytes: 900_000 },
];

test('counts, sums and ends of groups', async (t) => {
  const rows = Array.from({ length: 15_000 }, (_, row) => {
    const group = (row * 7919) % 4001;
    return [
      group === 0 ? null : `group ${group}`,
      row % 13 === 0 ? null : `${(row % 1000) - 500}.${row % 10}5`,
      `t${row}`,
    ];
  });
  const groups = new Map<
    string | null,
    { count: number; cents: bigint; values: number; first: string; last: string }
  >();
  for (const [key, amount, text] of rows) {
    const known = groups.get(key!) ?? { count: 0, cents: 0n, values: 0, first: text!, last: '' };
    groups.set(key!, known);
    known.count++;
    known.last = text!;
    if (amount === null) continue;
    known.values++;
    known.cents += BigInt(amount!.replace('.', ''));
  }
  const expected = [...groups].map(([key, { count, cents, values, first, last }]) => {
    return [key, String(count), values === 0 ? null : decimal(cents), first, last];
  });
  const operation = {
    op: 'aggregate',
    group_by: ['k'],
    metrics: [{ fn: 'count' }, { fn: 'sum', column: 'a' }, { fn: 'first', column: 't' }, { fn: 'last', column: 't' }],
  };
  for (const way of WAYS) {
    const input = { columns: ['k', 'a', 't'], types: ['text', 'decimal', 'text'] as const, rows };
    const made = runOperation(aggregate, operation, input, way);
    t.same(made.problems, []);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), JSON.stringify(way));
    t.equal(made.spilled, way.budgetBytes !== undefined, 'spills when it must');
  }
});

function decimal(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

test('sums of doubles do not depend on the order, and are rounded once', async (t) => {
  const sum = (values: readonly number[]): number => {
    const exact = new ExactSum();
    for (const value of values) exact.add(value);
    return exact.value;
  };
  t.equal(sum([0.1, 0.2, 0.3]), 0.6);
  t.equal(sum([1e100, 1, -1e100]), 1);
  t.equal(sum([1, 1e-16, 1e-16]), 1.0000000000000002);
  const double = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 });
  fc.assert(
    fc.property(fc.array(double, { maxLength: 20 }), (values) => Object.is(sum(values), sum(values.toReversed()))),
  );
  const whole = fc.array(fc.maxSafeInteger(), { maxLength: 50 });
  fc.assert(
    fc.property(whole, (values) => sum(values) === Number(values.reduce((total, value) => total + BigInt(value), 0n))),
  );
});

test('metrics that hold the values of a group, conditions, sorted groups', async (t) => {
  const rows = [
    ['b', '2.0', '1', 'x'],
    ['a', '1.25', '3', 'y'],
    ['b', '2.00', '2', 'z'],
    ['b', null, '10', 'z'],
    ['a', '-4', null, 'x'],
    ['b', '7', '4', 'x'],
    [null, '0.5', '5', null],
  ];
  const operation = {
    op: 'aggregate',
    group_by: 'k',
    order: 'sorted',
    metrics: [
      { fn: 'count_distinct', column: 'd', as: 'different' },
      { fn: 'mode', column: 't', as: 'often' },
      { fn: 'median', column: 'd', as: 'middle' },
      { fn: 'percentile', column: 'i', p: 90, as: 'p90' },
      { fn: 'variance', column: 'd', as: 'spread' },
      { fn: 'stdev', column: 'i', as: 'deviation' },
      { fn: 'count', where: 't == "x" && i > 1', as: 'some' },
      { fn: 'sum', column: 'd', where: 'd > 0.0', as: 'positive' },
    ],
  };
  const input = { columns: ['k', 'd', 'i', 't'], types: ['text', 'decimal', 'integer', 'text'] as const, rows };
  for (const way of [{ batchRows: 1 }, { batchRows: 2, arenaBytes: 1024 }, { batchRows: 1000, sparse: true }]) {
    const made = runOperation(aggregate, operation, input, way);
    t.same(made.problems, []);
    t.same(made.rows, [
      ['a', '2', 'y', '-1.375', '3', '13.78125', null, '0', '1.25'],
      // Sorted: 1 2 4 10. Position 2.7 of the percentile is 4 plus seven tenths of 6. Variance and deviation by hand: 25 / 3, and
      // the root of 48.75 / 3.
      ['b', '2', 'x', '2.00', '8.2', String(25 / 3), String(Math.sqrt(48.75 / 3)), '1', '11.00'],
      [null, '1', null, '0.5', '5', null, null, '0', '0.5'],
    ]);
  }
});

test('variance and median do not lose digits', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 2, maxLength: 30 }), (cents) => {
      const rows = cents.map((value) => [(value / 100).toFixed(2)]);
      const metrics = [
        { fn: 'variance', column: 'd' },
        { fn: 'median', column: 'd' },
      ];
      const input = { columns: ['d'], types: ['decimal'] as const, rows };
      const [made] = runOperation(aggregate, { op: 'aggregate', metrics }, input, { batchRows: 7 }).rows;
      const count = BigInt(cents.length);
      const sum = cents.reduce((all, value) => all + BigInt(value), 0n);
      const squares = cents.reduce((all, value) => all + BigInt(value) ** 2n, 0n);
      const exact = Number(count * squares - sum * sum) / Number(count * (count - 1n) * 10_000n);
      const sorted = cents.toSorted((a, b) => a - b);
      const middle = (sorted[(cents.length - 1) >> 1]! + sorted[cents.length >> 1]!) / 200;
      const near = Math.abs(Number(made![0]) - exact) <= Math.abs(exact) * 1e-14;
      return near && Number(made![1]) === middle;
    }),
    { numRuns: sweep({ short: 10, long: 100 }) },
  );
  t.pass();
});

test('a numeric metric of texts, and a percentile without p', async (t) => {
  const metrics = [
    { fn: 'stdev', column: 'a' },
    { fn: 'percentile', column: 'a' },
  ];
  const made = runOperation(aggregate, { op: 'aggregate', metrics }, { columns: ['a'], rows: [] });
  t.match(made.problems.join('\n'), /\/metrics\/0 WRONG_TYPE .*parse/i);
  t.match(made.problems.join('\n'), /\/metrics\/1 WRONG_PARAMETER .*needs p/);
});

const TYPES = ['text', 'decimal', 'integer', 'number', 'boolean', 'date', 'datetime'] as const;
const FUNCTIONS = {
  text: ['count', 'count_values'],
  decimal: ['sum', 'mean', 'min', 'max', 'first', 'last', 'count_values'],
  integer: ['sum', 'mean', 'min', 'max', 'first', 'last'],
  number: ['sum', 'mean', 'min', 'max', 'first', 'last'],
  boolean: ['any', 'all', 'min', 'first', 'last'],
  date: ['min', 'max', 'first', 'last'],
  datetime: ['min', 'max', 'first', 'last'],
} as const;

const orNull = (cell: fc.Arbitrary<string>) => fc.option(cell, { nil: null, freq: 6 });
const small = fc.tuple(fc.integer({ min: -999, max: 999 }), fc.constantFrom('', '.5', '.50', '.05', '.500'));
const wide = fc.tuple(fc.bigInt(-(2n ** 63n), 2n ** 63n), fc.constantFrom('', '.5', '.000000000000000000000001'));
const decimals = fc.oneof({ weight: 9, arbitrary: small }, wide).map((parts) => parts.join(''));
const integers = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.maxSafeInteger()).map(String);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e200, max: 1e200 });
const doubles = fc
  .oneof(
    fc.constantFrom(0, 0.1, 0.2, 1e16, -1e16, 1e-300),
    fc.integer({ min: 0, max: 9999 }).map((n) => n / 100),
    finite,
  )
  .map(String);
const days = fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const cellsOf = {
  text: fc.constantFrom('x', 'y'),
  decimal: decimals,
  integer: integers,
  number: doubles,
  boolean: fc.constantFrom('true', 'false'),
  date: days.map((day) => day.toISOString().slice(0, 10)),
  datetime: days.map((day) => day.toISOString()),
};

/** Rows of two group columns, k (text) and g (decimal), and one column of each type. */
function rowsOf(keys: number): fc.Arbitrary<(string | null)[][]> {
  const groups = [fc.integer({ min: 0, max: keys }).map(String), fc.constantFrom('1', '1.0', '2')];
  const row = fc.tuple(...[...groups, ...TYPES.map((type) => cellsOf[type])].map(orNull));
  return fc.array(row, { minLength: 1, maxLength: 500 });
}

test('metrics folded by kernels equal those of one value at a time', (t) => {
  const metrics = TYPES.flatMap((type) =>
    FUNCTIONS[type].flatMap((fn) => [
      { fn, column: type, as: `${fn}_${type}` },
      { fn, column: type, as: `some_${fn}_${type}`, where: 'text == "x"' },
    ]),
  );
  // The median has no kernel: with a median, all metrics process one value at a time.
  const slow = { fn: 'median', column: 'integer', as: 'middle' };
  const columns = ['k', 'g', ...TYPES];
  const types = ['text', 'decimal', ...TYPES] as const;
  const groupings = fc.constantFrom(['k'], ['g'], ['k', 'g'], []);
  const way = fc.constantFrom<RunOptions>(
    { batchRows: 1 },
    { batchRows: 1000 },
    { batchRows: 90, budgetBytes: 1000 },
    { batchRows: 60, arenaBytes: 16_384, sparse: true },
  );
  fc.assert(
    fc.property(fc.constantFrom(2, 3000).chain(rowsOf), groupings, way, fc.boolean(), (rows, by, options, sorted) => {
      const input = { columns, types, rows };
      const operation = {
        op: 'aggregate',
        ...(by.length > 0 ? { group_by: by } : {}),
        ...(sorted ? { order: 'sorted' } : {}),
      };
      const folded = outcome(() => runOperation(aggregate, { ...operation, metrics }, input, options));
      const single = outcome(() => runOperation(aggregate, { ...operation, metrics: [...metrics, slow] }, input));
      if (typeof folded === 'string' || typeof single === 'string') return folded === single;
      const expected = single.rows.map((row) => row.slice(0, -1));
      return (
        JSON.stringify(folded.rows) === JSON.stringify(expected) &&
        JSON.stringify(folded.sources) === JSON.stringify(single.sources)
      );
    }),
    { numRuns: sweep({ short: 10, long: 150 }) },
  );
  t.pass();
  t.end();
});

/** The result of a run, or the message of its failure. */
function outcome<T>(run: () => T): T | string {
  try {
    return run();
  } catch (error) {
    if (error instanceof Failed) return error.failure.code;
    throw error;
  }
}

test('groups that the budget refuses come after the others, in their order', async (t) => {
  const rows = Array.from({ length: 9000 }, (_, row) => [`key ${(row * 7919) % 3001}`, `${row % 100}.25`]);
  const sums = new Map<string, bigint>();
  for (const [key, amount] of rows) sums.set(key!, (sums.get(key!) ?? 0n) + BigInt(amount!.replace('.', '')));
  const operation = { op: 'aggregate', group_by: ['k'], metrics: [{ fn: 'sum', column: 'a' }, { fn: 'count' }] };
  const input = { columns: ['k', 'a'], types: ['text', 'decimal'] as const, rows };
  for (const budgetBytes of [1000, 60_000, 200_000]) {
    const made = runOperation(aggregate, operation, input, { batchRows: 500, budgetBytes });
    t.ok(made.spilled);
    const expected = [...sums].map(([key, sum]) => [key, decimal(sum)]);
    t.ok(JSON.stringify(made.rows.map(([key, sum]) => [key, sum])) === JSON.stringify(expected), `${budgetBytes}`);
  }
});

test('a few groups that occur again and again, and many others after them', async (t) => {
  const texts = [null, '', 'a', 'paid', 'fourteen bytes', 'more than sixteen bytes', 'é'];
  const rows = Array.from({ length: 12_000 }, (_, row) => {
    const isNew = row > 4000 && row % 3 === 0;
    const few = (row * 7919) % 49;
    return [
      isNew ? `key ${row}` : texts[few % 7]!,
      isNew ? 'x' : texts[Math.floor(few / 7)]!,
      `${row % 100}.25`,
      `t${row}`,
    ];
  });
  const groups = new Map<string, (string | null | bigint)[]>();
  for (const [a, b, amount, text] of rows) {
    const group = groups.get(JSON.stringify([a, b])) ?? [a!, b!, 0n, text!, text!];
    groups.set(JSON.stringify([a, b]), group);
    group[2] = (group[2] as bigint) + BigInt(amount!.replace('.', ''));
    group[4] = text!;
  }
  const expected = [...groups.values()].map(([a, b, sum, ...ends]) => [a, b, decimal(sum as bigint), ...ends]);
  const metrics = [
    { fn: 'sum', column: 'n' },
    { fn: 'first', column: 't' },
    { fn: 'last', column: 't' },
  ];
  const input = { columns: ['a', 'b', 'n', 't'], types: ['text', 'text', 'decimal', 'text'] as const, rows };
  const numeric = metrics.slice(0, 1);
  for (const way of [...WAYS, { batchRows: 1000, budgetBytes: 300_000 }, { batchRows: 600, sparse: true }]) {
    const whole = runOperation(aggregate, { op: 'aggregate', group_by: ['a', 'b'], metrics }, input, way);
    t.ok(JSON.stringify(whole.rows) === JSON.stringify(expected), JSON.stringify(way));
    const folded = runOperation(aggregate, { op: 'aggregate', group_by: ['a', 'b'], metrics: numeric }, input, way);
    t.ok(JSON.stringify(folded.rows) === JSON.stringify(expected.map((row) => row.slice(0, 3))), JSON.stringify(way));
  }
  const folded = runOperation(aggregate, { op: 'aggregate', group_by: ['a', 'b'], metrics: numeric }, input, {
    batchRows: 1000,
    budgetBytes: 300_000,
  });
  t.ok(folded.spilled, 'some were put off');
});

/** Groups and subtotals by two keys, as a plain loop makes them. */
function expectedRollup(rows: readonly (readonly [string | null, string, string])[], sorted: boolean): unknown[] {
  const outer = new Map<string | null, Map<string, number[]>>();
  for (const [g, h, v] of rows) {
    const inner = outer.get(g) ?? new Map<string, number[]>();
    outer.set(g, inner);
    inner.set(h, [...(inner.get(h) ?? []), Number(v)]);
  }
  const inOrder = <K extends string | null, V>(map: ReadonlyMap<K, V>): [K, V][] => {
    if (!sorted) return [...map];
    return [...map].sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1));
  };
  const row = (g: string | null, h: string | null, values: readonly number[]): unknown[] => {
    const distinct = new Set(values).size;
    return [g, h, String(values.length), String(values.reduce((sum, each) => sum + each, 0)), String(distinct)];
  };
  const made = inOrder(outer).flatMap(([g, inner]) => [
    ...inOrder(inner).map(([h, values]) => row(g, h, values)),
    row(g, 'Total', [...inner.values()].flat()),
  ]);
  const all = rows.map(([, , v]) => Number(v));
  return [...made, row('Total', null, all)];
}

test('subtotals follow their groups, with and without spill files', async (t) => {
  const rows = Array.from({ length: 12_000 }, (_, row): [string | null, string, string] => {
    const group = (row * 7919) % 1201;
    return [group === 0 ? null : `g${group}`, `h${(row * 31) % 7}`, String(row % 50)];
  });
  const input = { columns: ['g', 'h', 'v'], types: ['text', 'text', 'integer'] as const, rows };
  for (const order of ['first_seen', 'sorted']) {
    const operation = {
      op: 'aggregate',
      group_by: ['g', 'h'],
      metrics: [{ fn: 'count' }, { fn: 'sum', column: 'v' }, { fn: 'count_distinct', column: 'v' }],
      order,
      totals: { label: 'Total', by: 'g' },
    };
    const expected = JSON.stringify(expectedRollup(rows, order === 'sorted'));
    for (const way of WAYS) {
      const made = runOperation(aggregate, operation, input, way);
      t.same(made.problems, []);
      t.ok(JSON.stringify(made.rows) === expected, `${order} ${JSON.stringify(way)}`);
      t.equal(made.spilled, way.budgetBytes !== undefined, 'spills when it must');
    }
  }
});

test('metrics of small columns: nulls are left out, and a fraction of a second counts', async (t) => {
  const instants = ['2026-01-01T00:00:00.5Z', null, '2026-01-01T00:00:00Z'];
  const cases: readonly (readonly [fn: string, type: ColumnType, cells: readonly Cell[], result: Cell, p?: number])[] =
    [
      ['max', 'datetime', instants, '2026-01-01T00:00:00.5Z'],
      ['min', 'datetime', instants, '2026-01-01T00:00:00Z'],
      ['variance', 'number', ['1.5', null, '2.5'], '0.5'],
      ['variance', 'number', ['1.5', null], null],
      ['stdev', 'integer', ['1', null, '1'], '0'],
      ['variance', 'decimal', ['1.5', null, '2.5'], '0.5'],
      ['median', 'number', ['1.5', null, '9', '2.5'], '2.5'],
      ['percentile', 'number', ['1.5', null, '2.5'], '1.6', 10],
      ['percentile', 'decimal', ['1', '2'], '1.333333333333', 33.3333333333],
      ['median', 'integer', [null], null],
      ['any', 'boolean', ['false', null, 'true'], 'true'],
      ['any', 'boolean', [null], null],
      ['all', 'boolean', ['true', null, 'false'], 'false'],
      ['all', 'boolean', ['true', null], 'true'],
      ['mode', 'boolean', ['true', 'false', 'false'], 'false'],
      ['count_distinct', 'number', ['1', '1.0', '2'], '2'],
      ['join', 'text', [null], null],
    ];
  for (const [fn, type, cells, result, p] of cases) {
    const input = { columns: ['c'], types: [type], rows: cells.map((cell) => [cell]) };
    const metric = { fn, column: 'c', as: 'n', ...(p === undefined ? {} : { p }) };
    const made = runOperation(aggregate, { op: 'aggregate', metrics: [metric] }, input);
    t.strictSame([made.problems, made.rows], [[], [[result]]], `${fn} of ${type}`);
  }
});

test('a metric does not go with every type of column', async (t) => {
  for (const [fn, type] of [
    ['any', 'integer'],
    ['all', 'text'],
    ['mode', 'json'],
    ['count_distinct', 'json'],
    ['max', 'json'],
    ['median', 'date'],
    ['variance', 'text'],
  ] as const) {
    const input = { columns: ['c'], types: [type], rows: [[null]] };
    const { problems } = runOperation(aggregate, { op: 'aggregate', metrics: [{ fn, column: 'c', as: 'n' }] }, input);
    t.match(problems, [`"${fn}" does not go with a column of type ${type}.`]);
  }
});

test('a sum, mean or variance of more digits than a cell holds ends the Run', async (t) => {
  const input = { columns: ['c'], types: ['decimal'] as const, rows: [['9'.repeat(1000)], ['9'.repeat(1000)]] };
  for (const fn of ['sum', 'mean', 'variance', 'stdev']) {
    const metrics = [{ fn, column: 'c', as: 'n' }];
    t.throws(() => runOperation(aggregate, { op: 'aggregate', metrics }, input), /OUT_OF_RANGE/, fn);
  }
});
