// Hints for operation names of other languages can be used unchanged: the suggested operation and its parameters exist.
import { test } from 'tap';
import { operationTable } from '../../workers/operations/index.ts';
import { problemsOf } from '../workers/template/check-problems.ts';

test('each suggestion names existing parameters, including all required ones', async (t) => {
  for (const { name, knownAs = [] } of operationTable.values()) {
    for (const { form } of knownAs) {
      if (form === null) continue;
      const problems = problemsOf(`operations: [{${name}: {${form.replaceAll('[{...}]', '[{a: b}]')}}}]`);
      const wrong = problems.filter(({ code }) => code === 'UNKNOWN_PARAMETER' || code === 'MISSING_PARAMETER');
      t.strictSame(wrong, [], `{${name}: {${form}}}`);
    }
  }
});

test('a step, metric, check, function or setting used as an operation is shown in its proper place', async (t) => {
  const told = (name: string): string => problemsOf(`operations: [{${name}: {}}]`)[0]?.message ?? '';
  t.match(told('sentence'), /\{text: \{columns: \.\.\., steps: \[sentence\]\}\}/);
  t.match(told('Median'), /\{aggregate: .*\{fn: median, column: \.\.\.\}/);
  t.match(told('running_sum'), /\{window: .*\{fn: running_sum, /);
  t.match(told('iban'), /\{validate: \{rules: \[\{column: \.\.\., check: iban\}\]\}\}/);
  t.match(told('year'), /Expressions have year\(date\): write \{set: /);
  t.match(told('datediff'), /If it is for an expression, .* Write days_between\(a, b\)/);
  t.match(told('promote_headers'), /a setting of the Template, beside operations: input: \{header_row: \.\.\.\}/);
});

test('a value used as a key is shown after its own key', async (t) => {
  const told = (operation: string): readonly string[] =>
    problemsOf(`operations: [{${operation}}]`).map(({ message }) => message);
  for (const [operation, message] of [
    ['aggregate: {group_by: a, metrics: [{count: n}]}', 'Unknown key "count". Write fn: count.'],
    ['sort: {by: [{column: a, ascending: false}]}', 'Unknown key "ascending". Write order: desc.'],
    ['sort: {by: [{column: a, desc: false}]}', 'Unknown key "desc". Write order: asc.'],
    ['sort: {by: [{column: a, descending: true}]}', 'Unknown key "descending". Write order: desc.'],
    ['filter: {where: "a == 1", keep: false}', 'Unknown parameter "keep" of filter.'],
    ['aggregate: {group_by: a, metrics: [{avg: b}]}', 'Unknown key "avg". Write fn: mean.'],
    ['validate: {rules: [{column: a, not_blank: true}]}', 'Unknown key "not_blank". Write check: required.'],
    ['sort: {by: [{column: a, desc: true}]}', 'Unknown key "desc". Write order: desc.'],
    ['window: {columns: [{fn: rank, lead: x}]}', /^Unknown key "lead"\. Known: /],
    ['aggregate: {group_by: a, metrics: [{fn: count, total: x}]}', /^Unknown key "total"\. Known: /],
  ] as const) {
    const messages = told(operation);
    t.equal(messages.length, 1, messages.join('\n'));
    t.match(messages[0], message);
  }
});
