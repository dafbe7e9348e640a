// Complete outputs: exact bytes of each setting, the formula guard, encodings.
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import t from 'tap';
import type { ColumnType } from '../../../workers/batch/schema.ts';
import { isFormula } from '../../../workers/kernel/plain/emit-csv.ts';
import { outputFormats } from '../../../workers/output/index.ts';
import { outputFile } from '../../../workers/output/planned-output.ts';
import { MemorySink } from '../../../workers/output/sink/file-sink.ts';
import { outputEncoding, outputEncodings } from '../../../workers/output/sink/output-sink.ts';
import type { RowWriter } from '../../../workers/output/writer.ts';
import type { TemplateOutput } from '../../../workers/template/template.ts';
import {
  type Bench,
  batchOf,
  drive,
  newBench,
  rawBatch,
  schemaOf,
  type TypedValue,
  typedColumn,
  viewsColumn,
} from '../batch/build-batch.ts';
import { createRowWriter, csvOutput, failureOf, jsonOutput } from './output-settings.ts';

const TYPES = { name: 'text', amount: 'decimal', ok: 'boolean', on: 'date', at: 'datetime', n: 'integer' } as const;
const ROWS: readonly (readonly (string | TypedValue)[])[] = [
  ['a,b "c"', { unscaled: -1250n, scale: 2 }, true, 19782n, 1709210096_500000n, 7n],
  [null, null, null, null, null, null],
  ['=1+1', { unscaled: 5n, scale: 3 }, false, -1n, 0n, -3n],
];

function write(
  output: TemplateOutput,
  types: Readonly<Record<string, ColumnType>>,
  fill: (bench: Bench, writer: RowWriter) => void,
) {
  const bench = newBench();
  const sink = new MemorySink();
  const writer = createRowWriter({ ...bench, output, schema: schemaOf(types), nullValues: [''], sink });
  fill(bench, writer);
  writer.finish();
  return { writer, bytes: Buffer.from(sink.bytes()), text: Buffer.from(sink.bytes()).toString() };
}

/** The table above with these settings. */
function writeRows(output: TemplateOutput): string {
  return write(output, TYPES, (bench, writer) => {
    const columns = Object.values(TYPES).map((type, index) => {
      const values = ROWS.map((row) => row[index]!);
      return type === 'text'
        ? viewsColumn(bench, values as string[])
        : typedColumn(bench, type, values as TypedValue[]);
    });
    drive(writer.push(batchOf(bench, ROWS.length, columns)));
  }).text;
}

/** One column of texts. */
function writeTexts(output: TemplateOutput, texts: readonly (string | null)[]) {
  return write(output, { name: 'text', other: 'text' }, (bench, writer) => {
    const other = texts.map(() => 'x');
    drive(writer.push(batchOf(bench, texts.length, [viewsColumn(bench, texts), viewsColumn(bench, other)])));
  });
}

t.test('CSV by its settings', async (t) => {
  t.equal(
    writeRows(csvOutput({})),
    'name,amount,ok,on,at,n\n' +
      '"a,b ""c""",-12.50,true,2024-02-29,2024-02-29T12:34:56.5Z,7\n' +
      ',,,,,\n' +
      "'=1+1,0.005,false,1969-12-31,1970-01-01T00:00:00Z,-3\n",
  );
  const german = { delimiter: ';', decimal: ',', dateFormat: 'dd.MM.yyyy', boolean: ['ja', 'nein'] as const };
  t.equal(
    writeRows(csvOutput({ ...german, lineEnding: 'crlf', bom: true, null: '-' })),
    '\ufeffname;amount;ok;on;at;n\r\n' +
      '"a,b ""c""";-12,50;ja;29.02.2024;2024-02-29T12:34:56.5Z;7\r\n' +
      '-;-;-;-;-;-\r\n' +
      "'=1+1;0,005;nein;31.12.1969;1970-01-01T00:00:00Z;-3\r\n",
  );
  t.equal(
    writeRows(csvOutput({ quoting: 'all', decimal: ',', formulaGuard: 'off' })),
    '"name","amount","ok","on","at","n"\n' +
      '"a,b ""c""","-12,50","true","2024-02-29","2024-02-29T12:34:56.5Z","7"\n' +
      '"","","","","",""\n' +
      '"=1+1","0,005","false","1969-12-31","1970-01-01T00:00:00Z","-3"\n',
  );
  t.equal(
    writeRows(csvOutput({ quoting: 'text', decimal: ',', boolean: ['a,b', 'no'], header: false })),
    '"a,b ""c""","-12,50","a,b",2024-02-29,2024-02-29T12:34:56.5Z,7\n' +
      ',,,,,\n' +
      `"'=1+1","0,005",no,1969-12-31,1970-01-01T00:00:00Z,-3\n`,
  );
  t.equal(
    writeTexts(csvOutput({ format: 'tsv' }), ['a\tb', 'a,b', '\tx']).text,
    'name\tother\n"a\tb"\tx\na,b\tx\n"\'\tx"\tx\n',
  );
  t.equal(write(csvOutput({}), { name: 'text', 'a,b': 'text' }, () => {}).text, 'name,"a,b"\n', 'no rows: the header');
  t.equal(write(csvOutput({ header: false }), { name: 'text' }, () => {}).text, '');
});

t.test('an empty row of a file of one column is quoted, raw or not', async (t) => {
  const one = (output: TemplateOutput) =>
    write(output, { name: 'text' }, (bench, writer) => {
      drive(writer.push(rawBatch(bench, Buffer.from('a\n""\n"b"\n'), 1)));
      drive(writer.push(batchOf(bench, 2, [viewsColumn(bench, [null, ''])])));
    }).text;
  t.equal(one(csvOutput({})), 'name\na\n""\nb\n""\n""\n');
  t.equal(one(csvOutput({ null: 'NULL' })), 'name\na\nNULL\nb\nNULL\n""\n');
  t.equal(write(csvOutput({}), { '': 'text' }, () => {}).text, '""\n');
});

t.test('how a field was quoted in the input never shows', async (t) => {
  const input = 'a,"b","c,d","e ""f"""," g ",h\n"","",,"=1",+49 89 123456,"-5"\n';
  const types = { a: 'text', b: 'text', c: 'text', d: 'text', e: 'text', f: 'text' } as const;
  const { text, writer } = write(csvOutput({ header: false }), types, (bench, writer) => {
    drive(writer.push(rawBatch(bench, Buffer.from(input), 6)));
  });
  t.equal(text, 'a,b,"c,d","e ""f""", g ,h\n,,,\'=1,+49 89 123456,-5\n');
  t.equal(writer.formulasGuarded, 1);
  const semicolons = write(csvOutput({ header: false, delimiter: ';' }), types, (bench, writer) => {
    drive(writer.push(rawBatch(bench, Buffer.from(input), 6)));
  });
  t.equal(semicolons.text, 'a;b;c,d;"e ""f"""; g ;h\n;;;\'=1;+49 89 123456;-5\n');
});

t.test('a row larger than the buffer goes out piece by piece', async (t) => {
  const long = `${'x'.repeat(300_000)}"${'é,'.repeat(200_000)}`;
  const { text, writer } = writeTexts(csvOutput({}), ['a', long, `=${long}`, null]);
  t.same(parse(text), [
    ['name', 'other'],
    ['a', 'x'],
    [long, 'x'],
    [`'=${long}`, 'x'],
    ['', 'x'],
  ]);
  t.equal(writer.formulasGuarded, 1);
  t.same(JSON.parse(writeTexts(jsonOutput('json'), [long, null]).text), [
    { name: long, other: 'x' },
    { name: null, other: 'x' },
  ]);
});

t.test('the formula guard: cells that each setting allows', async (t) => {
  const harmless = [
    '-5',
    '+5',
    '-1.234,56',
    "-1'234.50",
    '- 5',
    '-1 234',
    '-.5',
    '-5%',
    '-5 %',
    '-1e5',
    '+1.5E-7',
    '-5  ',
  ].concat([
    '+49 (0) 89 / 123-456',
    '+1-202-555-0123',
    '+4 340 1556032',
    '-1\u202f234,5',
    '0',
    'a=b',
    '(5)',
    "'=1",
    '-',
    '-5 €',
    '-5.00 EUR',
    '-33.865, 151.209',
    '-1.0, -2.0',
    '+1;-.5',
    '-12°C',
    '-12 °C',
    '-80 km/h',
    "-1'000.00 CHF",
    '-3 Stück im Lager',
    '-1e',
    '+49 89 12345x',
    '  -5',
    '\u200b-5 EUR',
    '\uff0d5',
    '\u3000-5',
    '\u3042=1',
    '\u3000',
    '\u2010=1',
    '\u2027=1',
    '\u2030=1',
    ' x',
    'é=1',
    '\uff21',
    '“=1',
    '   ',
  ]);
  const always = ['=', '=1+1', '@SUM(1)', '\t=1', '\r', '\n=1', ' =1', '  @x', '\u200b=1', '\u00a0=1', '\ufeff=1']
    .concat(['\u200f \t=1', '\uff1d1+1', '\uff20SUM(1)', ' \uff1d1'])
    .concat([...'\u00ad\u2000\u200a\u2028\u202e\u202f\u2061\u2066\u206f\u3000'].map((blank) => `${blank}=1`));
  const signed = [
    '+',
    '--1',
    '-1+1',
    '+1-1',
    '-1+cmd|x',
    '+49;x',
    '-A1',
    '+E5',
    '-1 E5',
    ' -A1',
    '\u200b+cmd|x',
    '\uff0bA1',
    '\uff0d1+1',
    '-5 EUR+1',
    '-5 A1',
    '-5 (A)',
    '-5/3',
    '-5\uff08',
    '-5 EUR!A',
    '-1:5',
    '-1,,2',
  ].concat(['-(5)', '+49|1234567', `-${'9'.repeat(200)}`, '+12/345678901234567890123', "-1'", '-1"', '-1\n']);
  const guardedBy = (guard: 'auto' | 'strict' | 'fail' | 'off', text: string) => isFormula(Buffer.from(text), guard);
  for (const text of harmless) t.notOk(guardedBy('auto', text), text);
  for (const text of [...always, ...signed]) t.ok(guardedBy('auto', text), text);
  for (const text of ['=', '+5', '-5', '@', '\tx', '\u0000x', '\rx', ' +5', '\u200b-5', '\uff0d5', '\uff0bx'])
    t.ok(guardedBy('strict', text));
  const all = [...harmless, ...always, ...signed];
  const auto = writeTexts(csvOutput({ delimiter: ';', header: false }), all);
  t.equal(auto.writer.formulasGuarded, always.length + signed.length);
  const read = (text: string) => (parse(text, { delimiter: ';' }) as string[][]).map((row) => row[0]);
  t.same(read(auto.text), [...harmless, ...[...always, ...signed].map((text) => `'${text}`)], 'the kernel agrees');
  t.same(read(writeTexts(csvOutput({ delimiter: ';', header: false, formulaGuard: 'off' }), all).text), all);
  const json = writeTexts(jsonOutput('ndjson'), ['=1+1']);
  t.equal(json.text, '{"name":"=1+1","other":"x"}\n', 'JSON has no formulas');
});

t.test('the guard covers the header, and fail names the place without the value', async (t) => {
  const types = { '=HYPERLINK()': 'text', '-5': 'text' } as const;
  const header = write(csvOutput({}), types, () => {});
  t.equal(header.text, "'=HYPERLINK(),-5\n");
  t.equal(header.writer.formulasGuarded, 1);
  t.match(
    failureOf(() => write(csvOutput({ formulaGuard: 'fail' }), types, () => {})),
    {
      code: 'TEMPLATE_CHECK_FAILED',
      message: /column 1 of the output in the header/,
    },
  );
  const rows = failureOf(() => writeTexts(csvOutput({ formulaGuard: 'fail' }), ['-5', 'a', '-secret', '=1']));
  t.match(rows, { code: 'TEMPLATE_CHECK_FAILED', message: /column 1 of the output in row 3 of the data/ });
  t.notMatch(rows?.message, /secret/);
  t.equal(writeTexts(csvOutput({ formulaGuard: 'fail' }), ['-5', '+49 89 123456']).writer.formulasGuarded, 0);
});

const corpus = '../shared/corpora/csv-injection/payloads.txt';
const skip = existsSync(corpus) ? false : 'the corpus of injections is not beside this checkout';

t.test('no known injection survives', { skip }, async (t) => {
  const payloads = readFileSync(corpus, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  for (const formulaGuard of ['auto', 'strict'] as const) {
    const { text } = writeTexts(csvOutput({ formulaGuard, header: false }), payloads);
    const cells = (parse(text) as string[][]).map((row) => row[0]!);
    t.equal(cells.length, payloads.length);
    for (const cell of cells) t.notMatch(cell, /^[=+\-@\t\r\n\0]/);
  }
});

t.test('encodings', async (t) => {
  const text = 'é€ß“x”';
  const encoded = (encoding: string, more: Parameters<typeof csvOutput>[0] = {}) =>
    writeTexts(csvOutput({ encoding, header: false, ...more }), [text]).bytes;
  for (const encoding of ['utf-16le', 'utf-16be', 'utf-8']) {
    t.equal(new TextDecoder(encoding).decode(encoded(encoding)), `${text},x\n`, encoding);
  }
  // Bytes instead of TextDecoder: Node 20 decodes windows-1252 as Latin-1.
  t.same(encoded('windows-1252'), Buffer.from([0xe9, 0x80, 0xdf, 0x93, 0x78, 0x94, 0x2c, 0x78, 0x0a]));
  t.same(encoded('utf-16le', { bom: true }).subarray(0, 4), Buffer.from([0xff, 0xfe, 0xe9, 0]));
  t.same(encoded('utf-16be', { bom: true }).subarray(0, 4), Buffer.from([0xfe, 0xff, 0, 0xe9]));
  t.equal(encoded('iso-8859-1', { unmappable: 'replace' }).toString('latin1'), 'é?ß?x?,x\n');
  t.equal(encoded('us-ascii', { unmappable: 'replace' }).toString('latin1'), '????x?,x\n');
  t.match(
    failureOf(() => encoded('iso-8859-1')),
    { code: 'TEMPLATE_CHECK_FAILED', message: /iso-8859-1/ },
  );
  const strict = (texts: readonly string[], more: Parameters<typeof csvOutput>[0] = {}) =>
    failureOf(() => writeTexts(csvOutput({ encoding: 'us-ascii', ...more }), texts));
  const rows = ['plain', 'a "quoted, text"\nof two lines', 'Łukasz'];
  t.match(strict(rows), {
    message: /^us-ascii lacks a character in row 3 of the output, column 1 \(output/,
    localMessage: /in row 3 of the output, column "name" \(/,
  });
  t.match(strict(rows, { header: false, delimiter: '|' })?.message, /in row 3 of the output, column 1/);
  t.equal(writeTexts(csvOutput({ encoding: 'latin1', unmappable: 'replace', header: false }), ['😀']).text, '?,x\n');
  t.equal(outputEncoding('Latin1'), 'iso-8859-1');
  t.equal(outputEncoding('utf-7'), null);
  for (const encoding of outputEncodings) {
    const { bytes } = writeTexts(csvOutput({ encoding, unmappable: 'replace' }), ['plain']);
    t.equal(new TextDecoder(encoding).decode(bytes), 'name,other\nplain,x\n', encoding);
  }
  const long = `${'x'.repeat(524_270)}${'é€'.repeat(300_000)}`;
  const cut = writeTexts(csvOutput({ encoding: 'iso-8859-15', header: false }), [long, 'é']).bytes;
  t.ok(new TextDecoder('iso-8859-15').decode(cut) === `${long},x\né,x\n`, 'characters over the borders of pieces');
});

t.test('the table of formats', async (t) => {
  t.same([...outputFormats.keys()], ['csv', 'tsv', 'xlsx', 'json', 'ndjson', 'parquet']);
  const kind = (output: TemplateOutput) => {
    const { mimeType, extension } = outputFile(outputFormats, output);
    return `${mimeType} ${extension}`;
  };
  t.equal(kind(csvOutput({})), 'text/csv csv');
  t.equal(kind(csvOutput({ format: 'tsv' })), 'text/tab-separated-values tsv');
  t.equal(kind(jsonOutput('json')), 'application/json json');
  t.equal(kind(jsonOutput('ndjson')), 'application/x-ndjson ndjson');
  t.equal(kind(jsonOutput('json', { layout: 'ndjson' })), 'application/x-ndjson ndjson');
});
