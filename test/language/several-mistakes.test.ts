// Several mistakes in one Template: each is reported, except those that only follow from another mistake.
import { test } from 'tap';
import { problemsOf } from '../workers/template/check-problems.ts';

test('an invalid pattern and an invalid zone are both reported, but not their consequences', (t) => {
  const source =
    'operations: [{parse_date: {columns: a, formats: [YYYY], timezone: Mars/X}}, {set: {columns: {y: year(a)}}}]';
  const found = problemsOf(source).map(({ pointer, code }) => `${pointer} ${code}`);
  t.strictSame(found, [
    '/operations/0/parse_date/formats/0 BAD_PATTERN',
    '/operations/0/parse_date/timezone UNKNOWN_ZONE',
  ]);
  t.end();
});

test('consequences of a mistake are not reported, other mistakes are', (t) => {
  const told = (operations: string): string[] =>
    problemsOf(`operations: [${operations}]`).map(({ pointer, code }) => `${pointer} ${code}`);
  t.strictSame(
    told('{prse_number: {columns: a}}, {filter: {where: a > 5}}, {round: {columns: [a]}}, {filter: {where: b > 5}}'),
    ['/operations/0 UNKNOWN_OPERATION', '/operations/3/filter/where EXPR_TYPE'],
  );
  t.strictSame(
    told(
      '{select: {columns: [a]}}, {set: {columns: {x: "amunt * decimal(a)"}}}, {filter: {where: x > 5}}, {drop: {columns: [amunt]}}, {round: {columns: a}}',
    ),
    [
      '/operations/1/set/columns/x UNKNOWN_COLUMN',
      '/operations/3/drop/columns/0 UNKNOWN_COLUMN',
      '/operations/4/round/columns WRONG_TYPE',
    ],
  );
  t.strictSame(
    told('{aggregate: {group_by: a, metrics: [{fn: sum, column: b}]}}, {sort: {by: sum_b}}, {sort: {by: column}}'),
    ['/operations/0/aggregate/metrics/0 WRONG_TYPE', '/operations/2/sort/by UNKNOWN_COLUMN'],
  );
  t.end();
});

test('a broken section hides no mistake of an operation', (t) => {
  const source =
    'input: {columns: Betrag}\noutput: {format: excel}\noperations: [{filter: {where: "a >"}}, {slise: {}}]';
  const found = problemsOf(source).map(({ pointer, code }) => `${pointer} ${code}`);
  t.strictSame(found, [
    '/input/columns BAD_TYPE',
    '/output/format BAD_VALUE',
    '/operations/0/filter/where EXPR_SYNTAX',
    '/operations/1 UNKNOWN_OPERATION',
  ]);
  t.end();
});
