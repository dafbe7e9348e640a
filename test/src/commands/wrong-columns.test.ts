// A file that does not have the columns of the Template: `run` ends at once, and says how the file may have to be read.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-run-wrong-columns-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const EXPORT = 'List of orders\nprinted on Monday\n\nid;customer;amount\n1;Ann;2\n2;Bob;3\n';

/** What `run` writes to standard error for a file and the `input` section of a Template. */
async function complaint(input: string, file: string, ...flags: readonly string[]): Promise<string> {
  const [template, data] = [join(folder, 'template.yaml'), join(folder, 'data.csv')];
  writeFileSync(template, `format: 1\ninput: ${input}\noperations: []\noutput: {format: csv}\n`);
  writeFileSync(data, file);
  const { status, stderr } = await cli('run', template, data, ...flags);
  t.equal(status, 1);
  return stderr.replaceAll(folder, '');
}

t.test('a declared delimiter or header row that is wrong', async (t) => {
  const hint = 'With delimiter ";" and header row 3, the file has the columns: "id", "customer", "amount".';
  for (const [input, ...flags] of [
    ['{columns: [id, amount], csv: {delimiter: ","}}'],
    ['{columns: [id, amount], csv: {header_row: 1}}'],
    ['{columns: [id, amount], csv: {header_row: 1, header_rows: 2}}'],
    // Not all columns, but more than those that were found.
    ['{columns: [order_id, amount], csv: {delimiter: ","}}'],
    ['{columns: [id, amount]}', '--delimiter', ','],
  ] as const) {
    const text = await complaint(input, EXPORT, ...flags);
    // A row that is declared as the header has no delimiter.
    t.match(text, /^(?:TEMPLATE_COLUMNS_MISSING: The file lacks columns|MALFORMED_FILE: The header row and)/, input);
    t.match(text, ` ${hint}\n`, `${input}: ${text}`);
  }
});

t.test('nothing is suggested that would not help', async (t) => {
  for (const [input, file] of [
    // The file is another one.
    ['{columns: [price, date], csv: {delimiter: ";"}}', EXPORT],
    // As it is detected.
    ['{columns: [id, price]}', EXPORT],
    ['{columns: [id, price], csv: {delimiter: ",", header_row: 0}}', 'id,amount\n1,2\n'],
    // A declared delimiter is right, and the file is broken.
    ['{columns: [id, amount], csv: {delimiter: ","}}', 'id,amount\n1,"2\n'],
    // Not text.
    ['{columns: [id, price], csv: {delimiter: ","}}', '{"id": 1, "amount": 2}\n'],
  ] as const) {
    const text = await complaint(input, file);
    t.match(text, /^(?:TEMPLATE_COLUMNS_MISSING|MALFORMED_FILE): /, input);
    t.notMatch(text, 'the file has the columns', input);
  }
});

t.test('the rest of a wrong file is not read', async (t) => {
  // A row that is not valid, after the rows that are read at once.
  const file = `a,b\n${'1,2\n'.repeat(200_000)}"`;
  const text = await complaint('{columns: [price]}', file);
  t.match(text, 'TEMPLATE_COLUMNS_MISSING: ');
  t.match(text, 'failed after 0 rows');
});
