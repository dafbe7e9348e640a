// State that asks the budget: the values of a group go to files, a reference table that is refused ends the Run with a clear
// failure, what is small is taken all the same, and nothing stays taken when a Run ends early.
import { test } from 'tap';
import { runShare, unlimitedShare } from '../../workers/budget.ts';
import { aggregate } from '../../workers/operations/aggregate.ts';
import { mapValues } from '../../workers/operations/map-values.ts';
import { set } from '../../workers/operations/set.ts';
import { runOperation } from './operations/harness.ts';

const TIGHT = { batchRows: 4096, budgetBytes: 100_000 };

function numbers(count: number): string[][] {
  return Array.from({ length: count }, (_, n) => [`${(n * 7919) % count}`]);
}

test('medians of groups that outgrow the budget', async (t) => {
  const operation = { op: 'aggregate', metrics: [{ fn: 'median', column: 'n', as: 'median' }] };
  const input = (count: number) => ({ columns: ['n'], types: ['integer'] as const, rows: numbers(count) });
  t.same(runOperation(aggregate, operation, input(20_001), TIGHT).rows, [['10000']]);
  t.same(runOperation(aggregate, operation, input(60_000), TIGHT).rows, [['29999.5']]);
  t.same(runOperation(aggregate, operation, input(60_000)).rows, [['29999.5']]);
});

test('tables for lookups that outgrow the budget', async (t) => {
  const table = (rows: number): string =>
    ['k,v', ...Array.from({ length: rows }, (_, n) => `key ${n},value ${n} ${'x'.repeat(40)}`)].join('\n');
  const input = { columns: ['k'], rows: [['key 7'], ['none'], [null]] };
  const small = { t: table(5000) };
  const large = { t: table(30_000) };
  const mapping = { op: 'map_values', columns: 'k', table: 't', key: 'k', value: 'v', default: 'blank' };
  const looking = { op: 'set', columns: { v: 'lookup("t", k, "v")' } };
  const value = `value 7 ${'x'.repeat(40)}`;
  const mapped = runOperation(mapValues, mapping, input, { ...TIGHT, tables: small });
  t.same(mapped.rows, [[value], [null], [null]]);
  const found = runOperation(set, looking, input, { ...TIGHT, tables: small });
  t.same(
    found.rows.map((row) => row[1]),
    [value, null, null],
  );
  const refused = { name: 'Failed', message: /"t".*join/ };
  t.throws(() => runOperation(mapValues, mapping, input, { ...TIGHT, tables: large }), refused);
  t.throws(() => runOperation(set, looking, input, { ...TIGHT, tables: large }), refused);
  t.same(runOperation(mapValues, mapping, input, { tables: large }).rows[0], [value]);
});

test('a Run gives back what its operations hold, however it ends', async (t) => {
  const share = unlimitedShare();
  share.force(10);
  const run = runShare(share);
  run.force(1000);
  run.take(500);
  run.give(300);
  t.equal(share.takenBytes, 1210);
  run.giveBack();
  run.giveBack();
  t.equal(share.takenBytes, 10, 'and nothing of others');
});
