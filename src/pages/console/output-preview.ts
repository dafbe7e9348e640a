// The first rows of an output as a table. Reads what the service writes: CSV, TSV, JSON, NDJSON and XLSX here, Parquet in
// parquet-preview.ts. Needs only a few parts of the output.
import { type PreviewTable, parquetTable, type ReadBytes } from './parquet-preview.ts';

/** Maximum number of rows and columns of a preview: what people can read at a glance. */
const PREVIEW_ROWS_MAX = 50;
const PREVIEW_COLUMNS_MAX = 60;
const SHOWN = { rowsMax: PREVIEW_ROWS_MAX, columnsMax: PREVIEW_COLUMNS_MAX };

/** Bytes of an output that are read for its first rows. */
const HEAD_BYTES = 128 * 1024;

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const PARQUET = 'application/vnd.apache.parquet';

/** @returns null if outputs of this media type have no preview */
export async function previewTable(mimeType: string, sizeBytes: number, read: ReadBytes): Promise<PreviewTable | null> {
  if (mimeType === PARQUET) return parquetTable(sizeBytes, SHOWN, read);
  const head = await read(0, Math.min(sizeBytes, HEAD_BYTES));
  const isWhole = head.length >= sizeBytes;
  if (mimeType === XLSX) return sheetTable(head, isWhole);
  const text = textOf(head);
  if (/json/.test(mimeType)) return recordTable(text, isWhole);
  return /^text\//.test(mimeType) ? delimitedTable(text, isWhole) : null;
}

/** The encoding is not known: UTF-8 or UTF-16 if the bytes show it, otherwise the most common single-byte encoding. */
function textOf(bytes: Uint8Array<ArrayBuffer>): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: true });
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: true });
  try {
    // A character that is cut off at the end is left out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

// CSV and TSV.

const DELIMITERS = [',', ';', '\t', '|'];

function delimitedTable(text: string, isWhole: boolean): PreviewTable {
  const [firstLine = ''] = text.split(/\r?\n/, 1);
  const unquoted = firstLine.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))]!;
  const records = recordsOf(text, delimiter, PREVIEW_ROWS_MAX + 2);
  // The last record of a part may be cut off.
  const complete = isWhole || records.length > PREVIEW_ROWS_MAX + 1 ? records : records.slice(0, -1);
  const [header = [], ...rows] = complete;
  return tableOf(header, rows, isWhole);
}

function recordsOf(text: string, delimiter: string, recordsMax: number): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let at = 0; at < text.length && records.length < recordsMax; at++) {
    const sign = text[at]!;
    if (isQuoted) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && field === '') isQuoted = true;
    else if (sign === delimiter) {
      record.push(field);
      field = '';
    } else if (sign === '\n') {
      records.push([...record, field]);
      record = [];
      field = '';
    } else if (sign !== '\r') field += sign;
  }
  if (field !== '' || record.length > 0) records.push([...record, field]);
  return records;
}

// JSON and NDJSON.

function recordTable(text: string, isWhole: boolean): PreviewTable {
  const records = jsonRecords(text, PREVIEW_ROWS_MAX + 1);
  const header = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const rows = records.map((record) => header.map((name) => jsonText(record[name])));
  return tableOf(header, rows, isWhole);
}

/** The first complete objects of a list, or of lines. Objects inside other objects are not records. */
function jsonRecords(text: string, recordsMax: number): Readonly<Record<string, unknown>>[] {
  const records: Readonly<Record<string, unknown>>[] = [];
  let depth = 0;
  let start = 0;
  let isText = false;
  for (let at = 0; at < text.length && records.length < recordsMax; at++) {
    const sign = text[at];
    if (isText) {
      if (sign === '\\') at++;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === '{' && depth++ === 0) start = at;
    else if (sign === '}' && --depth === 0) records.push(parsed(text.slice(start, at + 1)));
  }
  return records;
}

/** Numbers stay as they are written: 1.50, and more digits than a number of JavaScript has. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  const quoted = text.replaceAll(
    /("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g,
    (_, string, number) => string ?? `"${number}"`,
  );
  return JSON.parse(quoted) as Readonly<Record<string, unknown>>;
}

function jsonText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// XLSX: the first sheet.

const LOCAL_HEADER_BYTES = 30;
const PIECE_BYTES = 16 * 1024;

async function sheetTable(head: Uint8Array<ArrayBuffer>, isWhole: boolean): Promise<PreviewTable> {
  const styles = (await entryText(head, 'xl/styles.xml')) ?? '';
  const sheet = (await entryText(head, 'xl/worksheets/sheet1.xml')) ?? '';
  const formats = cellFormats(styles);
  const found = [...sheet.matchAll(/<row [^>]*?(?:\/>|>(.*?)<\/row>)/gs)].slice(0, PREVIEW_ROWS_MAX + 2);
  const [header = [], ...rows] = found.map(([, cells = '']) => cellsOf(cells, formats));
  const isComplete = isWhole && sheet.includes('</sheetData>');
  return tableOf(
    header.map((name) => name ?? ''),
    rows,
    isComplete,
  );
}

/** Text of a file of the archive, as far as it is in the bytes; null: its beginning is not in the bytes. */
async function entryText(archive: Uint8Array<ArrayBuffer>, name: string): Promise<string | null> {
  const found = new TextDecoder('latin1').decode(archive).matchAll(/PK\x03\x04|PK\x01\x02|PK\x07\x08/g);
  const places = [...found].map(({ index }) => index);
  for (const [order, at] of places.entries()) {
    const view = new DataView(archive.buffer, archive.byteOffset + at);
    if (archive[at + 2] !== 3 || view.byteLength < LOCAL_HEADER_BYTES) continue;
    const start = at + LOCAL_HEADER_BYTES + view.getUint16(26, true);
    if (new TextDecoder().decode(archive.subarray(at + LOCAL_HEADER_BYTES, start)) !== name) continue;
    const end = places[order + 1] ?? archive.length;
    return inflated(archive.subarray(start + view.getUint16(28, true), end));
  }
  return null;
}

/** Inflates the available bytes, which may be cut off anywhere. */
async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const { readable, writable } = new DecompressionStream('deflate-raw');
  const decoder = new TextDecoder();
  let text = '';
  const reading = (async () => {
    const reader = readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
    }
  })().catch(() => {});
  const writer = writable.getWriter();
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await writer.ready;
      await writer.write(bytes.subarray(at, at + PIECE_BYTES));
    }
    // Ready again: everything so far has been read. An end in the middle of the data is an error, which loses nothing.
    await writer.ready;
    await writer.close();
  } catch {
    // The text so far is shown.
  }
  await reading;
  return text;
}

type CellFormat = 'general' | 'date' | 'datetime' | 'time';

/** The kind of format of each style. */
function cellFormats(styles: string): readonly CellFormat[] {
  const codes = new Map<string, string>();
  for (const [, id, code] of styles.matchAll(/<numFmt numFmtId="(\d+)" formatCode="([^"]*)"/g)) codes.set(id!, code!);
  const [, formats = ''] = /<cellXfs[^>]*>(.*?)<\/cellXfs>/s.exec(styles) ?? [];
  return [...formats.matchAll(/<xf numFmtId="(\d+)"/g)].map(([, id]) => {
    const code = (codes.get(id!) ?? '').toLowerCase();
    const hasDate = /[yd]/.test(code);
    if (/[hs]/.test(code)) return hasDate ? 'datetime' : 'time';
    return hasDate ? 'date' : 'general';
  });
}

function cellsOf(row: string, formats: readonly CellFormat[]): (string | null)[] {
  const cells: (string | null)[] = [];
  for (const [, attributes = '', content = ''] of row.matchAll(/<c ([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)) {
    const [, letters = 'A'] = /r="([A-Z]+)/.exec(attributes) ?? [];
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
    while (cells.length < column) cells.push(null);
    const [, style = '0'] = /s="(\d+)"/.exec(attributes) ?? [];
    const [, type = 'n'] = /t="(\w+)"/.exec(attributes) ?? [];
    cells[column] = cellText(content, type, formats[Number(style)] ?? 'general');
  }
  return cells;
}

function cellText(content: string, type: string, format: CellFormat): string | null {
  const texts = [...content.matchAll(/<(?:t|v)(?: [^>]*)?>(.*?)<\/(?:t|v)>/gs)].map(([, text]) => text);
  if (texts.length === 0) return null;
  const text = unescaped(texts.join(''));
  if (type === 'b') return text === '1' ? 'true' : 'false';
  return type === 'n' && format !== 'general' ? dateText(Number(text), format) : text;
}

const DAY_MILLISECONDS = 86_400_000;
/** The day with the number 0 in workbooks, after the leap day of 1900 that they count. */
const EPOCH_MILLISECONDS = Date.UTC(1899, 11, 30);
const DATE_LENGTH = 10;
const SECOND_LENGTH = 19;

function dateText(serial: number, format: CellFormat): string {
  const iso = new Date(EPOCH_MILLISECONDS + Math.round(serial * DAY_MILLISECONDS)).toISOString();
  if (format === 'date') return iso.slice(0, DATE_LENGTH);
  const time = iso.slice(DATE_LENGTH + 1, SECOND_LENGTH);
  return format === 'time' ? time : `${iso.slice(0, DATE_LENGTH)} ${time}`;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text
    .replaceAll(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** @param rows may be more than a preview shows */
function tableOf(
  header: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  isWhole: boolean,
): PreviewTable {
  const shown = rows.slice(0, PREVIEW_ROWS_MAX).map((row) => row.slice(0, PREVIEW_COLUMNS_MAX));
  return { header, rows: shown, isCut: !isWhole || rows.length > shown.length };
}
