// Outputs of Runs, byte for byte: the operations of the first version, and the input and output formats.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { ALL_SCOPES, step, template } from './catalog-folder.ts';
import type { Answer } from './client.ts';
import { expectError, expectRun } from './expect.ts';
import { CANARY, file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const as = (format: string, rest: object = {}): object => template([], { output: { format, ...rest } });
const one = (name: string, parameters: object): object => template([step(name, parameters)]);
const ALIASES = { columns: [{ name: 'amount', match: ['Betrag', { pattern: '^Umsatz \\((EUR|USD)\\)$' }] }] };

/** Template, upload and output of each case. */
const CASES: Record<string, [object, string | Buffer, string]> = {
  'no operation: cells come out as they went in': [
    as('csv'),
    'id,long,exp,phone\n007,12345678901234567890,1E5,+49 30 1234\n',
    'id,long,exp,phone\n007,12345678901234567890,1E5,+49 30 1234\n',
  ],
  'select takes columns in the given order': [one('select', { columns: ['c', 'a'] }), 'a,b,c\n1,2,3\n', 'c,a\n3,1\n'],
  'select keep_rest': [one('select', { columns: ['c'], keep_rest: true }), 'a,b,c\n1,2,3\n', 'c,a,b\n3,1,2\n'],
  'drop removes columns': [one('drop', { columns: ['b'] }), 'a,b,c\n1,2,3\n', 'a,c\n1,3\n'],
  'rename is simultaneous': [one('rename', { columns: { a: 'b', b: 'a' } }), 'a,b\n1,2\n', 'b,a\n1,2\n'],
  'rename by style': [one('rename', { style: 'upper' }), 'a,b\n1,2\n', 'A,B\n1,2\n'],
  'reorder moves to the front and to the end': [
    one('reorder', { first: ['c'], last: ['a'] }),
    'a,b,c,d\n1,2,3,4\n',
    'c,b,d,a\n3,2,4,1\n',
  ],
  'copy puts a new column at the end': [one('copy', { from: 'a', to: 'z' }), 'a,b\n1,2\n', 'a,b,z\n1,2,1\n'],
  'the name of the upload, if the Template asks for it': [
    one('set', { columns: { f: 'run.file' } }),
    'a\n1\n',
    `a,f\n1,${CANARY}-upload.csv\n`,
  ],
  'set a constant': [one('set', { column: 'k', value: 'EUR' }), 'a\n1\n2\n', 'a,k\n1,EUR\n2,EUR\n'],
  'set an existing column keeps its place': [one('set', { column: 'a', value: 'x' }), 'a,b\n1,2\n', 'a,b\nx,2\n'],
  'set from other columns sees the row as it came in': [
    one('set', { columns: { a: 'b', b: 'a' } }),
    'a,b\n1,2\n',
    'a,b\n2,1\n',
  ],
  'text trims, collapses and raises': [
    one('text', { columns: ['a'], steps: ['trim', 'collapse_spaces', 'upper'] }),
    'a,b\n  stra\u00dfe   x ,  y \n',
    'a,b\nSTRASSE X,  y \n',
  ],
  'text pads, prefixes and truncates': [
    one('text', { columns: 'a', steps: [{ pad_left: { length: 4, char: '0' } }, { prefix: 'N' }, { truncate: 4 }] }),
    'a\n7\n12345\n',
    'a\nN000\nN123\n',
  ],
  'text keeps digits': [one('text', { columns: ['a'], steps: ['digits_only'] }), 'a,b\nx1-2 3,\n', 'a,b\n123,\n'],
  'text strips accents': [
    one('text', { columns: ['a'], steps: ['strip_accents', 'lower'] }),
    'a\n\u00c9T\u00c9\n',
    'a\nete\n',
  ],
  'replace is literal': [
    one('replace', { columns: ['a'], find: '.', replace: '::' }),
    'a,b\n1.2.3,.\n',
    'a,b\n1::2::3,.\n',
  ],
  'map_values keeps what the map lacks': [
    one('map_values', { columns: ['a'], map: { y: 'yes', n: 'no' }, default: 'keep' }),
    'a\ny\nn\nq\n',
    'a\nyes\nno\nq\n',
  ],
  'map_values with a default value': [
    one('map_values', { columns: ['a'], map: { y: 'yes' }, default: { value: 'other' } }),
    'a\ny\nq\n',
    'a\nyes\nother\n',
  ],
  'fill_empty fills nulls alone': [
    one('fill_empty', { columns: ['a'], value: '0' }),
    'a,b\n,1\n5,\n"",2\n',
    'a,b\n0,1\n5,\n0,2\n',
  ],
  'fill_down takes the last value above': [
    one('fill_down', { columns: ['a'] }),
    'a,b\n,0\nx,1\n,2\ny,3\n',
    'a,b\n,0\nx,1\nx,2\ny,3\n',
  ],
  'drop_blank_rows drops rows of nulls': [one('drop_blank_rows', {}), 'a,b\n1,\n,\n"",""\n,2\n', 'a,b\n1,\n,2\n'],
  'slice skips and limits': [one('slice', { skip: 1, limit: 2 }), 'a\n1\n2\n3\n4\n', 'a\n2\n3\n'],
  'dedupe keeps the first': [one('dedupe', { by: ['a'] }), 'a,b\nx,1\ny,2\nx,3\n,4\n,5\n', 'a,b\nx,1\ny,2\n,4\n'],
  'dedupe by two columns': [one('dedupe', { by: ['a', 'b'] }), 'a,b\nx,1\nx,2\nx,1\n', 'a,b\nx,1\nx,2\n'],
  'an operation that is not enabled does nothing': [
    one('drop', { columns: ['a'], enabled: false }),
    'a,b\n1,2\n',
    'a,b\n1,2\n',
  ],
  'declared columns are found by alias and pattern': [
    template([step('select', { columns: ['amount', 'id'] })], { input: ALIASES }),
    'id,Umsatz (EUR)\n1,2.50\n',
    'amount,id\n2.50,1\n',
  ],
  'headers match without regard to case and space': [
    template([step('select', { columns: ['Invoice No'] })], { input: { columns: [{ name: 'Invoice No' }] } }),
    '  invoice\u00a0 NO ,x\n7,8\n',
    'Invoice No\n7\n',
  ],
  'other_columns: drop': [
    template([], { input: { ...ALIASES, other_columns: 'drop' } }),
    'x,Betrag\n1,2\n',
    'amount\n2\n',
  ],
  'null_values are missing': [
    template([step('fill_empty', { columns: ['a'], value: '?' })], { input: { null_values: ['', 'n/a'] } }),
    'a,b\nn/a,n/a\nx,\n',
    'a,b\n?,\nx,\n',
  ],
  'header_row: none': [
    template([], { input: { csv: { header_row: 'none' } } }),
    '1,2\n3,4\n',
    'column_1,column_2\n1,2\n3,4\n',
  ],
  'minimal quoting, whatever the input quoted': [
    as('csv'),
    '"a","b"\n"plain","with,comma"\n"with ""quote""","two\nlines"\n',
    'a,b\nplain,"with,comma"\n"with ""quote""","two\nlines"\n',
  ],
  'quoting: all': [as('csv', { csv: { quoting: 'all' } }), 'a,b\n1,x y\n', '"a","b"\n"1","x y"\n'],
  'CRLF, LF and CR come out as LF': [as('csv'), 'a,b\r\n1,2\r\n3,4\n5,6\r7,8', 'a,b\n1,2\n3,4\n5,6\n7,8\n'],
  'line_ending: crlf': [as('csv', { csv: { line_ending: 'crlf' } }), 'a,b\n1,2\n', 'a,b\r\n1,2\r\n'],
  'output delimiter, mark and no header': [
    as('csv', { csv: { delimiter: ';', bom: true, header: false } }),
    'a,b\n1,"x;y"\n',
    '\ufeff1;"x;y"\n',
  ],
  'blank lines are skipped': [as('csv'), 'a,b\n\n1,2\n\n\n3,4\n\n', 'a,b\n1,2\n3,4\n'],
  'blank lines of a file of one column are nulls': [as('csv'), 'a\nx\n\ny\n', 'a\nx\n""\ny\n'],
  'short rows are filled, empty extra fields are nothing': [
    as('csv'),
    'a,b,c\n1,2,3\n4\n5,6,7,,\n8,9,0\n',
    'a,b,c\n1,2,3\n4,,\n5,6,7\n8,9,0\n',
  ],
  'words in quotes inside a field are text': [
    as('csv'),
    'n,text\n0,say "x"\n1,say "y"\n2,say "z"\n',
    'n,text\n0,"say ""x"""\n1,"say ""y"""\n2,"say ""z"""\n',
  ],
  'a stray quote is literal': [as('csv'), 'a,b\n5" pipe,x\n', 'a,b\n"5"" pipe",x\n'],
  'a byte order mark is no part of the header': [one('select', { columns: ['a'] }), '\ufeffa,b\n1,2\n', 'a\n1\n'],
  'UTF-16 with a mark': [as('csv'), Buffer.from('\ufeffa,b\n\u00e9,\u6f22\n', 'utf16le'), 'a,b\n\u00e9,\u6f22\n'],
  gzip: [as('csv'), gzipSync('a,b\n1,2\n'), 'a,b\n1,2\n'],
  'semicolons are detected': [as('csv'), 'a;b\n1,5;2\n3,5;4\n', 'a,b\n"1,5",2\n"3,5",4\n'],
  'tabs are detected': [as('csv'), 'a\tb\n1\t2\n3\t4\n', 'a,b\n1,2\n3,4\n'],
  'bars are detected': [as('csv'), 'a|b\n1|2\n3|4\n', 'a,b\n1,2\n3,4\n'],
  'a header alone gives a header alone': [as('csv'), 'a,b\n', 'a,b\n'],
  'a blank header gets the number of its column': [
    one('drop', { columns: ['a'] }),
    'a,b,\n1,2,3\n',
    'b,column_3\n2,3\n',
  ],
  'formulas are guarded, numbers are not': [
    as('csv'),
    'a,b\n=1+1,\n@x,\n-5,-1.5\n+49 30 12345,\n-2+3,\n"x=1",\n',
    "a,b\n'=1+1,\n'@x,\n-5,-1.5\n+49 30 12345,\n'-2+3,\nx=1,\n",
  ],
  'formula_guard: off': [as('csv', { formula_guard: 'off' }), 'a,b\n=1+1,x\n', 'a,b\n=1+1,x\n'],
  TSV: [as('tsv'), 'a,b\n1,"x,y"\n', 'a\tb\n1\tx,y\n'],
};

/** tap takes minutes to show how two long texts differ. */
const SHOWN_MAX = 5000;

const names = Object.keys(CASES);
const service = await startService(t, {
  accounts: {
    acme: {
      keys: { full: { scopes: ALL_SCOPES } },
      templates: {
        ...Object.fromEntries(names.map((name, index) => [`case-${index}`, CASES[name]![0]])),
        csv: as('csv'),
        tsv: as('tsv'),
        json: as('json'),
        ndjson: as('ndjson'),
        named: template([], { name: 'Monthly "report" \u00fc', output: { format: 'csv' } }),
      },
    },
  },
});
const acme = service.client();

async function expectOutput(t: Test, answer: Answer, expected: string): Promise<void> {
  expectRun(t, answer, 201, 'succeeded');
  const output = await acme.get(`/api/v1/runs/${answer.run.id}/output`);
  if (expected.length < SHOWN_MAX) t.equal(output.text, expected);
  else t.ok(output.text === expected, 'is the expected text, which is too long for a report of differences');
  t.equal(answer.run.output?.size_bytes, output.body.length, 'size_bytes is the size');
}

for (const [index, name] of names.entries()) {
  t.test(name, async (t) => {
    const [, upload, expected] = CASES[name]!;
    await expectOutput(t, await acme.upload(`case-${index}`, [file(upload)]), expected);
  });
}

t.test('JSON: an array of objects, texts stay texts', async (t) => {
  const answer = await acme.upload('json', [file('id,text\n007,"a ""q"" \\ \u00e9\t/"\n8,\u2028\n')]);
  expectRun(t, answer, 201, 'succeeded');
  const { text } = await acme.get(`/api/v1/runs/${answer.run.id}/output`);
  t.strictSame(JSON.parse(text), [
    { id: '007', text: 'a "q" \\ \u00e9\t/' },
    { id: '8', text: '\u2028' },
  ]);
});

t.test('JSON of no rows is an empty array, NDJSON of no rows is empty', async (t) => {
  const json = await acme.upload('json', [file('a,b\n')]);
  t.strictSame(JSON.parse((await acme.get(`/api/v1/runs/${json.run.id}/output`)).text), []);
  await expectOutput(t, await acme.upload('ndjson', [file('a,b\n')]), '');
});

t.test('NDJSON: one object a line in the order of the columns', async (t) => {
  const answer = await acme.upload('ndjson', [file('b,a\n1,x\n2,"two\nlines"\n')]);
  expectRun(t, answer, 201, 'succeeded');
  const { text } = await acme.get(`/api/v1/runs/${answer.run.id}/output`);
  const lines = text.split('\n');
  t.equal(lines.pop(), '', 'ends with a line feed');
  t.strictSame(
    lines.map((line) => Object.entries(JSON.parse(line))),
    [
      [
        ['b', '1'],
        ['a', 'x'],
      ],
      [
        ['b', '2'],
        ['a', 'two\nlines'],
      ],
    ],
  );
});

for (const [format, type] of Object.entries({
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  ndjson: 'application/x-ndjson',
})) {
  t.test(`${format}: mime_type ${type}`, async (t) => {
    const { run } = await acme.upload(format, [file('a,b\n1,2\n')]);
    t.equal(run.output?.mime_type.split(';')[0], type);
    t.match(run.output?.name, new RegExp(`\\.${format}$`), 'the name ends as the format does');
    t.equal(run.rows_written, 1);
    t.equal(run.truncated, false);
  });
}

t.test('40,000 rows over many batches come out whole and in order', async (t) => {
  const rows = Array.from({ length: 40_000 }, (_, index) => `${index},Canary"${index % 7}"`);
  const upload = `n,text\n${rows.join('\n')}\n`;
  const answer = await acme.upload('csv', [file(upload)]);
  const quoted = rows.map((row) => row.replace(/,(.*)$/, (_, text: string) => `,"${text.replaceAll('"', '""')}"`));
  await expectOutput(t, answer, `n,text\n${quoted.join('\n')}\n`);
  t.equal(answer.run.rows_written, 40_000);
});

t.test('the same file twice gives the same bytes in two Runs', async (t) => {
  const [first, second] = [await acme.upload('json', [file('a\nx\n')]), await acme.upload('json', [file('a\nx\n')])];
  t.not(first.run.id, second.run.id);
  const [one, two] = await Promise.all([first, second].map(({ run }) => acme.get(`/api/v1/runs/${run.id}/output`)));
  t.equal(one?.text, two?.text);
});

t.test('OLE2, PDF, PNG and several files in a ZIP are refused by their content, whatever the name says', async (t) => {
  for (const [what, bytes] of Object.entries({
    zip: zipOf([
      { name: 'a', content: 'a' },
      { name: 'b', content: 'b' },
    ]),
    ole2: Buffer.from('d0cf11e0a1b11ae1000000000000', 'hex'),
    pdf: '%PDF-1.7\n1 0 obj\n<<>>\nendobj\n',
    png: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  })) {
    const upload = Buffer.concat([Buffer.from(bytes), Buffer.alloc(64)]);
    const sent = what === 'pdf' ? Buffer.from(bytes) : upload;
    const answer = await acme.upload('csv', [file(sent)]);
    expectError(t, answer, 415, 'UNSUPPORTED_FILE_TYPE');
  }
});

t.test('logs', (t) => checkLogs(t, service, [service.catalog.key('acme')]));
