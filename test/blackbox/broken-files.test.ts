// Messages about broken files: they name the broken rule, the position, what was found and what was expected, and
// never contain content of the file.
// With all tests only: files of all formats over HTTP.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { flatFile } from '../workers/input/parquet/sample-files.ts';
import { rowsOf, type WrittenWorkbook, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import { template } from './catalog-folder.ts';
import { expectError } from './expect.ts';
import { file } from './multipart.ts';
import { checkLogs, startService } from './service.ts';

const CANARY = 'CanaryCell';
const service = await startService(t, { accounts: { acme: { templates: { plain: template([]) } } } });
const acme = service.client();

const csv = `id,note\n${Array.from({ length: 20_000 }, (_, row) => `${row},${CANARY}${(row * 7919) % 10_007}\n`).join('')}`;
const gzip = gzipSync(csv);
const zip = zipOf([{ name: `${CANARY}.csv`, content: csv }]);
const parquet = Buffer.from(flatFile());
const sound: WrittenWorkbook = {
  rows: rowsOf([
    ['id', 'note'],
    [CANARY, 2],
  ]),
};

/** The rows of a workbook with something else after the second. */
const withRow = (xml: string): Buffer => workbookOf({ rows: `${sound.rows}${xml}` });

function changed(bytes: Buffer, at: number, to: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? copy.length + at : at] = to(copy.at(at)!);
  return copy;
}

const flipped = (byte: number): number => byte ^ 1;
const workbook = workbookOf(sound);
const secondEntryAt = workbook.indexOf('PK\u0003\u0004', 4, 'latin1');
const directoryAt = zip.readUInt32LE(zip.length - 6);
const footerBytes = parquet.readUInt32LE(parquet.length - 8);

const CASES: Readonly<Record<string, readonly [bytes: Buffer, says: RegExp]>> = {
  'a gzip file that is cut off': [
    gzip.subarray(0, -9),
    new RegExp(`gzip data is cut off.*at byte ${gzip.length - 9}\\.$`),
  ],
  'a gzip file with another checksum': [changed(gzip, -5, flipped), /gzip data is damaged: its checksum.*at byte \d+/],
  'a gzip file with a broken block': [changed(gzip, 10, () => 0xff), /gzip data is corrupt, at byte \d+ or after it/],
  'something after gzip data': [
    Buffer.concat([gzip, Buffer.from(CANARY)]),
    /other data follows, at byte \d+ or after it\.$/,
  ],
  'a ZIP archive that is cut off': [zip.subarray(0, -30), new RegExp(`cut off, at byte ${zip.length - 30}\\.$`)],
  'an invalid list of entries': [
    changed(zip, directoryAt, flipped),
    new RegExp(`entry 1 of 1 is expected in its list of entries, at byte ${directoryAt}\\.$`),
  ],
  'an entry that is not there': [
    changed(workbook, secondEntryAt, flipped),
    new RegExp(`an entry is expected here by the list of entries, at byte ${secondEntryAt}\\.$`),
  ],
  'an entry of another checksum': [
    zipOf([{ name: 'a.csv', content: csv, toldCrc32: 1 }]),
    /its checksum differs from the list of entries, at byte 0\.$/,
  ],
  'an entry of more bytes': [
    zipOf([{ name: 'a.csv', content: 'a\n1\n', toldBytes: 3 }]),
    /inflates to more than the 3 bytes in the list of entries, at byte 0\.$/,
  ],
  'an entry of fewer bytes': [
    zipOf([{ name: 'a.csv', content: 'a\n1\n', toldBytes: 9 }]),
    /inflates to 4 bytes instead of the 9 in the list of entries, at byte 0\.$/,
  ],
  'an entry that overlaps': [
    zipOf(
      [
        { name: 'a', content: csv },
        { name: 'b', content: csv },
      ],
      { overlaps: true },
    ),
    /an entry of \d+ bytes does not fit between its position and byte 0, at byte 0\.$/,
  ],
  'a workbook whose styles are broken': [
    workbookOf({ ...sound, styles: '<styleSheet><numFmts>' }),
    /a part is cut off\. \(In its styles\.\)$/,
  ],
  'a sheet that ends in a cell': [
    workbookOf({ sheet: `<worksheet><sheetData>${sound.rows}<row r="7"><c r="D7"><v>${CANARY}` }),
    /a part is cut off\. \(Sheet 1, at row 7, column D or after it\.\)$/,
  ],
  'tags that do not match': [
    withRow(`<row r="9"><c r="A9"><v>1</v></c><c r="AB9"><v>${CANARY}</x></c></row>`),
    /tags do not match\. \(Sheet 1, at row 9, column (?:A|AB) or after it\.\)$/,
  ],
  'a shared string that is not there': [
    withRow('<row r="3"><c r="C3" t="s"><v>7</v></c></row>'),
    /shared string that does not exist\. \(Sheet 1, at row 3, column C or after it\.\)$/,
  ],
  'broken shared strings': [
    workbookOf({ ...sound, strings: `<si><t>a</t></si><si><t>b</t></si><si><t>${CANARY}</x></si>` }),
    /tags do not match\. \(In its shared strings, at string 3 or after it\.\)$/,
  ],
  'a sheet that is missing': [
    workbookOf({ ...sound, sheetTarget: 'worksheets/none.xml' }),
    /is missing\. \(Sheet 1\.\)$/,
  ],
  'a Parquet file that is cut off': [
    parquet.subarray(0, 5000),
    /does not end with PAR1, so it is cut off, at byte 4996\.$/,
  ],
  'Parquet metadata without end': [
    changed(parquet, -5, () => 1),
    new RegExp(
      `should have ${footerBytes + (1 << 24)} bytes, but the file has only ${parquet.length - 12} bytes for it, at byte \\d+\\.$`,
    ),
  ],
  'a Parquet page that is broken': [changed(parquet, 4, () => 0xff), /in its metadata, at byte 5\.$/],
  'JSON that is cut off': [
    Buffer.from(`[{"a":"${CANARY}"},\n {"a":`),
    /^Line 2, column 7: the file ends in the middle of its JSON/,
  ],
  'a trailing comma': [Buffer.from(`[{"a":"${CANARY}",}]`), /^Line 1, column 20: a key in double quotes is expected/],
};

for (const [what, [bytes, says]] of Object.entries(CASES)) {
  t.test(`${what}: 400 with the place`, async (t) => {
    const answer = await acme.upload('plain', [file(bytes)]);
    expectError(t, answer, 400, 'MALFORMED_FILE');
    t.match(answer.json['message'], says);
  });
}

t.test('nothing of them is logged', (t) => checkLogs(t, service));
