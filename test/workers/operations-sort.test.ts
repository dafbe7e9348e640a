// Sorting: the order is that of values, equal rows keep theirs, and files on the way change nothing.
import fc from 'fast-check';
import { test } from 'tap';
import { SortKeyWriter } from '../../workers/operations/rows/sort-key.ts';
import { sort } from '../../workers/operations/sort.ts';
import { top } from '../../workers/operations/top.ts';
import { compareDecimals, type Decimal, decimalOf } from '../../workers/values/decimal.ts';
import type { Cell } from './operations/batch-builder.ts';
import { type RunOptions, runOperation } from './operations/harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1000 },
  { batchRows: 333, arenaBytes: 8192, sparse: true },
  { batchRows: 1000, budgetBytes: 1_500_000 },
];

function compareTexts(a: Cell, b: Cell): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test('sort by a text and a falling one, spilling or not', async (t) => {
  let state = 7;
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
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
