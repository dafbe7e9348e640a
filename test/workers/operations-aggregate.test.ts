// Aggregation: groups in the order first seen, exact sums, the same with and without files on the way.
import fc from 'fast-check';
import { test } from 'tap';
import { aggregate } from '../../workers/operations/aggregate.ts';
import { ExactSum } from '../../workers/operations/rows/exact-sum.ts';
import { type RunOptions, runOperation } from './operations/harness.ts';

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
