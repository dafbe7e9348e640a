// Valid files of every format with random damage: to the stored bytes, or to the files inside an archive, so that the
// damage reaches the reader of these files.
import { gzipSync } from 'node:zlib';
import { flatFile, nestedFile } from '../workers/input/parquet/sample-files.ts';
import { rowsOf, type WrittenWorkbook, workbookOf } from '../workers/input/xlsx/workbook-writer.ts';
import { zipOf } from '../workers/input/xlsx/zip-writer.ts';
import type { Chance } from './chance.ts';
import { storedFrame } from './zstd-writer.ts';

export interface MutatedFile {
  readonly ending: string;
  readonly bytes: Buffer;
}

type Spoil = (content: Uint8Array | string) => Buffer;

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff];

/** What one format's reader takes for more than text, put into files of all. */
const PIECES = [
  ...['"', '""', ',', ';', '\t', '\n', '\r\n', '\0', '\ufeff', '{', '}', '[', ']', ':', '\\', '\\u', '\\ud800'],
  ...['<', '>', '</', '/>', '<!--', '<![CDATA[', '<!DOCTYPE x>', '&', '&#0;', '&amp;', '<c', '<row r="1">', 'r="XFD9"'],
  ...['1e999', '-', '99999999999999999999', 'null', 't="s"', '<v>-1</v>', 'PK\x03\x04', '\x1f\x8b', '\ud83d\ude00'],
];

const RECORDS = Array.from({ length: 40 }, (_, row) => ({
  id: row,
  name: `name "${row}" \u00e9`,
  amount: row * 1.25,
  tags: ['a', { b: null }],
  ...(row % 3 === 0 ? {} : { at: '2026-01-31', active: row % 2 === 0 }),
}));
const CSV = `id,name,note\n${RECORDS.map(({ id }) => `${id},"name ""${id}""",plain\n`).join('')}`;
const LIST = JSON.stringify(RECORDS);
const LINES = RECORDS.map((record) => JSON.stringify(record)).join('\n');
const WRAPPED = JSON.stringify({ next: null, orders: RECORDS }, null, 2);
const CELLS = RECORDS.map(({ id, name, amount }) => [id, name.replaceAll('"', ''), amount, id % 2 === 0]);
const ROWS = `${rowsOf([['id', 'name', 'amount', 'active']])}${rowsOf(CELLS, 2)}`;
const STRINGS = '<si><t>one</t></si><si><r><t>t</t></r><r><t xml:space="preserve"> wo</t></r></si>';
const SHARED = `${rowsOf([['a', 'b']])}<row r="2"><c t="s"><v>0</v></c><c r="B2" t="s" s="1"><v>1</v></c></row>`;
const WORKBOOK: WrittenWorkbook = { rows: ROWS, formats: ['yyyy-mm-dd', '0.00'] };
const SHEET = `<worksheet><sheetData>${SHARED}</sheetData><mergeCells><mergeCell ref="A2:B3"/></mergeCells></worksheet>`;

/** Each file, spoiled where `spoil` is called: once, in one of its layers. */
const FILES: readonly (readonly [ending: string, write: (spoil: Spoil) => Buffer])[] = [
  ['csv', (spoil) => spoil(CSV)],
  ['csv', (spoil) => spoil(Buffer.from(CSV, 'utf16le'))],
  ['csv.gz', (spoil) => spoil(gzipSync(CSV))],
  ['csv.gz', (spoil) => gzipSync(spoil(CSV))],
  ['csv.zst', (spoil) => spoil(storedFrame(Buffer.from(CSV)))],
  ['zip', (spoil) => spoil(zipOf([{ name: 'a.csv', content: CSV }]))],
  ['zip', (spoil) => zipOf([{ name: 'a.json', content: spoil(LIST) }])],
  ['json', (spoil) => spoil(LIST)],
  ['json', (spoil) => spoil(WRAPPED)],
  ['ndjson', (spoil) => spoil(LINES)],
  ['ndjson', (spoil) => spoil(LINES)],
  ['parquet', (spoil) => spoil(flatFile())],
  ['parquet', (spoil) => spoil(flatFile({ codec: 'UNCOMPRESSED', pageSize: 512 }))],
  ['parquet', (spoil) => spoil(nestedFile())],
  ['xlsx', (spoil) => spoil(workbookOf(WORKBOOK))],
  ['xlsx', (spoil) => workbookOf({ ...WORKBOOK, rows: '', sheet: spoil(SHEET), strings: STRINGS })],
  ['xlsx', (spoil) => workbookOf({ ...WORKBOOK, rows: spoil(ROWS).toString('latin1') })],
  ['xlsx', (spoil) => workbookOf({ rows: SHARED, strings: spoil(STRINGS).toString() })],
  ['xlsx', (spoil) => workbookOf({ ...WORKBOOK, workbookProperties: spoil('<workbookPr date1904="1"/>').toString() })],
];

export function mutatedFile(chance: Chance): MutatedFile {
  const [ending, write] = chance.of(FILES);
  return { ending, bytes: write((content) => spoiled(Buffer.from(content as Uint8Array), chance)) };
}

function spoiled(content: Buffer, chance: Chance): Buffer {
  let bytes = content;
  for (let changes = 1 + chance.below(3); changes > 0 && bytes.length > 0; changes--) {
    const at = placeIn(bytes, chance);
    const to = Math.min(bytes.length, at + 1 + chance.below(16));
    const kind = chance.below(9);
    if (kind === 0) bytes[at] = chance.below(256);
    else if (kind === 1) bytes[at]! ^= 1 << chance.below(8);
    else if (kind === 2) bytes[at] = chance.of(EXTREMES);
    else if (kind === 3) bytes.fill(chance.of(EXTREMES), at, to);
    else if (kind === 4) bytes = joined(bytes.subarray(0, at), Buffer.from(chance.of(PIECES)), bytes.subarray(at));
    else if (kind === 5) bytes = joined(bytes.subarray(0, at), bytes.subarray(to));
    else if (kind === 6) bytes = joined(bytes.subarray(0, to), bytes.subarray(at));
    else if (kind === 7) bytes = joined(bytes.subarray(0, at), chance.bytes(1 + chance.below(6)), bytes.subarray(at));
    else if (chance.oneIn(3)) bytes = Buffer.from(bytes.subarray(0, at));
  }
  return bytes;
}

/** The directories and metadata at the end are where lies are worth most. */
function placeIn(bytes: Buffer, chance: Chance): number {
  return chance.oneIn(3) ? bytes.length - 1 - chance.below(Math.min(bytes.length, 400)) : chance.below(bytes.length);
}

function joined(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}
