// State within a budget: the values of a group go to files, a refused reference table is looked up on the disk, small state is
// always allowed, and no memory remains reserved when a Run ends early.
// With all tests only: work and memory of large inputs.
import { join as joinPath } from 'node:path';
import { test } from 'tap';
import { EntrySorter } from '../../../workers/execution/join/disk-table.ts';
import { runShare, unlimitedShare } from '../../../workers/memory/budget.ts';
import { SpillFile, SpillFolder } from '../../../workers/memory/spill-file.ts';
import { aggregate } from '../../../workers/operations/aggregate.ts';
import { dropRepeatedHeaders } from '../../../workers/operations/drop-repeated-headers.ts';
import { fillUp } from '../../../workers/operations/fill-up.ts';
import { join } from '../../../workers/operations/join.ts';
import { mapValues } from '../../../workers/operations/map-values.ts';
import { set } from '../../../workers/operations/set.ts';
import { toJson } from '../../../workers/operations/to-json.ts';
import { transpose } from '../../../workers/operations/transpose.ts';
import type { OperationDefinition } from '../../../workers/template/operation.ts';
import { skipUnlessLong } from '../../sweep.ts';
import { makeMemory, runOperation } from './harness.ts';

/** 120,000 bytes: more than all buffers of lookups together. */
const LONG = 'ä'.repeat(60_000);

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
  for (const options of [{ ...TIGHT, tables: large }, { tables: large }]) {
    const rows = runOperation(mapValues, mapping, input, options);
    t.same(rows.rows, [[value], [null], [null]]);
    t.equal(rows.spilled, 'budgetBytes' in options);
    const looked = runOperation(set, looking, input, options);
    t.same(
      looked.rows.map((row) => row[1]),
      [value, null, null],
    );
  }
});

test('a table on the disk answers every key as one in memory does', { skip: skipUnlessLong }, async (t) => {
  // Out of 60,000 rows: duplicate keys (the first counts), null cells, one key on 20,000 rows, and cells larger than any single
  // read.
  const rows = Array.from({ length: 40_000 }, (_, n) => `Key ${n % 30_000},${n % 7 === 3 ? '' : `value ${n}`}`);
  const same = Array.from({ length: 20_000 }, (_, n) => `same,${n} ${'y'.repeat(30)}`);
  const huge = [`huge,${'h'.repeat(300_000)}`, `${'k'.repeat(20_000)},long key`, `${LONG},longest key`, ',no key'];
  const tables = { t: ['k,v', ...rows, ...same, ...huge].join('\n') };
  const asked = [
    ...Array.from({ length: 41_000 }, (_, n) => `Key ${n}`),
    'same',
    'huge',
    'k'.repeat(20_000),
    null,
    'x',
    LONG,
    LONG.slice(1),
    `${LONG}ä`,
    `${LONG.slice(1)}x`,
  ];
  const wanted = [
    ...Array.from({ length: 41_000 }, (_, n) => (n >= 30_000 ? 'none' : n % 7 === 3 ? null : `value ${n}`)),
    ...[`0 ${'y'.repeat(30)}`, 'h'.repeat(300_000), 'long key', null, 'none'],
    ...['longest key', 'none', 'none', 'none'],
  ];
  const input = { columns: ['k'], rows: asked.map((key) => [key]) };
  const mapping = { op: 'map_values', columns: 'k', table: 't', key: 'k', value: 'v', default: { value: 'none' } };
  const mapped = runOperation(mapValues, mapping, input, { ...TIGHT, tables });
  t.ok(mapped.spilled);
  t.equal(JSON.stringify(mapped.rows) === JSON.stringify(wanted.map((cell) => [cell])), true);
  const folded = { ...mapping, match: 'case_insensitive' };
  const upper = { columns: ['k'], rows: asked.map((key) => [key?.toUpperCase() ?? null]) };
  const any = runOperation(mapValues, folded, upper, { batchRows: 7, budgetBytes: 100_000, tables });
  t.equal(JSON.stringify(any.rows) === JSON.stringify(wanted.map((cell) => [cell])), true);
  t.same(runOperation(mapValues, mapping, { columns: ['k'], rows: [[LONG]] }, { tables }).rows, [['longest key']]);
  const looking = { op: 'set', columns: { v: 'k == null ? null : coalesce(lookup("t", k, "v"), "none")' } };
  const looked = runOperation(set, looking, input, { ...TIGHT, tables });
  const seen = looked.rows.map(([key, cell]) => (key !== null && cell === 'none' ? 'none' : cell));
  const expected = wanted.map((cell, at) => (asked[at] !== null && cell === null ? 'none' : cell));
  t.equal(JSON.stringify(seen) === JSON.stringify(expected), true);
  const inMemory = runOperation(set, looking, input, { tables });
  t.notOk(inMemory.spilled);
  t.equal(JSON.stringify(inMemory.rows) === JSON.stringify(looked.rows), true);
});

test('tables are read slice by slice, in memory and on the disk', async (t) => {
  const rows = Array.from({ length: 40_000 }, (_, n) => `key ${n},value ${n} ${'x'.repeat(60)}`);
  const tables = { t: ['k,v', ...rows].join('\n') };
  const input = { columns: ['k'], rows: [['key 39999']] };
  const mapping = { op: 'map_values', columns: 'k', table: 't', key: 'k', value: 'v' };
  const looking = { op: 'set', columns: { k: 'lookup("t", k, "v")' } };
  const joining = { op: 'join', table: 't', on: 'k', columns: ['v'] };
  for (const [definition, operation] of [
    [mapValues, mapping] as const,
    [set, looking] as const,
    [join, joining] as const,
  ]) {
    for (const options of [{ tables }, { ...TIGHT, tables }]) {
      const run = runOperation(definition, operation, input, options);
      t.equal(run.rows[0]!.at(-1), `value 39999 ${'x'.repeat(60)}`);
      t.equal(run.spilled, 'budgetBytes' in options);
      // 2,048 rows are indexed at once, 256 KiB are sorted at once; a deferred join reads its table at the end.
      if (operation !== joining || !run.spilled) t.ok(run.slices >= 15, `${operation.op} pauses ${run.slices} times`);
    }
  }
});

test('a key on most rows of a table on the disk is not written again and again', async (t) => {
  const { heap } = makeMemory();
  const folder = t.testdir();
  const spill = new SpillFolder(joinPath(folder, 'run'));
  let writtenBytes = 0;
  const { append } = SpillFile.prototype;
  SpillFile.prototype.append = function (bytes) {
    writtenBytes += bytes.length;
    append.call(this, bytes);
  };
  t.teardown(() => {
    SpillFile.prototype.append = append;
    spill.remove();
  });
  const positions: number[] = [];
  const sorter = new EntrySorter(heap, spill, (hash) => void positions.push(hash));
  const hashOf = (n: number): number => Math.imul(n, 0x9e3779b1) >>> 0;
  const value = Buffer.alloc(100, 'v');
  let differentBytes = 0;
  for (let n = 0; n < 60_000; n++) {
    const key = Buffer.from(n % 10 === 9 ? `key ${n}` : 'hot');
    sorter.add({ hash: hashOf(n % 10 === 9 ? n : 0), key, value });
    if (n % 10 === 9) differentBytes += 12 + key.length + value.length;
  }
  const steps = sorter.finish();
  let step = steps.next();
  while (!step.done) step = steps.next();
  t.equal(positions.length, 6001, 'each key once');
  t.strictSame(
    positions,
    [...positions].sort((a, b) => a - b),
    'in the order of their hashes',
  );
  t.ok(writtenBytes < differentBytes * 3, `${writtenBytes} bytes for ${differentBytes}`);
});

test('a Run releases the memory of its operations, however it ends', async (t) => {
  const share = unlimitedShare();
  share.force(10);
  const run = runShare(share);
  run.force(1000);
  run.take(500);
  run.release(300);
  t.equal(share.takenBytes, 1210);
  run.releaseAll();
  run.releaseAll();
  t.equal(share.takenBytes, 10, 'and nothing of others');
});

const WIDE_ROWS: readonly (readonly [OperationDefinition, object])[] = [
  [toJson, { columns: '*', into: 'new' }],
  [dropRepeatedHeaders, {}],
  [fillUp, { columns: '*' }],
  [transpose, { header_from: 'c1', columns: ['1'] }],
  [aggregate, { group_by: 'c1', metrics: [{ fn: 'count', as: 'new' }], rest: 'first' }],
];

for (const [definition, parameters] of WIDE_ROWS) {
  test(`${definition.name} checks the clock while it works on the columns of one row`, async (t) => {
    const checks = (count: number): number => {
      let checked = 0;
      const clock = { isDue: () => ++checked > 0 };
      const columns = Array.from({ length: count }, (_, column) => `c${column}`);
      // A repeated header, so that all its cells are compared.
      const rows = [definition === dropRepeatedHeaders ? columns : columns.map(() => '1')];
      runOperation(definition, { op: definition.name, ...parameters }, { columns, rows }, { clock });
      return checked;
    };
    t.ok(checks(4096) - checks(16) >= 4096 / 256 - 1, `${checks(4096)} checks, ${checks(16)} in a narrow row`);
  });
}
