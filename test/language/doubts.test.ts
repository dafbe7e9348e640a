// Names in an expression that may have another meaning than intended: reported with the type problem that they cause, otherwise
// as a note.
import { test } from 'tap';
import { explainTemplate } from '../../workers/plan/explain.ts';
import { problemsOf, sound } from '../workers/template/check-problems.ts';

const notesOf = (operations: string): string[] =>
  explainTemplate(sound(`operations: ${operations}`)).notes.map(({ pointer, message }) => `${pointer} ${message}`);

const told = (operations: string): string[] => problemsOf(`operations: ${operations}`).map(({ message }) => message);

const VALUE = '[{copy: {from: a, to: value}}, ';

test('value is the cell at hand, also where a column has its name', async (t) => {
  t.match(notesOf(`${VALUE}{set: {columns: {x: 'value + "!"'}}}]`), [
    /^\/operations\/1\/columns\/x value is the cell of "x" here\. Write row\["value"\]/,
  ]);
  t.match(told(`${VALUE}{cast: {columns: {b: decimal}}}, {set: {columns: {x: value < b}}}]`), [
    /^< does not take string and decimal\. .* value is the cell of "x" here\. Write row\["value"\]/,
  ]);
  t.strictSame(notesOf(`${VALUE}{set: {columns: {x: 'row["value"]', value: value + "!"}}}]`), []);
  t.strictSame(notesOf(`[{set: {columns: {x: 'value + "!"'}}}]`), [], 'no column has its name');
});

test('an expression sees the row of the input, not the results of its neighbours', async (t) => {
  const operations = (expression: string): string =>
    `[{cast: {columns: {net: decimal}}}, {set: {columns: {rate: 'net * 2', x: '${expression}'}}}]`;
  t.match(told(operations('net * rate')), [
    /^\* does not take decimal and string\. .* "rate" is the column as it was before this operation/,
  ]);
  t.match(notesOf(operations('rate + "!"')), [
    /^\/operations\/1\/columns\/x "rate" is the column as it was before this operation/,
  ]);
  t.strictSame(notesOf(operations('"rate" + string(net)')), [], 'a text is no name');
  t.strictSame(notesOf(`[{set: {columns: {a: a.trim(), b: 'a + "!"', c: value.trim(), d: c}}}]`), [], 'edits in place');
});

test('on_error decides about a row', async (t) => {
  t.match(told("[{extract: {column: a, pattern: '(?P<b>.)', into: {b: b}, on_no_match: flag}}]"), [
    /Write "error", and on_error: flag\./,
  ]);
});
