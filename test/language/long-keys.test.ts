// Cells whose normal form is longer than a cell may be: a ligature of Arabic becomes 18 letters. Their keys are their own texts.
// With all tests only: work and memory of large inputs.
import { test } from 'tap';
import { applyTemplate } from '../workers/apply-template.ts';

/** Its normal form has 33 bytes for each of its 3. */
const LIGATURE = '\uFDFA';
const LETTERS = 128_000;

const [long, other] = [LIGATURE.repeat(LETTERS), LIGATURE.repeat(LETTERS + 1)];
const input = `k,n\n${long},1\n${other},2\n${long},3\nx,4\n`;

/** The cells of one column after the operation, one to a line. */
async function columnAfter(
  column: string,
  operation: object,
  tables: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const names = Object.fromEntries(Object.keys(tables).map((name) => [name, { ref: name }]));
  const { outcome, text } = await applyTemplate(
    { tables: names, operations: [operation, { op: 'select', columns: [column] }] },
    input,
    4096,
    tables,
  );
  return outcome.failure?.code ?? text;
}

test('dedupe', async (t) => {
  t.equal(await columnAfter('n', { op: 'dedupe', by: 'k', match: 'normal' }), 'n\n1\n2\n4\n');
});

test('rules of validate', async (t) => {
  const rules = [{ column: 'k', check: 'unique', match: 'normal' }];
  t.equal(await columnAfter('n', { op: 'validate', rules, on_error: 'drop_row' }), 'n\n1\n2\n4\n');
});

test('map_values from a table', async (t) => {
  const tables = { t: `k,v\n${long},a\n${other},b\nx,c\n` };
  const mapping = { op: 'map_values', columns: 'k', table: 't', key: 'k', value: 'v', match: 'normal', into: 'v' };
  t.equal(await columnAfter('v', mapping, tables), 'v\na\nb\na\nc\n');
});

test('join', async (t) => {
  const tables = { t: `k,v\n${long},a\n${other},b\nx,c\n` };
  const join = { op: 'join', table: 't', on: [{ left: 'k', right: 'k', match: 'normal' }], type: 'inner' };
  t.equal(await columnAfter('n', join, tables), 'n\n1\n2\n3\n4\n');
});
