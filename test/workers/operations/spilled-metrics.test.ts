// Metrics that hold the values of a group, when the budget refuses: the same results with files.

import { test } from 'tap';
import { aggregate } from '../../../workers/operations/aggregate.ts';
import { pivot } from '../../../workers/operations/pivot.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { type RunOptions, runOperation, type Table } from './harness.ts';

/** Number of examples of the comparison. */
const RUNS = sweep({ short: 2, long: 12 });

const REFUSED: RunOptions = { batchRows: 1000, budgetBytes: 0 };

test('answers known beforehand, of groups that are too large for memory', async (t) => {
  // Each number below 5000 occurs twice, in a scrambled order, between rows of two small groups and with null cells.
  const rows = Array.from({ length: 10_000 }, (_, row) => {
    const n = (row * 7919) % 5000;
    return ['large', `${n}`, `${n}.${row < 5000 ? '5' : '50'}`, row % 3 === 0 ? null : `text ${n % 500}`, null];
  });
  rows.splice(10, 0, ['small', '1', '2.50', 'z', null], [null, '7', null, null, 'x']);
  rows.splice(7500, 0, ['small', '2', '2.5', 'y', 'b'], ['small', '4', null, 'y', 'b']);
  const metrics = [
    { fn: 'median', column: 'n', as: 'middle' },
    { fn: 'percentile', column: 'd', p: 90, as: 'p90' },
    { fn: 'percentile', column: 'd', p: 100, as: 'p100' },
    { fn: 'percentile', column: 'n', p: 0, as: 'p0' },
    { fn: 'count_distinct', column: 'd', as: 'different' },
    { fn: 'mode', column: 'd', as: 'often' },
    { fn: 'mode', column: 's', as: 'often_text' },
    { fn: 'count_distinct', column: 's', where: 'n < 100', as: 'some' },
    { fn: 'mode', column: 'e', as: 'none' },
    { fn: 'count_distinct', column: 'e', as: 'no' },
    { fn: 'sum', column: 'n', as: 'sum' },
  ];
  const types = ['text', 'integer', 'decimal', 'text', 'text'] as const;
  const input: Table = { columns: ['k', 'n', 'd', 's', 'e'], types, rows };
  // Position 0.9 * 9999 = 8999.1, between the second 4499.5 and the first 4500.5. Among equal values, scale 2 came last.
  const p90 = '4499.60';
  // Nulls in every third row make some of the 500 texts more frequent than others. Counting finds the first of the most frequent.
  const counts = new Map<string, number>();
  for (const [key, , , text] of rows) if (key === 'large' && text) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [oftenText] = [...counts].toSorted(([, a], [, b]) => b - a)[0]!;
  const large = ['large', '2499.5', p90, '4999.50', '0', '5000', '0.5', oftenText, '100', null, '0', '24995000'];
  const small = ['small', '2', '2.50', '2.5', '1', '1', '2.50', 'y', '2', 'b', '1', '7'];
  const none = [null, '7', null, null, '7', '0', null, null, '0', 'x', '1', '7'];
  for (const order of ['first_seen', 'sorted']) {
    const operation = { op: 'aggregate', group_by: ['k'], order, metrics };
    const made = runOperation(aggregate, operation, input, REFUSED);
    t.same(made.problems, []);
    t.same(made.rows, [large, small, none], order);
    t.same(made.sources, [1, 11, 12], 'rows of the source');
    t.ok(made.spilled);
  }
});

const TYPES = ['text', 'decimal', 'integer', 'number', 'boolean', 'date', 'datetime'] as const;
const NUMERIC: readonly string[] = ['decimal', 'integer', 'number'];

const orNull = (cell: fc.Arbitrary<string>) => fc.option(cell, { nil: null, freq: 6 });
const scales = fc.constantFrom('', '.5', '.50', '.05', '.000000000000000000000001');
const wide = fc.oneof({ weight: 9, arbitrary: fc.bigInt(-40n, 40n) }, fc.bigInt(-(2n ** 63n), 2n ** 63n));
const days = fc.integer({ min: -9, max: 9 }).map((day) => new Date(day * 86_400_000 + day).toISOString());
const row = fc.tuple(
  ...[
    fc.constantFrom('a', 'b'),
    fc.integer({ min: 0, max: 30 }).map((n) => ['', 'ä', '\u{1f600}', '\0', '\0a'][n] ?? `text ${n}`),
    fc.tuple(wide, scales).map((parts) => parts.join('')),
    fc.integer({ min: -30, max: 30 }).map(String),
    fc.oneof(fc.constantFrom('0', '-0', '0.1', '1e300', '-1e-300'), fc.integer({ min: -9, max: 9 }).map(String)),
    fc.constantFrom('true', 'false'),
    days.map((day) => day.slice(0, 10)),
    days,
  ].map(orNull),
);

/**
 * All such metrics over all types, so many that a group of some hundred rows exceeds the memory; some percentages have many
 * digits.
 */
const METRICS = TYPES.flatMap((type) => {
  const numeric = NUMERIC.includes(type) ? ['median', 'percentile', 'variance'] : [];
  const names = ['count_distinct', 'mode', 'min', 'max', 'first', 'last', 'join', ...numeric];
  return names.map((fn) => ({ fn, column: type, ...(fn === 'percentile' ? { p: 33.3 } : {}) }));
}).concat(
  Array.from({ length: 40 }, (_, n) => {
    const p = n % 2 === 0 ? n * 2.5 : (n * 7) / 3;
    return { fn: 'percentile', column: n % 4 < 2 ? 'integer' : 'decimal', p, as: `p${n}` };
  }),
);

test('any values give the same results as in memory', async (t) => {
  const groupings = fc.constantFrom<readonly string[]>([], ['k'], ['k', 'boolean']);
  const columns = ['k', ...TYPES];
  let spilled = 0;
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 40 }), groupings, fc.boolean(), (some, groups, sorted) => {
      // Each group exceeds the memory for values, and its rows are in a different order each time.
      const rows = Array.from({ length: 800 }, (_, index) => some[(index * 7 + Math.floor(index / 97)) % some.length]!);
      const by = groups.length > 0 ? { group_by: [...groups] } : {};
      const operation = { op: 'aggregate', ...by, ...(sorted ? { order: 'sorted' } : {}), metrics: METRICS };
      const input: Table = { columns, types: ['text', ...TYPES], rows };
      const held = runOperation(aggregate, operation, input);
      const made = runOperation(aggregate, operation, input, { batchRows: 300, budgetBytes: 0 });
      if (!held.spilled && made.spilled) spilled++;
      return (
        JSON.stringify(made.rows) === JSON.stringify(held.rows) &&
        JSON.stringify(made.sources) === JSON.stringify(held.sources)
      );
    }),
    { numRuns: RUNS },
  );
  t.equal(spilled, RUNS, 'each time by way of files');
});

test('pivot fills cells of groups that are too large as it does others', async (t) => {
  const rows = Array.from({ length: 80_000 }, (_, index) => [`g${index % 2}`, 'x', `${(index * 7919) % 80_000}`]);
  const rest = [
    ['g2', 'y', '5'],
    ['g0', 'y', null],
  ];
  const operation = {
    op: 'pivot',
    group_by: ['g'],
    names_from: 'name',
    values_from: 'value',
    values: ['x', 'y'],
    aggregate: 'median',
    fill: '-1',
  };
  const input: Table = {
    columns: ['g', 'name', 'value'],
    types: ['text', 'text', 'integer'],
    rows: [...rows, ...rest],
  };
  const made = runOperation(pivot, operation, input, REFUSED);
  t.same(made.problems, []);
  // Even numbers below 80,000 form one group, odd numbers the other.
  const expected = [
    ['g0', '39999', '-1'],
    ['g1', '40000', '-1'],
    ['g2', '-1', '5'],
  ];
  t.same(made.rows, expected);
});

test('rows that pivot ignores are counted once, and the first ones of the file are named', async (t) => {
  // Late rows have another name. Their groups are known or deferred in turn, because they recur in another order.
  const rows = Array.from({ length: 30_000 }, (_, row) => [
    `g${(row * (row < 10_007 ? 7919 : 31)) % 10_007}`,
    row >= 12_000 && row % 3 === 2 ? 'z' : `${row}`.slice(-1),
    `${row}`,
  ]);
  const digits = Array.from({ length: 10 }, (_, digit) => `${digit}`);
  const operation = {
    op: 'pivot',
    group_by: ['g'],
    names_from: 'name',
    values_from: 'value',
    values: digits,
    aggregate: 'sum',
  };
  const input: Table = { columns: ['g', 'name', 'value'], types: ['text', 'text', 'integer'], rows };
  for (const options of [{ batchRows: 1000 }, REFUSED]) {
    const { problems, errors } = runOperation(pivot, operation, input, options);
    t.same(problems, []);
    t.equal(errors.CELL_DROPPED?.count, 6_000);
    t.same(errors.CELL_DROPPED?.rows.slice(0, 4), [12_003, 12_006, 12_009, 12_012]);
  }
});
