// The operation join follows a reference row by row, for all batch sizes, with the table in memory and partitioned into files.

import { test } from 'tap';
import { join } from '../../../workers/operations/join.ts';
import { fc } from '../../random.ts';
import { skipUnlessLong, sweep } from '../../sweep.ts';
import { applyTemplate } from '../apply-template.ts';
import type { Cell, Rows } from './batch-builder.ts';
import { type RunOptions, runOperation } from './harness.ts';

const WAYS: readonly RunOptions[] = [
  { batchRows: 1 },
  { batchRows: 2, sparse: true },
  { batchRows: 1000, arenaBytes: 512 },
  { batchRows: 1000, sparse: true, budgetBytes: 0, arenaBytes: 4096 },
  { batchRows: 7, budgetBytes: 0 },
];

type Type = 'left' | 'inner' | 'anti' | 'semi';

interface Case {
  readonly type: Type;
  readonly multiple: 'first' | 'all' | 'fail';
  readonly missing: 'ignore' | 'error';
  readonly onError: 'drop_row' | 'blank' | 'keep';
}

/** The expected result of the operation, computed row by row. */
function reference(rows: Rows, table: Rows, given: Case): { rows: Cell[][]; misses: number[]; many: number[] } {
  const made: Cell[][] = [];
  const misses: number[] = [];
  const many: number[] = [];
  const adds = given.type === 'left' || given.type === 'inner';
  const byKey = new Map<Cell, Rows[number][]>([[null, []]]);
  for (const row of table) if (row[0] !== null) byKey.set(row[0]!, [...(byKey.get(row[0]!) ?? []), row]);
  for (const [index, row] of rows.entries()) {
    const hits = byKey.get(row[1]!) ?? [];
    if (hits.length === 0) {
      if (given.missing === 'error' || adds) misses.push(index + 1);
      const dropped = given.missing === 'error' && given.onError === 'drop_row';
      if (!dropped && given.type === 'left') made.push([...row, null]);
      if (!dropped && given.type === 'anti') made.push([...row]);
    } else if (!adds) {
      if (given.type === 'semi') made.push([...row]);
    } else if (hits.length > 1 && given.multiple === 'fail') {
      many.push(index + 1);
      if (given.onError !== 'drop_row') made.push([...row, given.onError === 'blank' ? null : hits[0]![1]!]);
    } else {
      for (const hit of given.multiple === 'all' ? hits : hits.slice(0, 1)) made.push([...row, hit[1]!]);
    }
  }
  return { rows: made, misses: misses.slice(0, 20), many: many.slice(0, 20) };
}

function check(rows: Rows, table: Rows, given: Case, way: RunOptions) {
  const { type, multiple, missing, onError } = given;
  const text = ['k,v', ...table.map((row) => row.map((cell) => cell ?? '').join(','))].join('\n');
  const on = [{ left: 'key', right: 'k' }];
  const operation = { op: 'join', table: 't', on, type, multiple, on_missing: missing };
  const made = runOperation(join, operation, { columns: ['n', 'key'], rows }, { ...way, onError, tables: { t: text } });
  const { LOOKUP_MISS, NOT_UNIQUE } = made.errors;
  return {
    made: { rows: made.rows, misses: LOOKUP_MISS?.rows ?? [], many: NOT_UNIQUE?.rows ?? [] },
    expected: reference(rows, table, given),
    made_of: made,
  };
}

test('join equals the reference row by row', async (t) => {
  const key = fc.constantFrom('a', 'b', 'ä', 'longer than a few bytes', 'c', 'd', null);
  const cases = fc.record<Case>({
    type: fc.constantFrom('left', 'inner', 'anti', 'semi'),
    multiple: fc.constantFrom('first', 'all', 'fail'),
    missing: fc.constantFrom('ignore', 'error'),
    onError: fc.constantFrom('drop_row', 'blank', 'keep'),
  });
  fc.assert(
    fc.property(
      fc.array(key, { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(key, fc.constantFrom('x', 'yy', null)), { minLength: 1, maxLength: 20 }),
      cases,
      fc.constantFrom(...WAYS),
      (keys, table, given, way) => {
        const rows = keys.map((cell, index) => [String(index), cell]);
        const { made, expected } = check(rows, table, given, way);
        if (JSON.stringify(made) !== JSON.stringify(expected)) {
          throw new Error(`${JSON.stringify(made)} is not ${JSON.stringify(expected)}`);
        }
      },
    ),
    { numRuns: sweep({ short: 13, long: 200 }) },
  );
  t.pass();
});

test('a table beyond the budget: both sides go to files and the order stays', { skip: skipUnlessLong }, async (t) => {
  const name = (n: number): string => `key number ${n % 9000}`;
  const rows = Array.from({ length: 12_000 }, (_, n) => [String(n), n % 50 === 0 ? null : name(n * 7919)]);
  // Rows without a key match nothing, however many there are.
  const key = (n: number): string | null => (n % 3 === 1 ? null : name(n * 31));
  const table = Array.from({ length: 12_000 }, (_, n): Cell[] => [key(n), `value ${n} ${'x'.repeat(n % 60)}`]);
  for (const multiple of ['first', 'all', 'fail'] as const) {
    const given: Case = { type: 'left', multiple, missing: 'error', onError: 'keep' };
    for (const budgetBytes of [undefined, 100_000, 0]) {
      const way: RunOptions = budgetBytes === undefined ? { batchRows: 1000 } : { batchRows: 1000, budgetBytes };
      const { made, expected, made_of } = check(rows, table, given, way);
      t.ok(JSON.stringify(made) === JSON.stringify(expected), `${multiple} ${budgetBytes}`);
      t.equal(made_of.spilled, budgetBytes !== undefined);
    }
  }
});

test('a Template that names a table which is not there', async (t) => {
  const template = { tables: { t: { ref: 'missing' } }, operations: [{ op: 'join', table: 't', on: 'a' }] };
  const { outcome } = await applyTemplate(template, 'a\n1\n');
  t.equal(outcome.failure?.code, 'TEMPLATE_CHECK_FAILED');
  t.match(outcome.failure?.message, /"missing"/);
});

test('a join in a Template, with columns that are not listed', async (t) => {
  const template = {
    tables: { people: { ref: 'staff' } },
    operations: [
      { op: 'join', table: 'people', on: [{ left: 'Id', right: 'no', match: 'loose' }] },
      { op: 'select', columns: ['amount', 'city'] },
    ],
  };
  const tables = { staff: 'no;name;city\nA-1;"Ada; L";Kiel\nb2;Bo;\n' };
  const { text, outcome } = await applyTemplate(template, 'Id,amount\na1,5\nB2,6\nc,7\n', 4096, tables);
  t.equal(text, 'amount,city\n5,Kiel\n6,\n7,\n');
  t.same(Object.keys(outcome.report.tables), ['people']);
  const wrong = { ...template, operations: [{ op: 'join', table: 'people', on: [{ left: 'Id', right: 'nr' }] }] };
  const failed = await applyTemplate(wrong, 'Id\n1\n', 4096, tables);
  t.match(failed.outcome.failure, { code: 'TEMPLATE_CHECK_FAILED', message: /no column "nr"/ });
});

test('lookup in expressions: by the first column, by any, with keys that are values', async (t) => {
  const template = {
    tables: { rates: { ref: 'rates' } },
    operations: [
      { op: 'filter', where: 'lookup("rates", c, "rate") != null' },
      { op: 'cast', columns: { n: 'integer' } },
      {
        op: 'set',
        columns: {
          rate: 'lookup("rates", c, "rate")',
          code: 'lookup("rates", "no", n, "code")',
          none: 'coalesce(lookup("rates", "", "rate"), "no")',
        },
      },
    ],
  };
  const tables = { rates: 'code,rate,no\nEUR,1.00,7\nCHF,0.95,8\nEUR,2,7\nUSD,,9\n' };
  for (const size of [1, 4096]) {
    const { text, outcome } = await applyTemplate(template, 'c,n\nCHF,7\nUSD,8\nEUR,9\nX,1\n', size, tables);
    t.equal(outcome.failure, null);
    t.equal(text, 'c,n,rate,code,none\nCHF,7,0.95,EUR,no\nEUR,9,1.00,USD,no\n');
  }
  const wrong = { ...template, operations: [{ op: 'set', columns: { x: 'lookup("rates", c, "rat")' } }] };
  const { outcome } = await applyTemplate(wrong, 'c\nX\n', 4096, tables);
  t.match(outcome.failure, { code: 'TEMPLATE_CHECK_FAILED', message: /no column "rat".*"rate"/ });
});
