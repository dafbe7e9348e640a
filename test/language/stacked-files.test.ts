// Files that are read one after the other: the files of an archive (input.archive_files), and several inputs of `run`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runTemplate } from '../../src/library/run-template.ts';
import { cli } from '../src/commands/command-line.ts';
import { applyTemplate } from '../workers/apply-template.ts';
import { workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { golden } from './golden.ts';

const NAMED = 'other_columns: drop, columns: [id, v]';
const stack = (settings = NAMED, ...operations: readonly string[]): string =>
  `input: {archive_files: "*.csv", ${settings}}\noperations: [${operations.map((one) => `{${one}}`).join(', ')}]`;
const WITH_FILE = 'set: {columns: {file: run.file, n: run.row}}';
const zip = (files: Readonly<Record<string, string | Buffer>>): Buffer =>
  zipOf(Object.entries(files).map(([name, content]) => ({ name, content })));

golden('the files of an archive', [
  {
    name: 'are read in the order of their paths, whatever their dialects and the order of their columns',
    template: stack(NAMED, WITH_FILE),
    input: zip({
      'x/b.csv': 'v;id\n"c;d";3\n',
      'readme.txt': '',
      'A.CSV': 'id,v\n1,a\n2,b\n',
      'c.csv': 'id\tv\tw\n4\te\tf\n',
    }),
    output: 'id,v,file,n\n1,a,A.CSV,1\n2,b,A.CSV,2\n4,e,c.csv,3\n3,c;d,b.csv,4\n',
  },
  {
    name: 'keep their names through a sort, and added rows have none',
    template: stack(
      NAMED,
      'sort: {by: [{column: id, order: desc}]}',
      'append_rows: {rows: [{id: "0"}]}',
      'set: {columns: {file: run.file}}',
    ),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': 'id,v\n2,b\n' }),
    output: 'id,v,file\n2,b,b.csv\n1,a,a.csv\n0,,\n',
  },
  {
    name: 'may have other headers of the same column, and lack an optional column',
    template: stack('other_columns: drop, columns: [{name: id, match: [Nr]}, {name: v, required: false}]'),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': 'x,Nr\ny,2\n' }),
    output: 'id,v\n1,a\n2,\n',
  },
  {
    name: 'may have an optional column that the first one lacks',
    template: stack('other_columns: drop, columns: [{name: v, match: [w], required: false}, {name: id}]'),
    input: zip({ 'a.csv': 'id,x\n1,a\n', 'b.csv': 'x,id,W\ny,2,b\n', 'c.csv': 'id\n3\n' }),
    output: 'v,id\n,1\nb,2\n,3\n',
  },
  {
    name: 'must have the same columns if the Template takes others',
    template: stack('other_columns: keep'),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': 'id,w\n2,b\n' }),
    error:
      'TEMPLATE_COLUMNS_MISSING: The file has a different header than the first file that is read: files that are read one after the other must have the same columns, in any order. Name the columns that the Template needs (input.columns with other_columns: drop). (File 2.)',
  },
  {
    name: 'must have the columns that the Template needs',
    template: stack(),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': 'id,w\n2,b\n' }),
    error: 'TEMPLATE_COLUMNS_MISSING',
  },
  {
    name: 'none of which matches',
    template: stack().replace('*.csv', '*.xml'),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': '' }),
    error:
      'UNSUPPORTED_FILE_TYPE: The file is a ZIP archive in which no file of 2 match "*.xml" (input.archive_files).',
  },
  {
    name: 'one of which is empty',
    template: stack(),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': '' }),
    error: 'MALFORMED_FILE: The file in the archive is empty. (File 2.)',
  },
  {
    name: 'a row with an error has the number of its file',
    template: stack(NAMED, 'parse_number: {columns: id}'),
    input: zip({ 'a.csv': 'id,v\n1,a\n2,b\n', 'b.csv': 'id,v\n3,c\nx,d\n' }),
    error:
      'TEMPLATE_ROW_ERROR: Operation 1 parse_number (line 1, /operations/0), column "id": NOT_A_NUMBER in row 4 of the data. (File 2, row 2 of its data.)',
  },
  {
    name: 'a list of encodings is tried for each file',
    template: stack(`${NAMED}, csv: {encoding: [utf-8, windows-1252]}`),
    input: zip({
      'a.csv': 'id,v\n1,ä\n',
      'b.csv': Buffer.from(`id,v\n${'2,x\n'.repeat(20_000)}3,\xe4\n`, 'latin1'),
      'c.csv': 'id,v\n4,ü\n',
    }),
    output: `id,v\n1,ä\n${'2,x\n'.repeat(20_000)}3,ä\n4,ü\n`,
  },
  {
    name: 'have their own values above the table',
    template: stack(`${NAMED}, preamble: {iban: {pattern: "IBAN (.*)"}}`, 'set: {columns: {iban: run.meta.iban}}'),
    input: zip({ 'a.csv': 'IBAN 1\nid,v\n1,a\n', 'b.csv': 'IBAN 2\nid,v\n2,b\n' }),
    output: 'id,v,iban\n1,a,1\n2,b,2\n',
  },
  {
    name: 'one of which lacks such a value',
    template: stack(`${NAMED}, preamble: {iban: {pattern: "IBAN (.*)"}}`, 'set: {columns: {iban: run.meta.iban}}'),
    input: zip({ 'a.csv': 'IBAN 1\nid,v\n1,a\n', 'b.csv': 'id,v\n2,b\n' }),
    error: 'TEMPLATE_CHECK_FAILED: The file has no value for input.preamble.iban. (File 2.)',
  },
  {
    name: 'lines above the output need the same values in all files',
    template: `${stack(`${NAMED}, preamble: {iban: {pattern: "IBAN (.*)"}}`)}\noutput: {csv: {preamble: [["{run.meta.iban}"]]}}`,
    input: zip({ 'a.csv': 'IBAN 1\nid,v\n1,a\n', 'b.csv': 'IBAN 2\nid,v\n2,b\n' }),
    error: 'TEMPLATE_CHECK_FAILED',
  },
  {
    name: 'rows with too many cells are counted with their numbers in all files',
    template: stack(`${NAMED}, csv: {ragged: reject}`),
    input: zip({ 'a.csv': 'id,v\n1,a\n', 'b.csv': 'id,v\n2,b,c\n3,d\n' }),
    output: 'id,v\n1,a\n3,d\n',
  },
  {
    name: 'a file that is no archive is read as always',
    template: stack(),
    input: 'id,v\n1,a\n',
    output: 'id,v\n1,a\n',
  },
  {
    name: 'both settings',
    template: 'input: {archive_file: a, archive_files: b}',
    problems: ['/input/archive_files BAD_VALUE'],
  },
]);

t.test('cells with types and texts follow one another', async (t) => {
  const template = {
    input: { archive_files: '*', columns: ['id', 'v'], other_columns: 'drop' },
    operations: [{ op: 'parse_number', columns: 'v', decimal: ',', grouping: '.' }],
    output: { format: 'ndjson' },
  };
  const book = workbookOf({
    rows: '<row><c t="inlineStr"><is><t>v</t></is></c><c t="inlineStr"><is><t>id</t></is></c></row><row><c><v>1234.5</v></c><c><v>2</v></c></row>',
  });
  const files = { 'a.csv': 'id;v\n1;1.234,5\n', 'b.xlsx': book, 'c.json': '[{"v":1234.5,"id":3}]' };
  for (const names of [
    ['a.csv', 'b.xlsx', 'c.json'],
    ['b.xlsx', 'c.json', 'a.csv'],
  ] as const) {
    const content = Object.fromEntries(names.map((name, index) => [`${index}${name}`, files[name]]));
    const { text } = await applyTemplate(template, zip(content), 3);
    const numbers = text!
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).v);
    t.strictSame(numbers, [1234.5, 1234.5, 1234.5], names.join());
  }
});

t.test('the memory of a file is released before the next one', async (t) => {
  const files = Array.from({ length: 300 }, (_, index) => [`f${1000 + index}.csv`, `id,v\n${index},x\n`]);
  const { outcome, text } = await applyTemplate(
    { input: { archive_files: '*.csv' }, operations: [] },
    zip(Object.fromEntries(files)),
    4096,
  );
  t.equal(outcome.failure, null);
  t.equal(text!.split('\n').length, 302);
  t.match(outcome.report.input, { files: 300, type: 'csv' });
});

t.test('several inputs of run', async (t) => {
  const folder = t.testdir({
    't.yaml': `input: {${NAMED}}\noperations: [{set: {columns: {file: run.file}}}]\n`,
    'a.csv': 'id,v\n1,a\n',
    'b.csv': 'v;id\nb;2\n',
    'other.csv': 'x,y\n1,2\n',
  });
  const at = (name: string): string => join(folder, name);
  const run = ['run', at('t.yaml'), at('a.csv'), at('b.csv')];
  const rows = 'id,v,file\n1,a,a.csv\n2,b,b.csv\n';

  const printed = await cli(...run);
  t.match(printed, {
    status: 0,
    stdout: rows,
    stderr: /a\.csv and 1 more file: 2 rows read, 2 written[^\n]*\n {2}input: 2 files/,
  });
  t.match(await cli(...run, '-o', at('out.csv')), { status: 0 });
  t.equal(readFileSync(at('out.csv'), 'utf8'), rows);
  t.match(await cli(...run, '-o', at('out.csv'), '--json'), { status: 0 }, 'an existing file is replaced');
  t.match(await cli(...run, '-o', at('results')), { status: 0 }, 'a name without an extension is a folder');
  t.strictSame(readdirSync(at('results')).sort(), ['a.csv', 'b.csv']);
  t.match(await cli('run', '--to', 'json', at('a.csv'), at('a.csv')), { status: 0, stdout: /"1"[\s\S]*"1"/ });

  const wrong = await cli(...run, at('other.csv'), '-o', at('none.csv'));
  t.match(wrong, { status: 1, stderr: /different header[^\n]*"x", "y"[^\n]*\(File other\.csv\.\)/ });
  t.notOk(readdirSync(folder).includes('none.csv'), 'nothing is written');
  t.match(await cli(...run, at('missing.csv')), { status: 1, stderr: /missing\.csv does not exist/ });

  writeFileSync(at('b.csv'), 'id,v\n2,b\nx,c\n');
  const parse = ['run', '-e', 'parse_number: id', at('a.csv'), at('b.csv'), '--show-cell'];
  t.match(await cli(...parse), { status: 1, stderr: /\(File b\.csv, row 2 of its data\.\)\n {2}> "id": "x"/ });
});

t.test('several sources of the library', async (t) => {
  const folder = t.testdir({ 'a.csv': 'id,v\n1,a\n' });
  const template = `input: {${NAMED}}\noperations: [{set: {columns: {file: run.file}}}]\n`;
  const output = join(folder, 'out.csv');
  const { report } = await runTemplate(template, [join(folder, 'a.csv'), Buffer.from('id,v\n2,b\n')], output);
  t.equal(readFileSync(output, 'utf8'), 'id,v,file\n1,a,a.csv\n2,b,\n');
  t.equal(report.input.files, 2);
  await t.rejects(runTemplate(template, [], output), RangeError);
});
