// One output that is split into the files of a ZIP archive: rows, names, limits, all formats, and the folder that the command
// writes.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { FileNames, nameOfFile, SPLIT_FILES_MAX, safeFileName } from '../../../workers/run/output-files.ts';
import { cli } from '../../src/commands/command-line.ts';
import { applyTemplate } from '../apply-template.ts';
import { partOf } from '../output/read-workbook.ts';

const CLI = new URL('../../../src/cli.js', import.meta.url).pathname;

const INPUT = 'no,country,amount\n1,DE,2.5\n2,FR,1\n3,,7\n4,DE,3\n5,a/b,4\n6,A_B,5\n';
const CSV = { csv: { delimiter: ',', header_row: 0 } };

/** Names in the central directory of an archive, in order. */
function namesIn(archive: Buffer): string[] {
  const names: string[] = [];
  for (let at = archive.indexOf('PK\u0001\u0002'); at >= 0; at = archive.indexOf('PK\u0001\u0002', at + 4)) {
    names.push(archive.toString('utf8', at + 46, at + 46 + archive.readUInt16LE(at + 28)));
  }
  return names;
}

test('each file has the rows of its cells, in their order, for all batch sizes and with rows in files', async (t) => {
  const template = { input: CSV, output: { format: 'csv', split_by: ['country'], columns: ['no', 'amount'] } };
  const archives: string[] = [];
  for (const [batchRows, spills] of [
    [1, false],
    [2, false],
    [4096, false],
    [4096, true],
  ] as const) {
    const { bytes, outcome } = await applyTemplate(template, INPUT, batchRows, {}, { spills });
    t.match(outcome, { failure: null, rowsWritten: 6, output: { mimeType: 'application/zip', ending: 'zip' } });
    archives.push(bytes!.toString('latin1'));
    t.same(namesIn(bytes!), ['A_B.csv', 'DE.csv', 'FR.csv', 'a_b (2).csv', 'empty.csv']);
    t.equal(partOf(bytes!, 'DE.csv'), 'no,amount\n1,2.5\n4,3\n');
    t.equal(partOf(bytes!, 'A_B.csv'), 'no,amount\n6,5\n');
    t.equal(partOf(bytes!, 'a_b (2).csv'), 'no,amount\n5,4\n');
    t.equal(partOf(bytes!, 'empty.csv'), 'no,amount\n3,7\n');
  }
  t.equal(new Set(archives).size, 1, 'the same bytes');
});

test('all formats, typed columns in names, and an output without rows', async (t) => {
  for (const format of ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet']) {
    const output = { format, split_by: ['country', 'amount'], file_name: 'x {amount} {country}' };
    const template = { input: CSV, operations: [{ op: 'cast', columns: { amount: 'decimal' } }], output };
    const { bytes, outcome } = await applyTemplate(template, 'country,amount\nDE,2.50\nDE,2.5\nFR,1\n');
    t.equal(outcome.failure, null);
    t.same(
      namesIn(bytes!).filter((name) => name.startsWith('x ')),
      [`x 2.50 DE.${format}`, `x 1 FR.${format}`],
      format,
    );
  }
  const { bytes } = await applyTemplate({ input: CSV, output: { split_by: ['country'] } }, 'country\n');
  t.same(namesIn(bytes!), [], 'no rows, no files');
});

test('the number of files is limited', async (t) => {
  const rows = (count: number): string => `k\n${Array.from({ length: count }, (_, row) => `${row}\n`).join('')}`;
  const template = { input: CSV, output: { split_by: ['k'] } };
  const { outcome } = await applyTemplate(template, rows(SPLIT_FILES_MAX + 1));
  t.match(outcome.failure, { code: 'RUN_RESOURCE_LIMIT', message: /more than 1000 files/ });
  const most = await applyTemplate({ ...template, output: { format: 'xlsx', split_by: ['k'] } }, rows(SPLIT_FILES_MAX));
  t.equal(most.outcome.failure, null);
  t.equal(namesIn(most.bytes!).filter((name) => name.endsWith('.xlsx')).length, SPLIT_FILES_MAX);
});

test('many files need no more memory than one', async (t) => {
  const rows = Array.from({ length: 600 }, (_, row) => `${row},${'text '.repeat(row % 7 === 0 ? 2000 : 1)}\n`);
  for (const format of ['csv', 'json', 'xlsx', 'parquet']) {
    const template = { input: CSV, output: { format, split_by: ['k'] } };
    const { bytes, outcome } = await applyTemplate(template, `k,text\n${rows.join('')}`, 4096, {}, { spills: true });
    t.equal(outcome.failure, null, format);
    t.equal(namesIn(bytes!).filter((name) => name.endsWith(`.${format}`)).length, rows.length, format);
  }
});

test('a row with an error decides before an output that is too large', async (t) => {
  const operations = [{ op: 'cast', columns: { a: 'integer' } }];
  const template = { input: CSV, operations, output: { split_by: ['a'] } };
  for (const batchRows of [1, 4096]) {
    const text = `a,b\n${'1,x\n'.repeat(10)}z,x\n${Array.from({ length: 2_000 }, (_, row) => `${row},x\n`).join('')}`;
    const { outcome } = await applyTemplate(template, text, batchRows);
    t.match(outcome.failure, { code: 'TEMPLATE_ROW_ERROR', place: { row: 11 } });
  }
});

test('names are safe on all systems', async (t) => {
  for (const [text, name] of [
    ['../../etc/passwd', '_._.._etc_passwd'],
    ['C:\\x?*"<>|', 'C__x______'],
    ['con', '_con'],
    ['NUL.txt', '_NUL.txt'],
    ['console', 'console'],
    ['.hidden', '_hidden'],
    ['a. . ', 'a'],
    ['', 'empty'],
    ['...', '_'],
    ['a\u202Eb\u0000c\n', 'a_b_c_'],
    ['e\u0301', 'é'],
    ['con .x', '_con .x'],
    [`aux${' '.repeat(200)}x`, '_aux'],
    [`a${' '.repeat(200)}x`, 'a'],
  ] as const)
    t.equal(safeFileName(text), name, JSON.stringify(text));
  t.ok(Buffer.byteLength(safeFileName('💶'.repeat(200))) <= 120);
  const names = new FileNames('csv');
  t.same(
    ['Ab', 'aB', 'ab', 'AB (2)', 'straße', 'STRASSE'].map((text) => names.add(text)),
    ['Ab.csv', 'aB (2).csv', 'ab (3).csv', 'AB (2) (2).csv', 'straße.csv', 'STRASSE (2).csv'],
  );
  t.equal(nameOfFile('{a}_{b}_{c}', ['a', 'b'], ['{b}', '2']), '{b}_2_{c}');
  t.equal(nameOfFile(null, ['a', 'b'], ['1', '2']), '1-2');
});

test('mistakes in split_by and file_name', async (t) => {
  const refused = async (output: object, pattern: RegExp, operations: object[] = []): Promise<void> => {
    await t.rejects(applyTemplate({ input: CSV, operations, output }, INPUT), pattern);
  };
  await refused({ file_name: 'x' }, /\/output\/file_name UNUSED_PARAMETER/);
  await refused(
    { split_by: ['no'], file_name: '{country}' },
    /\/output\/file_name BAD_VALUE "country" is not in split_by/,
  );
  await refused({ split_by: ['b'] }, /\/output\/split_by\/0 UNKNOWN_COLUMN/, [{ op: 'select', columns: ['no'] }]);
  await refused({ split_by: ['b'] }, /\/output\/split_by NOT_LAST/, [{ op: 'transpose', header_from: 'no' }]);
  await refused({ split_by: ['no', 'no'] }, /\/output\/split_by \S+ The list names something twice/);
  const { outcome } = await applyTemplate({ input: CSV, output: { split_by: ['absent'] } }, INPUT);
  t.match(outcome.failure, { code: 'TEMPLATE_COLUMNS_MISSING', columns: ['absent'] });
});

test('the command writes a folder, or the archive where a file is named', async (t) => {
  const at = (name: string): string => join(folder, name);
  const folder = t.testdir({
    'split.yaml': 'format: 1\noutput: {split_by: [country], file_name: "x-{country}"}\n',
    'orders.csv': INPUT,
    more: { 'orders.csv': 'no,country,amount\n1,IT,2\n' },
  });
  mkdirSync(at('made'));
  const run = await cli('run', at('split.yaml'), at('orders.csv'), '-o', at('made'));
  t.equal(run.status, 0, run.stderr);
  t.same(readdirSync(at('made/orders')).sort(), ['x-A_B.csv', 'x-DE.csv', 'x-FR.csv', 'x-a_b (2).csv', 'x-empty.csv']);
  t.equal(readFileSync(at('made/orders/x-DE.csv'), 'utf8'), 'no,country,amount\n1,DE,2.5\n4,DE,3\n');
  const again = await cli('run', at('split.yaml'), at('orders.csv'), '-o', at('made'));
  t.equal(again.status, 0, 'files are replaced');
  const file = await cli('run', at('split.yaml'), at('orders.csv'), '-o', at('all.zip'));
  t.equal(file.status, 0, file.stderr);
  t.equal(namesIn(readFileSync(at('all.zip'))).length, 5);
  t.notMatch(file.stderr, /note:/);
  const named = await cli('run', at('split.yaml'), at('orders.csv'), '-o', at('all.csv'));
  t.match(
    named.stderr,
    /^note: \S+all\.csv will contain a zip archive, because output\.split_by makes several files\.\n/,
  );
  const explained = await cli('template', 'explain', at('split.yaml'));
  t.match(
    explained.stdout,
    /One file for each "country", in a ZIP archive\.\nDoes not stream: the output needs all rows\./,
  );
  // The file of a value would be the input.
  mkdirSync(at('made/x-DE'));
  writeFileSync(at('made/orders/x-DE.csv'), INPUT);
  mkdirSync(at('x-DE'));
  writeFileSync(at('x-DE/x-DE.csv'), INPUT);
  const own = await cli('run', at('split.yaml'), at('x-DE/x-DE.csv'), '-o', `${folder}/`);
  t.match(own, { status: 2, stderr: /which this command reads|is read by this command/ });
  t.equal(readFileSync(at('x-DE/x-DE.csv'), 'utf8'), INPUT);
});

test('the command writes many files without a warning', async (t) => {
  const folder = t.testdir({ 'split.yaml': 'format: 1\noutput: {split_by: [k]}\n' });
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('rows.csv'), `k,v\n${Array.from({ length: 30 }, (_, row) => `${row},x\n`).join('')}`);
  const run = spawnSync(process.execPath, [CLI, 'run', at('split.yaml'), at('rows.csv'), '-o', at('made/')]);
  t.match(run.stderr.toString(), /^\S+rows\.csv: 30 rows read, 30 written in [^\n]+\n$/);
  t.equal(readdirSync(at('made/rows')).length, 30);
});

test('the command prints one table, and writes no file outside its folder', async (t) => {
  const folder = t.testdir({ 'split.yaml': 'format: 1\noutput: {split_by: [country]}\n', 'orders.csv': INPUT });
  const at = (name: string): string => join(folder, name);
  const table = await cli('run', at('split.yaml'), at('orders.csv'), '--to', 'table');
  t.equal(table.status, 0, table.stderr);
  t.equal(table.stdout.trimEnd().split('\n').length, 7, 'a header and six rows');
  for (const name of ['...csv', '..csv']) {
    writeFileSync(at(name), INPUT);
    mkdirSync(at(`made-${name}`));
    const run = await cli('run', at('split.yaml'), at(name), '-o', at(`made-${name}`));
    t.equal(run.status, 0, run.stderr);
    t.equal(readdirSync(at(`made-${name}`)).length, 1, `${name} gets a folder of its own`);
  }
  t.same(readdirSync(folder).sort(), ['...csv', '..csv', 'made-...csv', 'made-..csv', 'orders.csv', 'split.yaml']);
});
