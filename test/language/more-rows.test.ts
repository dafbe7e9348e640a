// sample and append_rows: the rows of the output and their cells.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';
import { golden } from './golden.ts';

golden('a join by keys that the file lacks', [
  {
    name: 'is left out when nothing is left to join by',
    template: 'tables: {t: {ref: t}}\noperations: [{join: {table: t, on: z, if_missing: skip}}]',
    tables: { t: 'z,q\n1,2\n' },
    input: 'a,b\ny,1\n',
    output: 'a,b\ny,1\n',
  },
  {
    name: 'goes by the others',
    template: 'tables: {t: {ref: t}}\noperations: [{join: {table: t, on: [z, a], if_missing: skip}}]',
    tables: { t: 'z,a,q\n1,y,2\n' },
    input: 'a,b\ny,1\nx,2\n',
    output: 'a,b,z,q\ny,1,1,2\nx,2,,\n',
  },
  {
    name: 'keeps all rows as semi too',
    template: 'tables: {t: {ref: t}}\noperations: [{join: {table: t, on: z, type: semi, if_missing: skip}}]',
    tables: { t: 'z,q\n1,2\n' },
    input: 'a,b\ny,1\n',
    output: 'a,b\ny,1\n',
  },
]);

golden('append_rows', [
  {
    name: 'rows of the Template come last, numbers as numbers, before sorting and limits after them',
    template: `operations:
  - parse_number: {columns: [n], type: integer}
  - append_rows: {rows: [{n: 2, t: two}, {n: "40"}]}
  - sort: {by: [{column: n, order: desc}]}
  - slice: {limit: 3}`,
    input: 't,n\na,1\nb,3\n',
    output: 't,n\n,40\nb,3\ntwo,2\n',
  },
  {
    name: 'to no rows at all',
    template: 'operations: [{append_rows: {rows: [{a: x}]}}]',
    input: 'a,b\n',
    output: 'a,b\nx,\n',
  },
  {
    name: 'also after a limit, which is about the rows before it',
    template: 'operations: [{slice: {limit: 1}}, {append_rows: {rows: [{a: x}]}}]',
    input: 'a\n1\n2\n',
    output: 'a\n1\nx\n',
  },
  {
    name: 'a table, by the names of its columns',
    template: 'tables: {more: {ref: more}}\noperations: [{append_rows: {table: more}}]',
    input: 'a,b\n1,2\n',
    tables: { more: 'b,a\n4,3\n6,\n' },
    output: 'a,b\n1,2\n3,4\n,6\n',
  },
  {
    name: 'a table with a column that is not there',
    template: 'tables: {more: {ref: more}}\noperations: [{append_rows: {table: more}}]',
    input: 'a\n1\n',
    tables: { more: 'a,z\n4,3\n' },
    error:
      'TEMPLATE_CHECK_FAILED: The table has the column "z", which does not exist at this step. (operation 1 append_rows (line 1, /operations/0))',
  },
  {
    name: 'a table with a text where a number must be',
    template:
      'tables: {more: {ref: more}}\noperations: [{cast: {columns: {a: integer}}}, {append_rows: {table: more}}]',
    input: 'a\n1\n',
    tables: { more: 'a\n2\nx\n' },
    error: 'TEMPLATE_CHECK_FAILED: The reference table "more" has an invalid integer in row 2, column "a".',
  },
  {
    name: 'values that do not fit, columns that are gone',
    template:
      'operations: [{cast: {columns: {a: integer}}}, {drop: {columns: [b]}}, {append_rows: {rows: [{a: x}, {b: 1}]}}]',
    problems: ['/operations/2/append_rows/rows/0/a BAD_VALUE', '/operations/2/append_rows/rows/1/b UNKNOWN_COLUMN'],
  },
]);

golden('sample every', [
  {
    name: 'as Miller decimates: mlr decimate -n 3',
    template: 'operations: [{filter: {where: n != "2"}}, {sample: {every: 3}}]',
    input: 'n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n',
    output: 'n\n4\n7\n',
  },
  { name: 'of fewer', template: 'operations: [{sample: {every: 3}}]', input: 'n\n1\n2\n', output: 'n\n' },
]);

const ROWS = 20_000;
const INPUT = `n,x\n${Array.from({ length: ROWS }, (_, n) => `${n},${n % 7}`).join('\n')}\n`;

async function sampled(operation: object, batchRows = 4096): Promise<number[]> {
  const { text } = await applyTemplate({ operations: [{ op: 'sample', ...operation }] }, INPUT, batchRows);
  return text!
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => Number(line.split(',')[0]));
}

test('a number of rows and a fraction', async (t) => {
  const fixed = await sampled({ n: 1000 });
  t.equal(fixed.length, 1000);
  t.equal(new Set(fixed).size, 1000);
  t.same(
    fixed,
    fixed.toSorted((a, b) => a - b),
    'in their order',
  );
  t.same(await sampled({ n: 1000 }, 77), fixed, 'whatever the batches');
  t.ok((await sampled({ n: 1000, seed: 1 })).filter((n) => fixed.includes(n)).length < 200, 'another seed, other rows');
  t.equal((await sampled({ n: ROWS * 2 })).length, ROWS);
  const tenth = await sampled({ fraction: 0.1 });
  t.ok(Math.abs(tenth.length - ROWS / 10) < 5 * Math.sqrt(ROWS * 0.09), `${tenth.length} of ${ROWS}`);
  t.same(await sampled({ fraction: 0.1 }, 1), tenth);
  t.equal((await sampled({ fraction: 1 })).length, ROWS);
  // Rows are chosen uniformly: half of them from the first half, within five standard deviations.
  for (const rows of [fixed, tenth]) {
    const half = rows.filter((n) => n < ROWS / 2).length;
    t.ok(Math.abs(half - rows.length / 2) < 2.5 * Math.sqrt(rows.length), `${half} of ${rows.length}`);
  }
});

golden('sort by alphabets and lists', [
  {
    name: 'with a language, descending, and of groups',
    template: `operations:
  - top: {n: 2, by: [{column: name, order: desc, compare: {locale: sv}}], group_by: g}`,
    input: 'g,name\n1,zebra\n1,öga\n2,ål\n1,apa\n2,ärta\n2,\n',
    output: 'g,name\n1,öga\n2,ärta\n2,ål\n1,zebra\n',
  },
  {
    name: 'values of a list, regardless of cells of other kinds',
    template: 'operations: [{sort: {by: [{column: v, nulls: first, compare: {order: ["2", "1"]}}]}}]',
    input: 'v\n1\nx\n\n2\n',
    output: 'v\n""\n2\n1\nx\n',
  },
  {
    name: 'parsed columns have their own order',
    template: `operations:
  - cast: {columns: {n: integer}}
  - sort: {by: [{column: n, compare: {order: [a]}}, {column: n, compare: {locale: de}}]}`,
    problems: ['/operations/1/sort/by/0/compare WRONG_TYPE', '/operations/1/sort/by/1/compare WRONG_TYPE'],
  },
]);
