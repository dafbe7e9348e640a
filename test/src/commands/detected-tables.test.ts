// Tables whose form is easily misjudged: the file name says that tabs separate the fields, a title above a header with
// mostly empty cells below it, and a download of the World Bank with a single row.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cli } from './command-line.ts';

const folder = t.testdir({ 'all.yaml': 'format: 1\noperations: []\n' });

async function read(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, text);
  const { status, stdout, stderr } = await cli('run', join(folder, 'all.yaml'), path);
  t.equal(status, 0, stderr);
  return stdout;
}

t.test('fields of a file named .tsv or .tab are separated by tabs, whatever else its cells contain', async (t) => {
  const text = 'name, first\tcity, state\nLee, Ann\tAustin, TX\nRay, Bob\tBoston, MA\n';
  const tabs = '"name, first","city, state"\n"Lee, Ann","Austin, TX"\n"Ray, Bob","Boston, MA"\n';
  t.equal(await read('a.tsv', text), tabs);
  t.equal(await read('a.tab', text), tabs);
  t.not(await read('a.csv', text), tabs, 'without the name, commas are as likely');
});

t.test('the summary says how many records above the header are left out', async (t) => {
  const summaryOf = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return (await cli('run', join(folder, 'all.yaml'), path)).stderr;
  };
  t.match(
    await summaryOf('titled.csv', 'Report of 2026\n\nid,amount\n1,2.50\n2,3.50\n'),
    / {2}input: 2 records above the header left out \(header_row: 2\)\n/,
  );
  t.notMatch(await summaryOf('plain.csv', 'id,amount\n1,2.50\n2,3.50\n'), /above the header/);
  const lines = '2025,,2026,\nnet,gross,net,gross\n1,2,3,4\n5,6,7,8\n';
  t.notMatch(await summaryOf('lines.csv', lines), /above the header/, 'lines of the header are used');
});

t.test('the summary says how many values beside the list of records of JSON are left out', async (t) => {
  const path = join(folder, 'orders.json');
  writeFileSync(path, '{"count": 2, "currency": "EUR", "orders": [{"id": 1}, {"id": 2}], "links": {"next": null}}');
  const { stdout, stderr } = await cli('run', join(folder, 'all.yaml'), path);
  t.equal(stdout, 'id\n1\n2\n');
  t.match(stderr, '  input: 3 values beside the list of records left out (input.json.records: "" reads them too)\n');
  const whole = join(folder, 'whole.yaml');
  const operations =
    'operations:\n  - explode: {column: orders, json: true}\n  - flatten_json: {column: orders, fields: {id: id}}\n';
  const columns = 'columns: [{name: currency}, {name: orders}], other_columns: drop';
  writeFileSync(
    whole,
    `format: 1\ninput: {json: {records: ""}, ${columns}}\n${operations}output: {columns: [currency, id]}\n`,
  );
  const read = await cli('run', whole, path);
  t.equal(read.stdout, 'currency,id\nEUR,1\nEUR,2\n', 'they become columns if the object is one record');
  t.notMatch(read.stderr, /beside the list/);
});

t.test('a title above a header whose second column is mostly empty', async (t) => {
  const text = 'Stock report 2026\nqty;Note\n1;\n2;\n3;\n4;x\n5;\n';
  t.equal(await read('stock.csv', text), 'qty,Note\n1,\n2,\n3,\n4,x\n5,\n');
});

t.test('a download of the World Bank with one row keeps its header', async (t) => {
  const text =
    '"Data Source","World Development Indicators",\n\n"Last Updated Date","2026-01-31",\n\n' +
    '"Country Name","Country Code","Indicator Name","Indicator Code","1960","1961",\n' +
    '"Aruba","ABW","Population, total","SP.POP.TOTL","54608","55811",\n';
  t.equal(
    await read('bank.csv', text),
    'Country Name,Country Code,Indicator Name,Indicator Code,1960,1961,column_7\n' +
      'Aruba,ABW,"Population, total",SP.POP.TOTL,54608,55811,\n',
  );
});
