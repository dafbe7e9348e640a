// Sorting: rows are ordered by value, equal rows keep their order, and spill files change nothing.

import { test } from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { SortKeys, SortKeyWriter } from '../../../workers/execution/sort/sort-keys.ts';
import { CellReader } from '../../../workers/expression/compile/cell-values.ts';
import { sort } from '../../../workers/operations/sort.ts';
import { top } from '../../../workers/operations/top.ts';
import { compareDecimals, type Decimal, decimalOf } from '../../../workers/values/decimal.ts';
import { fc, noise } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import { batchOf, newBench, type TypedValue, typedColumn, viewsColumn } from '../batch/build-batch.ts';
import type { Cell } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 333, arenaBytes: 8192, sparse: true },
  { batchRows: 1000, budgetBytes: 1_500_000 },
];

function compareTexts(a: Cell, b: Cell): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test('sort by a text and a falling one, spilling or not', { skip: skipUnlessLong }, async (t) => {
  const next = noise(7);
  const rows = Array.from({ length: 12_000 }, (_, row): Cell[] => {
    const text = next(9) === 0 ? null : `customer ${'é'.repeat(next(3))}${next(500)}`;
    return [String(row), text, next(5) === 0 ? '' : String(next(30)), 'x'.repeat(next(300))];
  });
  const expected = rows.toSorted((a, b) => compareTexts(a[1]!, b[1]!) || compareTexts(b[2]!, a[2]!));
  const operation = { op: 'sort', by: ['b', { column: 'c', order: 'desc' }] };
  for (const way of WAYS) {
    const made = runOperation(sort, operation, { columns: ['a', 'b', 'c', 'd'], rows }, way);
    t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), JSON.stringify(way));
    t.equal(made.spilled, way.budgetBytes !== undefined, 'spills when it must');
    t.same(
      made.sources.slice(0, 50),
      expected.slice(0, 50).map((row) => Number(row[0]) + 1),
    );
    const first = runOperation(
      top,
      { op: 'top', n: 100, by: operation.by },
      { columns: ['a', 'b', 'c', 'd'], rows },
      way,
    );
    t.ok(JSON.stringify(first.rows) === JSON.stringify(expected.slice(0, 100)), 'top');
  }
});

const order = (a: number): -1 | 0 | 1 => (a < 0 ? -1 : a > 0 ? 1 : 0);

function keyOrder(
  type: 'text' | 'decimal' | 'number' | 'integer',
  a: unknown,
  b: unknown,
  descending: boolean,
): number {
  const writer = new SortKeyWriter([{ type, descending, nullsFirst: false, compare: 'typed' }]);
  const left = Buffer.from(writer.key([a]));
  return order(Buffer.compare(left, writer.key([b])));
}

test('keys are in the order of their values', async (t) => {
  const decimal = fc
    .tuple(
      fc.oneof(fc.bigInt({ min: -1000n, max: 1000n }), fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })),
      fc.nat(30),
    )
    .map(([digits, scale]) => decimalOf(digits, scale) as Decimal);
  const number = fc.oneof(fc.double({ noNaN: true }), fc.integer());
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\0', '\u0001', 'a', 'ÿ') }));
  fc.assert(fc.property(decimal, decimal, (a, b) => keyOrder('decimal', a, b, false) === order(compareDecimals(a, b))));
  fc.assert(fc.property(decimal, decimal, (a, b) => keyOrder('decimal', a, b, true) === order(compareDecimals(b, a))));
  fc.assert(fc.property(number, number, (a, b) => keyOrder('number', a, b, false) === (a < b ? -1 : a > b ? 1 : 0)));
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      const [x, y] = [BigInt.asIntN(64, a), BigInt.asIntN(64, b)];
      return keyOrder('integer', x, y, false) === (x < y ? -1 : x > y ? 1 : 0);
    }),
  );
  fc.assert(fc.property(text, text, (a, b) => keyOrder('text', a, b, false) === order(compareTexts(a, b))));
  fc.assert(fc.property(text, text, (a, b) => keyOrder('text', a, b, true) === order(compareTexts(b, a))));
  t.pass();
});

const anyText = fc.option(
  fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'a\0', '\0', 'ÉÄ', 'Straße', 'a10')),
  {
    nil: null,
  },
);
const int64 = fc.oneof(fc.bigInt(-300n, 300n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
const narrow = fc.record({ unscaled: int64, scale: fc.oneof(fc.nat(4), fc.nat(253)) });
const broad = fc.record({ unscaled: fc.bigInt(-(2n ** 90n), 2n ** 90n), scale: fc.nat(300) });
const moment = fc.bigInt(-(10n ** 15n), 10n ** 16n);

const COLUMNS: Readonly<Record<ColumnType, fc.Arbitrary<TypedValue | string>>> = {
  text: anyText.map((text) => text ?? ''),
  json: anyText.map((text) => text ?? ''),
  integer: int64,
  date: fc.bigInt(-100_000n, 100_000n),
  datetime: moment,
  decimal: fc.oneof({ weight: 9, arbitrary: narrow }, broad),
  number: fc.oneof(fc.double(), fc.constantFrom(0, -0, 1)),
  boolean: fc.boolean(),
};

test('the kernel writes the keys of its twin', (t) => {
  const term = fc.record({
    type: fc.constantFrom(...(Object.keys(COLUMNS) as ColumnType[])),
    descending: fc.boolean(),
    nullsFirst: fc.boolean(),
    compare: fc.constantFrom('typed' as const, 'natural' as const, 'case_insensitive' as const),
  });
  const cells = fc.array(term, { minLength: 1, maxLength: 3 }).chain((terms) =>
    fc.record({
      terms: fc.constant(terms),
      rows: fc.array(fc.tuple(...terms.map(({ type }) => fc.option(COLUMNS[type], { nil: null }))), {
        minLength: 1,
        maxLength: 12,
      }),
    }),
  );
  fc.assert(
    fc.property(cells, ({ terms, rows }) => {
      const bench = newBench();
      const columns = terms.map(({ type }, index) => {
        const values = rows.map((row) => row[index]!);
        if (type === 'text' || type === 'json') return viewsColumn(bench, values as (string | null)[]);
        return typedColumn(bench, type, values as TypedValue[]);
      });
      const batch = batchOf(bench, rows.length, columns);
      const places = terms.map((entry, index) => ({ ...entry, index }));
      const keys = new SortKeys(bench, places).make(batch);
      const writer = new SortKeyWriter(terms);
      const readers = terms.map(({ type }, index) => new CellReader(type, index));
      for (const reader of readers) reader.bind(batch);
      return rows.every((_, row) => {
        const [at, length] = batch.heap.u32.subarray((keys >>> 2) + row * 2, (keys >>> 2) + row * 2 + 2);
        const made = Buffer.from(batch.heap.u8.subarray(at, at! + length!));
        return made.equals(writer.key(readers.map((reader) => reader.read(row))));
      });
    }),
    {
      numRuns: sweep({ short: 30, long: 1000 }),
      // Few digits with a scale that does not fit a cell's byte.
      examples: [
        [
          {
            terms: [{ type: 'decimal', descending: false, nullsFirst: true, compare: 'natural' }],
            rows: [
              [{ unscaled: 0n, scale: 254 }],
              [{ unscaled: 1n, scale: 253 }],
              [{ unscaled: 1n, scale: 300 }],
              [null],
            ],
          },
        ],
      ],
    },
  );
  t.pass();
  t.end();
});

test('long keys with much in common, far more than one level of them', async (t) => {
  const ends = Array.from({ length: 400 }, (_, at) => `${'ab'.repeat((at * 37) % 101)}${(at * 7919) % 13}`);
  const rows = [...ends, ...Array.from({ length: 30 }, () => 'x'.repeat(5000))].map((text, at) => [text, `${at}`]);
  const made = runOperation(sort, { op: 'sort', by: ['a'] }, { columns: ['a', 'n'], rows });
  const expected = rows.toSorted((a, b) => Buffer.compare(Buffer.from(a[0]!), Buffer.from(b[0]!)));
  t.ok(JSON.stringify(made.rows) === JSON.stringify(expected));
});

test('top drops only rows that cannot come first', { skip: skipUnlessLong }, async (t) => {
  const rows = Array.from({ length: 30_000 }, (_, at) => {
    const key = `${'same beginning '.repeat(at % 3)}${(at * 7919) % 1009}`;
    return [at % 97 === 0 ? null : key, `${at}`, 'x'.repeat(at % 400)];
  });
  const sorted = rows.toSorted((a, b) => {
    if (a[0] === null || b[0] === null) return Number(a[0] === null) - Number(b[0] === null);
    return Buffer.compare(Buffer.from(a[0]!), Buffer.from(b[0]!));
  });
  const ways: RunOptions[] = [
    { batchRows: 4096 },
    { batchRows: 700, arenaBytes: 30_000, sparse: true },
    { batchRows: 4096, budgetBytes: 6_000_000 },
    { batchRows: 4096, budgetBytes: 1000 },
  ];
  for (const way of ways) {
    for (const n of [1, 40, 5000]) {
      const made = runOperation(top, { op: 'top', n, by: 'a' }, { columns: ['a', 'n', 'x'], rows }, way);
      t.ok(JSON.stringify(made.rows) === JSON.stringify(sorted.slice(0, n)), `${n} ${JSON.stringify(way)}`);
    }
  }
});

test('top of each group drops only rows that cannot come first in their group', {
  skip: skipUnlessLong,
}, async (t) => {
  const next = noise(11);
  const groupings: Readonly<Record<string, (row: number) => Cell>> = {
    few: (row) => [null, 'DE', 'x'.repeat(253), 'x'.repeat(300), `${'x'.repeat(299)}y`, ''][row % 6]!,
    'each row': (row) => `g${row}`,
    'first each row, then few': (row) => (row < 6_000 ? `g${row}` : `h${row % 5}`),
    'first few, then each row': (row) => (row < 6_000 ? `h${row % 5}` : `g${row}`),
  };
  const ways: RunOptions[] = [
    { batchRows: 4096 },
    { batchRows: 700, arenaBytes: 30_000, sparse: true },
    { batchRows: 4096, budgetBytes: 4_000_000 },
    { batchRows: 4096, budgetBytes: 1000 },
  ];
  for (const [name, groupOf] of Object.entries(groupings)) {
    const rows = Array.from({ length: 16_000 }, (_, row): Cell[] => {
      return [groupOf(row), next(50) === 0 ? null : `${next(900)}`, `${row}`, 'x'.repeat(next(40))];
    });
    const sorted = rows.toSorted((a, b) => compareTexts(a[1]!, b[1]!));
    for (const n of [1, 3, 2000]) {
      const taken = new Map<string, number>();
      const expected = sorted.filter(([group]) => {
        const key = JSON.stringify(group);
        const inGroup = (taken.get(key) ?? 0) + 1;
        taken.set(key, inGroup);
        return inGroup <= n;
      });
      const operation = { op: 'top', n, by: 'k', group_by: ['g'] };
      for (const way of ways) {
        const made = runOperation(top, operation, { columns: ['g', 'k', 'n', 'x'], rows }, way);
        t.equal(made.rows.length, expected.length, `${name}, ${n}, ${JSON.stringify(way)}`);
        t.ok(JSON.stringify(made.rows) === JSON.stringify(expected), `${name}, ${n}, ${JSON.stringify(way)}`);
      }
    }
  }
});
