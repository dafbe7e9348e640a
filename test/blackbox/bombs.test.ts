// Files that decompress, nest or declare more than allowed, over HTTP: the right 4xx in time, and the service
// continues.
// With all tests only: attacks and faults of the machine.
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { processorClock } from '../processor-clock.ts';
import { noiseBytes } from '../random.ts';
import { rowsOf, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { deflatedOften, zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { plan, template } from './catalog-folder.ts';
import { expectError, expectRun } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

/** Maximum processor time for a hostile file. */
const PROCESSOR_MILLISECONDS_MAX = 2_000;

const MIB = 1024 * 1024;
const GIB_IN_MIB = 1024;
const CLAIMED_BYTES_MAX = 0xffffffff;

const templates = { all: template([]), fill: template([], { input: { merged: 'fill' } }) };
const service = await startService(
  t,
  {
    plans: { inflating: plan({ inflated_bytes_max: 8 * GIB_IN_MIB * MIB, rows_max: null }) },
    accounts: { acme: { plan: 'inflating', templates } },
  },
  { 'memory-budget': '64MiB', workers: 1 },
);
const acme = service.client();
const now = processorClock(service);

const HEAD = '<worksheet><sheetData>';
const TAIL = '</sheetData></worksheet>';
const HEADER = rowsOf([['id', 'amount']]);

/** A workbook with a sheet of some text that is there a thousand and more times. */
function repeating(before: string, piece: string, times: number, after = ''): Buffer {
  const packed = deflatedOften(HEAD + before, piece, times, after + TAIL);
  return workbookOf({ sheetAs: { packed, toldBytes: CLAIMED_BYTES_MAX } });
}

/** Repetitions that fit into 1 MiB. */
function mebibyteOf(text: string): string {
  return text.repeat(Math.floor(MIB / text.length));
}

async function refuses(t: Test, bytes: Buffer, status: number, code: string, name = 'all'): Promise<void> {
  const begun = now();
  const answer = await acme.upload(name, [file(bytes)]);
  const milliseconds = now() - begun;
  expectError(t, answer, status, code);
  t.ok(
    milliseconds < PROCESSOR_MILLISECONDS_MAX,
    `${answer.json['message']}: ${milliseconds} ms, ${bytes.length} bytes`,
  );
}

t.test('a gibibyte in a mebibyte of ZIP: 413', async (t) => {
  const rows = repeating(HEADER, mebibyteOf('<row/>'), GIB_IN_MIB);
  t.ok(rows.length < 4 * MIB);
  await refuses(t, rows, 413, 'FILE_TOO_LARGE');
  await refuses(t, repeating(HEADER, mebibyteOf('<row><c><v>1</v></c></row>'), GIB_IN_MIB), 413, 'FILE_TOO_LARGE');
  const packed = deflatedOften('a\n', mebibyteOf('1\n'), GIB_IN_MIB, '');
  const csv = zipOf([{ name: 'a.csv', content: '', packed, toldBytes: CLAIMED_BYTES_MAX }]);
  await refuses(t, csv, 413, 'FILE_TOO_LARGE');
  const lying = zipOf([{ name: 'a.csv', content: '', packed, toldBytes: 5 }]);
  await refuses(t, lying, 400, 'MALFORMED_FILE');
});

t.test('one cell of a gibibyte: 413, of 20 MiB that hardly inflate: 400', async (t) => {
  const text = mebibyteOf('abcdefghij klmnopqrst uvwxyz 0123456789 ');
  const cell = '<row r="2"><c t="inlineStr"><is><t>';
  await refuses(t, repeating(HEADER + cell, text, GIB_IN_MIB, '</t></is></c></row>'), 413, 'FILE_TOO_LARGE');
  const dense = noiseBytes((MIB * 3) / 4).toString('base64');
  await refuses(t, repeating(HEADER + cell, dense, 20, '</t></is></c></row>'), 400, 'MALFORMED_FILE');
});

t.test('a comment and an attribute without end: 413', async (t) => {
  await refuses(t, repeating('<!--', mebibyteOf('ab '), 40), 413, 'FILE_TOO_LARGE');
  await refuses(t, repeating('<row spans="', mebibyteOf('ab '), 40), 413, 'FILE_TOO_LARGE');
});

t.test('archives in archives, entries that overlap, too many entries: refused', async (t) => {
  let nested = zipOf([{ name: 'a.csv', content: 'a\n1\n' }]);
  for (let depth = 0; depth < 10; depth++) nested = zipOf([{ name: 'a.zip', content: nested }]);
  await refuses(t, nested, 415, 'UNSUPPORTED_FILE_TYPE');
  await refuses(t, gzipSync(nested), 415, 'UNSUPPORTED_FILE_TYPE');
  const many = Array.from({ length: 20_001 }, (_, index) => ({ name: `${index}`, content: '', isStored: true }));
  await refuses(t, zipOf(many), 400, 'MALFORMED_FILE');
  const twice = [
    { name: 'a', content: 'x' },
    { name: 'b', content: 'x' },
  ];
  await refuses(t, zipOf(twice, { overlaps: true }), 400, 'MALFORMED_FILE');
});

t.test('a billion laughs, and other document types: 400', async (t) => {
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
  const sheet = `<!DOCTYPE x [<!ENTITY l0 "lol">${laughs}]>${HEAD}<row><c t="str"><v>&l9;</v></c></row>${TAIL}`;
  await refuses(t, workbookOf({ sheet }), 400, 'MALFORMED_FILE');
  const outside = `<!DOCTYPE x SYSTEM "file:///etc/passwd">${HEAD}${HEADER}${TAIL}`;
  await refuses(t, workbookOf({ sheet: outside }), 400, 'MALFORMED_FILE');
  await refuses(t, workbookOf({ rows: HEADER, strings: '<!DOCTYPE x><si><t>a</t></si>' }), 400, 'MALFORMED_FILE');
  await refuses(t, workbookOf({ sheet: `${'<a>'.repeat(100_000)}` }), 400, 'MALFORMED_FILE');
});

t.test('rows and columns beyond all sheets: numbers are not believed', async (t) => {
  const last = '<row r="2147483647"><c r="A2147483647"><v>1</v></c></row>';
  const sparse = await acme.upload('all', [file(workbookOf({ rows: `${HEADER}${last}` }))]);
  expectRun(t, sparse, 201, 'succeeded');
  t.equal(sparse.run.rows_written, 1);
  await refuses(t, workbookOf({ rows: `${HEADER}<row r="2147483648"><c><v>1</v></c></row>` }), 400, 'MALFORMED_FILE');
  await refuses(t, workbookOf({ rows: `${HEADER}<row><c r="XFE2"><v>1</v></c></row>` }), 400, 'MALFORMED_FILE');
  await refuses(t, workbookOf({ rows: `<row>${'<c><v>1</v></c>'.repeat(16_385)}</row>` }), 400, 'MALFORMED_FILE');
  const wrong = workbookOf({ before: '<dimension ref="A1:XFD1048576"/>', rows: `${HEADER}${rowsOf([[1, 2]], 2)}` });
  expectRun(t, await acme.upload('all', [file(wrong)]), 201, 'succeeded');
});

t.test('one long text in many cells: 413, in one row: 400', async (t) => {
  const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(1_000)}</row>`.repeat(200);
  const shared = workbookOf({ strings: `<si><t>${'x'.repeat(3_000)}</t></si>`, rows });
  await refuses(t, shared, 413, 'FILE_TOO_LARGE');
  const long = workbookOf({ strings: `<si><t>${'x'.repeat(4_000_000)}</t></si>`, rows });
  await refuses(t, long, 400, 'MALFORMED_FILE');
  const merged = workbookOf({
    rows: `<row><c t="inlineStr"><is><t>${'x'.repeat(900)}</t></is></c></row>${'<row/>'.repeat(100_000)}`,
    after: '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
  });
  await refuses(t, merged, 413, 'FILE_TOO_LARGE', 'fill');
});

t.test('styles and shared strings without end: refused', async (t) => {
  const formats = Array.from({ length: 70_000 }, () => '0');
  await refuses(t, workbookOf({ rows: HEADER, formats }), 400, 'MALFORMED_FILE');
  const strings = deflatedOften('<sst>', mebibyteOf(`<si><t>${'CanaryCell '.repeat(9)}</t></si>`), 150, '</sst>');
  const bytes = workbookOf({
    rows: `<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1000000</v></c></row>`,
    others: [{ name: 'xl/sharedStrings.xml', content: '', packed: strings, toldBytes: CLAIMED_BYTES_MAX }],
    sharesStrings: true,
  });
  await refuses(t, bytes, 413, 'FILE_TOO_LARGE');
});

t.test('the service goes on, and nothing of them is logged', async (t) => {
  expectRun(t, await acme.upload('all', [file('a\n1\n')]), 201, 'succeeded');
  await checkLogs(t, service);
});
