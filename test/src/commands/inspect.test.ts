// `template-run inspect` on several files: what it says of each, why, and its exit status.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli, cliOnTerminal } from './command-line.ts';

const folder = t.testdir({
  'good.csv': 'Datum;Text;Betrag\n31.01.2026;a;1.234,56\n31.01.2026;a;1.234,56\nSumme;;1.234,56\n',
});
const at = (name: string) => join(folder, name);
/** A terminal without colours. */
const PLAIN = { NO_COLOR: '1' };

t.test('inspect says why, and goes on after a file that cannot be read', async (t) => {
  writeFileSync(at('grouped.csv'), 'Report\n\n,2025,,2026,\ntown,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n');
  writeFileSync(at('open.csv'), 'a,b\n1,"SecretCell\n');
  const told = await cli('inspect', '--explain', at('grouped.csv'), at('nothing.csv'), at('open.csv'), at('good.csv'));
  t.equal(told.status, 1);
  const lines = told.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(lines[0], {
    file: at('grouped.csv'),
    header_row: 3,
    header_lines: 2,
    columns: { names: ['town', '2025 net', '2025 gross', '2026 net', '2026 gross'] },
    explanation: {
      delimiter: { confidence: 1, runner_up: null, reason: /^comma, which splits 4 of 5 records into 5 fields/ },
      header_row: { confidence: 0.9, runner_up: 0, reason: /^4 of the 4 columns with numbers.*the line above/ },
    },
  });
  t.match(lines[1], { file: at('nothing.csv'), error: 'ENOENT' });
  t.match(lines[2], { file: at('open.csv'), error: 'MALFORMED_FILE', message: /^Line 2 / });
  t.match(lines[3], { delimiter: ';', header_row: 0, explanation: { delimiter: { runner_up: ',' } } });
  t.notMatch(JSON.stringify(lines[2]), 'SecretCell');
  const plain = await cli('inspect', at('grouped.csv'));
  t.equal(plain.status, 0);
  t.notOk('explanation' in JSON.parse(plain.stdout));
});

/** Returns the explanation of one file. */
async function explained(text: string): Promise<Record<string, unknown>> {
  writeFileSync(at('one.csv'), text);
  const { status, stdout } = await cli('inspect', '--explain', at('one.csv'));
  t.equal(status, 0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

t.test('reasons', async (t) => {
  t.match(await explained('1,2\n3,4\n5,6\n'), {
    header_row: null,
    explanation: {
      header_row: { confidence: 1, runner_up: 0, reason: /a number, date or address in 2 of the 2 columns/ },
    },
  });
  t.match(await explained('note\none:two:three\nfour:five:six\nseven:eight:nine\n'), {
    columns: { count: 1 },
    explanation: { delimiter: { confidence: 0.63, runner_up: ':', reason: /^the header row contains no delimiter/ } },
  });
  t.match(await explained('note\nplain\nwords\n'), {
    explanation: { delimiter: { confidence: 1, runner_up: null, reason: /no other character splits the records$/ } },
  });
  t.match(await explained('a,b,c\n1;2;3\n4;5;6\n'), {
    doubt: /do not contain the same delimiter/,
    explanation: { delimiter: { confidence: 0.25, reason: /do not contain the same delimiter/ } },
  });
  t.match(await explained('a;b\n1,5;2,5\n3,5;4\n'), {
    delimiter: ';',
    explanation: {
      delimiter: { runner_up: ',', reason: /^semicolon, which splits 3 of 3 records into 2 fields.*comma/ },
    },
  });
});

t.test('JSON, Parquet and fixed columns say where columns come from', async (t) => {
  const columns = 'the keys of the records name the columns';
  const json: readonly (readonly [text: string, records: string, headerRow: string])[] = [
    ['{"a":1}\n{"a":2}\n', 'the file is a sequence of records', columns],
    ['[{"a":1}]', 'the file is one list', columns],
    ['[["a"],[1]]', 'the file is one list', 'the file is a list of lists, and the first one is the header'],
    [
      '{"n":1,"rows":[{"a":1}]}',
      'it is the only list of the object that can hold records, or the one with the columns of the Template',
      columns,
    ],
  ];
  const paths = json.map(([text], index) => {
    writeFileSync(at(`${index}.json`), text);
    return at(`${index}.json`);
  });
  const { status, stdout } = await cli('inspect', '--explain', ...paths);
  t.equal(status, 0);
  const lines = stdout.trim().split('\n');
  for (const [index, [, records, headerRow]] of json.entries()) {
    t.strictSame(JSON.parse(lines[index]!).explanation, {
      records: { confidence: 1, runner_up: null, reason: records },
      header_row: { confidence: 1, runner_up: null, reason: headerRow },
    });
  }
});

t.test('as a Template reads it, and with what is declared at the command', async (t) => {
  const inspect = async (...args: string[]) => JSON.parse((await cli('inspect', ...args)).stdout);
  writeFileSync(at('above.csv'), Buffer.from('x;y;z\n1;2;3\nNummer,Größe\n1,2\n', 'latin1'));
  writeFileSync(
    at('reads.yaml'),
    'input: {csv: {delimiter: ",", header_row: 2, encoding: windows-1252}, columns: [{name: no, match: [Nummer]}]}\noperations: []\n',
  );
  t.match(await inspect(at('above.csv')), { delimiter: ';', header_row: 0 });
  t.match(await inspect('--template', at('reads.yaml'), at('above.csv')), {
    encoding: 'windows-1252',
    delimiter: ',',
    header_row: 2,
    columns: { names: ['Nummer', 'Größe'] },
    rows: 1,
  });
  t.match(await inspect('--delimiter', ':', '--encoding', 'ibm850', at('above.csv')), {
    encoding: 'ibm850',
    delimiter: ':',
    columns: { count: 1 },
  });
  t.match(await inspect('--encoding', 'utf-8', at('above.csv')), { error: 'MALFORMED_FILE' });
  t.equal((await cli('inspect', '--encoding', 'utf-9', at('above.csv'))).status, 2);
  writeFileSync(at('wrong.yaml'), 'operations: [{drpo: {}}]\n');
  t.equal((await cli('inspect', '--template', at('wrong.yaml'), at('above.csv'))).status, 1);
});

t.test('on a terminal: one line of what was found, and the columns as a table', async (t) => {
  const files: readonly (readonly [name: string, text: string, said: string])[] = [
    [
      'lines.csv',
      'Report\n\n,2025,,2026,\ntown,net,gross,net,gross\nRome,1,2,3,4\nBari,5,6,7,8\n',
      'csv, utf-8, delimiter comma, quote ", header in record 4 (2 lines), 2 rows',
    ],
    ['one.tsv', 'a\tb\n1\t2\n', 'tsv, utf-8, delimiter tab, quote ", header in record 1, 1 row'],
    ['bare.csv', '1,2\n3,4\n5,6\n', 'csv, utf-8, delimiter comma, quote ", no header, 3 rows'],
    [
      'spaces.csv',
      'a, b\n1, "x, y"\n2, "z, \n"\n',
      'csv, utf-8, delimiter comma, quote ", quotes after spaces, header in record 1, 2 rows',
    ],
    [
      'escape.csv',
      'a,b\n1,"x\\"y, z"\n2,"x\\"y"\n',
      'csv, utf-8, delimiter comma, quote ", escape \\, header in record 1, 2 rows',
    ],
    ['pipes.csv', 'a|b\n1|2\n', 'csv, utf-8, delimiter |, quote ", header in record 1, 1 row'],
    ['long.csv', 'a~|~b\n1~|~2\n3~|~4\n', 'csv, utf-8, delimiter ~|~, quote ", header in record 1, 2 rows'],
  ];
  for (const [name, text] of files) writeFileSync(at(name), text);
  const told = await cliOnTerminal(PLAIN, 'inspect', ...files.map(([name]) => at(name)), at('absent.csv'));
  t.equal(told.status, 1);
  const blocks = told.stdout.trimEnd().split('\n\n');
  for (const [index, [name, , said]] of files.entries()) {
    t.equal(blocks[index]!.split('\n')[0], `${at(name)}: ${said}`);
  }
  t.match(blocks[0], /\n1 {2}town\n2 {2}2025 net\n3 {2}2025 gross\n/);
  t.match(blocks[2], /\n1\n2$/, 'columns without names');
  t.equal(blocks.at(-1), `${at('absent.csv')}: ENOENT: ${at('absent.csv')} does not exist.`);
});

t.test('on a terminal: kinds of cells, doubts and reasons', async (t) => {
  const shown = async (name: string, text: string, ...flags: readonly string[]) => {
    writeFileSync(at(name), text);
    return (await cliOnTerminal(PLAIN, 'inspect', ...flags, at(name))).stdout;
  };
  const kinds = await shown('list.json', '[{"a":1,"b":"x"},{"a":null}]');
  t.match(kinds, /: json, utf-8, no header, 2 rows\n +COLUMN +CELLS\n1 +a +1 number\n2 +b +1 text\n$/);
  t.match(
    await shown('mixed.csv', 'a,b,c\n1;2;3\n4;5;6\n'),
    /\nA Run would refuse the file: The header row and the data rows do not contain the same delimiter/,
  );
  t.match(
    await shown('why.csv', 'note\nplain\nwords\n', '--explain'),
    /\ndelimiter \(confidence 1\): .*no other character splits the records\nheader_row \(confidence /,
  );
  t.match(JSON.parse(await shown('one.tsv', 'a\tb\n1\t2\n', '--json')), { delimiter: '\t', rows: 1 });
});

t.test('on a terminal: the sheets of a workbook', async (t) => {
  writeFileSync(at('all.yaml'), 'output: {format: xlsx, xlsx: {sheet: Numbers}}\noperations: []\n');
  writeFileSync(at('in.csv'), 'a,b\n1,2\n');
  t.equal((await cli('run', at('all.yaml'), at('in.csv'), '-o', at('one.xlsx'))).status, 0);
  const { stdout } = await cliOnTerminal(PLAIN, 'inspect', at('one.xlsx'));
  t.match(stdout, /: xlsx, utf-8, header in record 1, 1 row\n/);
  t.notMatch(stdout, 'SHEET', 'one sheet needs no table');
});

t.test('what the command does not accept', async (t) => {
  for (const [args, said] of [
    [[], 'Write a file to inspect.'],
    [['--sheet', '', at('good.csv')], '--sheet takes the name of a sheet, or its number from 1.'],
  ] as const) {
    const { status, stderr } = await cli('inspect', ...args);
    t.equal(status, 2);
    t.match(stderr, said);
  }
});
