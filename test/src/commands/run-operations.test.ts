// `run` without a Template file: operations of the command line (-e), output formats (--to), and what -q leaves out.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { skipUnlessLong } from '../../sweep.ts';
import { cli, cliOnTerminal } from './command-line.ts';

const folder = t.testdir({
  'orders.csv': 'name,country,amount\nZoë,DE,10.5\n"Müller, Co",FR,2\n日本,DE,-300\n"say ""hi""\nagain",DE,7\n',
  'template.yaml':
    'format: 1\nname: Fields\noperations:\n  - {drop: {columns: country}}\noutput: {format: csv, csv: {delimiter: ";"}}\n',
  'native.json': '{"format": 1, "name": "Lines", "output": {"format": "json", "json": {"layout": "array"}}}',
});
const at = (name: string): string => join(folder, name);
const orders = at('orders.csv');

t.test('operations of the command line', async (t) => {
  const both = await cli('run', '-e', 'filter: {where: country == "DE"}', '-e', 'sort: amount', orders);
  t.match(both, { status: 0, stdout: 'name,country,amount\n日本,DE,-300\nZoë,DE,10.5\n"say ""hi""\nagain",DE,7\n' });
  const short = await cli('run', '--expression=filter: country == "FR"', '-e', 'drop: [country, name]', orders);
  t.match(short, { status: 0, stdout: 'amount\n2\n' }, 'the only required parameter needs no name');
  t.match(await cli('run', '-e', 'drop_blank_rows', '-e', 'slice: {limit: 1}', orders), {
    status: 0,
    stdout: 'name,country,amount\nZoë,DE,10.5\n',
  });
});

t.test('the short forms of the command line', async (t) => {
  const cases: readonly (readonly [expression: string, stdout: string])[] = [
    ['slice: 1', 'name,country,amount\nZoë,DE,10.5\n'],
    ['dedupe: country', 'name,country,amount\nZoë,DE,10.5\n"Müller, Co",FR,2\n'],
    ['rename: {name: who}', 'who,country,amount\n'],
    ['set: {name: country + "!"}', 'name,country,amount\nDE!,DE,10.5\n'],
    ['cast: {amount: decimal}', 'name,country,amount\nZoë,DE,10.5\n'],
    ['reorder: [amount, name]', 'amount,name,country\n10.5,Zoë,DE\n'],
  ];
  for (const [expression, stdout] of cases) {
    const found = await cli('run', '-e', expression, orders);
    t.equal(found.status, 0, found.stderr);
    t.ok(found.stdout.startsWith(stdout), `${expression}: ${found.stdout}`);
  }
  t.match(await cli('run', '-e', 'sample: 2', '-e', 'aggregate: {metrics: [{fn: count, as: n}]}', orders), {
    stdout: 'n\n2\n',
  });
  // A key that is also a parameter is the parameter.
  t.match(await cli('run', '-e', 'set: {note: country}', orders), {
    status: 2,
    stderr: /Give exactly one of "columns"/,
  });
});

t.test('a file without a header, and reference tables', async (t) => {
  const first = await cli('run', '--header-row', 'none', '-e', 'slice: 1', orders);
  t.match(first, { status: 0, stdout: 'column_1,column_2,column_3\nname,country,amount\n' });
  t.match(await cli('head', '-n', '1', '--header-row', 'none', orders), { status: 0, stdout: /^column_1 .*\nname / });
  const refused = await cli('run', '--header-row', 'none', at('template.yaml'), orders);
  t.match(refused, { status: 2, stderr: /Write header_row: none below input\.csv in the Template/ });
  const tables = t.testdir({ 'codes.csv': 'country,code\nDE,49\n', 'not a name.csv': '' });
  const join = 'join: {table: codes, on: country}';
  t.match(await cli('run', '--tables', tables, '-e', join, '-e', 'select: [name, code]', '-e', 'slice: 1', orders), {
    status: 0,
    stdout: 'name,code\nZoë,49\n',
  });
  t.match(await cli('run', '-e', join, orders), { status: 2, stderr: /There is no table "codes"\. With --tables DIR/ });
});

t.test('a table in Markdown', async (t) => {
  writeFileSync(at('marks.csv'), 'a|b,c\n"x\ny",\\|\n,2\n');
  const { stdout } = await cli('run', '--to', 'markdown', at('marks.csv'));
  t.equal(stdout, '| a\\|b | c |\n| --- | --- |\n| x y | \\\\\\| |\n|  | 2 |\n');
  await cli('run', '--to', 'markdown', at('marks.csv'), '-o', at('tables/'));
  t.match(readFileSync(at('tables/marks.md'), 'utf8'), /^\| a/);
});

t.test('the long form of an operation, whose parameters may have the names of operations', async (t) => {
  const pivot =
    '{op: pivot, group_by: [country], names_from: name, values_from: amount, values: [Zoë], aggregate: first}';
  t.match(await cli('run', '-e', pivot, orders), { status: 0, stdout: 'country,Zoë\nDE,10.5\nFR,\n' });
});

t.test('a wrong operation is a usage error that names it', async (t) => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['-e', 'sort: amount', '-e', 'filtr: a', orders], /-e "filtr: a": UNKNOWN_OPERATION: .*Did you mean "filter"\?/],
    [['-e', 'filter: {wher: a}', orders], /-e "filter: \{wher: a\}" at \/filter\/wher: UNKNOWN_PARAMETER/],
    [['-e', '[sort', orders], /-e "\[sort": .* Write an operation as in a Template/],
    [['-e', '3', orders], /-e "3" is not an operation\./],
    [['-e', 'sort: amount'], /Write an input file/],
    [['-e', 'sort: amount', at('template.yaml'), orders], /With -e all files are inputs: leave .*template\.yaml out/],
    [['--to', 'jsn', orders], /--to takes csv, .*, markdown\. Did you mean "json"\?/],
  ];
  for (const [args, message] of cases) {
    t.match(await cli('run', ...args), { status: 2, stdout: '', stderr: message }, args.join(' '));
  }
});

t.test('--to converts a file, and replaces the format of a Template', async (t) => {
  t.match((await cli('run', '--to', 'ndjson', orders)).stdout, /^\{"name":"Zoë","country":"DE","amount":"10\.5"\}\n/);
  const template = await cli('run', at('template.yaml'), orders, '--to', 'ndjson');
  t.match(template.stdout, /^\{"name":"Zoë","amount":"10\.5"\}\n/);
  t.match(
    (await cli('run', at('template.yaml'), orders, '--to', 'csv')).stdout,
    /^name;amount\n/,
    'its settings count',
  );
  t.match((await cli('run', at('native.json'), orders, '--to', 'ndjson')).stdout, /^\{"name"/, 'but not its layout');
  const parquet = at('orders.parquet');
  t.equal((await cli('run', '-e', 'sort: amount', orders, '-o', parquet)).status, 0);
  t.equal(readFileSync(parquet).subarray(0, 4).toString(), 'PAR1', 'the name of the output tells the format');
});

t.test('a table has aligned columns, numbers on the right', async (t) => {
  const table = [
    'name            country  amount',
    'Zoë             DE         10.5',
    'Müller, Co      FR            2',
    '日本            DE         -300',
    'say "hi" again  DE            7',
    '',
  ];
  t.equal((await cli('run', '--to', 'table', orders)).stdout, table.join('\n'));
  const file = at('table.txt');
  t.equal((await cli('run', '--to', 'table', orders, '-o', file)).status, 0);
  t.equal(readFileSync(file, 'utf8'), table.join('\n'));
  const long = at('long.csv');
  writeFileSync(long, `a,b\n${'x'.repeat(61)},1\n${'y'.repeat(60)},2\n=1+1,\u001b[31m\n`);
  const { stdout } = await cli('run', '--to', 'table', long);
  t.match(stdout, `${'x'.repeat(59)}…  1\n${'y'.repeat(60)}  2\n`, 'cells of more than 60 columns are cut');
  t.match(stdout, /^=1\+1 +\\u001b\[31m$/m, 'control characters are escaped, formulas are not guarded');
});

t.test('a table of an output that does not fit into memory is the same', { skip: skipUnlessLong }, async (t) => {
  const many = at('many.csv');
  const rows = Array.from({ length: 60_000 }, (_, row) => `row ${row},"a ""${row}"", b"`);
  writeFileSync(many, `id,text\n${rows.join('\n')}\n`);
  const lines = (await cli('run', '-q', '--to', 'table', many)).stdout.split('\n');
  t.equal(lines.length, rows.length + 2);
  rows.forEach((_, row) => {
    if (lines[row + 1] !== `${`row ${row}`.padEnd(9)}  a "${row}", b`) t.fail(`line ${row + 1}: ${lines[row + 1]}`);
  });
});

t.test('-q leaves out summary and notes, not failures', async (t) => {
  const named = at('quiet.xlsx');
  t.match((await cli('run', at('template.yaml'), orders, '-o', named)).stderr, /note: .*\n.*4 rows read/);
  t.match(await cli('run', '-q', at('template.yaml'), orders, '-o', named), { status: 0, stderr: '' });
  t.match(await cli('run', '--quiet', '-e', 'drop: nothing', orders), {
    status: 1,
    stderr: /^TEMPLATE_COLUMNS_MISSING: [^\n]+\n$/,
  });
  t.match((await cli('run', '-q', '--json', '-e', 'sort: amount', orders)).stderr, /^\{"file".*\}\n$/);
});

t.test('colours are for terminals', async (t) => {
  const wrong = ['run', '-q', '-e', 'drop: nothing', orders];
  t.match((await cliOnTerminal({}, ...wrong)).stderr, /^\u001b\[31mTEMPLATE_COLUMNS_MISSING:\u001b\[0m /);
  t.match((await cliOnTerminal({ NO_COLOR: '1' }, ...wrong)).stderr, /^TEMPLATE_COLUMNS_MISSING:/);
  t.match((await cliOnTerminal({}, ...wrong, '--color', 'never')).stderr, /^TEMPLATE_COLUMNS_MISSING:/);
  t.match((await cli('--color=always', ...wrong)).stderr, /^\u001b\[31mTEMPLATE_COLUMNS_MISSING:/);
  t.match(await cli('--color', 'blue', ...wrong), { status: 2, stderr: /--color takes auto, always, never\./ });
});

t.test('a terminal does not get the bytes of a workbook', async (t) => {
  const { status, stdout, stderr } = await cliOnTerminal({}, 'run', '--to', 'xlsx', orders);
  t.match({ status, stdout }, { status: 2, stdout: '' });
  t.match(stderr, /The output is xlsx, which a terminal cannot show\. Write -o FILE\.xlsx\./);
});

t.test('inspect shows a table on a terminal, and JSON elsewhere or with --json', async (t) => {
  const { status, stdout } = await cliOnTerminal({ NO_COLOR: '1' }, 'inspect', orders, at('nothing.csv'));
  t.equal(status, 1);
  t.equal(
    stdout,
    `${orders}: csv, utf-8, delimiter comma, quote ", header in record 1, 4 rows
   COLUMN
1  name
2  country
3  amount

${at('nothing.csv')}: ENOENT: ${at('nothing.csv')} does not exist.
`,
  );
  const json = await cli('inspect', orders);
  t.match(JSON.parse(json.stdout), { file: orders, rows: 4 });
  t.equal((await cliOnTerminal({}, 'inspect', '--json', orders)).stdout, json.stdout);
});

t.test('the name of the file is a value of expressions, without its folders', async (t) => {
  const columns = [
    '-e',
    'set: {columns: {file: run.file, no: string(run.row)}}',
    '-e',
    'select: {columns: [file, no]}',
  ];
  const named = await cli('run', ...columns, orders);
  t.match(named.stdout, /^file,no\norders\.csv,1\norders\.csv,2\n/);
  t.match(await cli('run', '-e', 'filter: {where: run.name == "a"}', orders), {
    status: 2,
    stderr: /Write run\.row, run\.file/,
  });
});

t.test('without a Template, the encoding is found', async (t) => {
  const folder = t.testdir({
    'a.csv': Buffer.from('Straße;Ort\nMühle;Köln\n', 'latin1'),
    'b.txt': 'Name, Amount\nx;1\ny;2\nz;3\n',
  });
  t.match(await cli('run', '-e', 'sort: Ort', join(folder, 'a.csv')), {
    status: 0,
    stdout: /^Straße.Ort\nMühle.Köln\n$/,
    stderr: /input: read as windows-1252/,
  });
  t.match(await cli('head', join(folder, 'a.csv')), { status: 0, stdout: /Mühle/ });
  t.match(await cli('head', join(folder, 'b.txt')), {
    status: 1,
    stderr: /these are --delimiter and --header-row\.\n$/,
  });
});
