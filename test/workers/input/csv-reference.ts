// The expected result of a CSV reader, computed in the simplest way from the whole text. Tests compare windows, chunks,
// batches and both readers with it.
import { COLUMNS_MAX } from '../../../workers/input/ceilings.ts';
import { type CsvDefect, malformed } from '../../../workers/input/csv/csv-input.ts';
import { countLineBreaks, invalidLine, openQuote } from '../../../workers/input/csv/lines.ts';
import { type CodeCounts, countCode } from '../../../workers/protocol/report.ts';
import { type IndexedRows, indexRows, isStrayField } from '../kernel/scalar/index-rows.ts';
import { materialise } from '../kernel/scalar/materialise.ts';
import { scan } from '../kernel/scalar/scan.ts';
import { DIALECT, type ReadRows, type ReadSettings, type Row } from './read-rows.ts';

const LF = 10;
const CR = 13;
const NO_QUOTE = 0xff;

/** A character without a meaning in CSV. */
const ORDINARY = 0x78;

interface Text {
  readonly u8: Uint8Array;
  readonly delimiter: number;
  readonly quote: number;
  readonly end: number;
}

/** Structural characters of one record, and the address of the byte before the record. */
interface ReferenceRecord {
  readonly before: number;
  readonly structurals: readonly number[];
}

/**
 * Only for dialects with one-byte delimiters and quotes.
 * @param keepsApart true: a quote that is not closed on its line is an ordinary character; false: it fails the file
 */
export function referenceRows(bytes: Uint8Array, settings: ReadSettings = {}, keepsApart = true): ReadRows {
  const dialect = { ...DIALECT, ...settings.dialect };
  const text = textOf(bytes, dialect.delimiter, dialect.quote);
  const rows: Row[] = [];
  const counts: CodeCounts = {};
  let headers: readonly string[] = [];
  let failure: string | null = null;
  try {
    const literal: number[] = [];
    let records = recordsOf(text, literal);
    const { skipped, texts } = headerOf(text, records, dialect.headerRow, settings);
    headers = texts;
    for (let at = skipped; at < records.length; at++) {
      const record = records[at]!;
      failOnText(text, record);
      const open = keepsApart ? swallowedCell(text, record) : undefined;
      if (open !== undefined) {
        literal.push(open[0]);
        records = recordsOf(text, literal);
        at--;
        continue;
      }
      const row = dataRow(text, record, texts.length, settings, counts, rows.length + 1);
      if (row !== null) rows.push(row);
    }
    failUnlessComplete(text, records);
  } catch (error) {
    failure = (error as Error).message;
  }
  return { headers, rows, sourceRows: rows.map((_, index) => index + 1), counts, rowsRead: rows.length, failure };
}

/** The bytes after a line feed, without a byte order mark and with a final line feed. */
function textOf(bytes: Uint8Array, delimiter: string, quote: string): Text {
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const body = [...bytes.subarray(mark)];
  if (body.length > 0 && body[body.length - 1] !== LF) body.push(LF);
  const u8 = Uint8Array.from([LF, ...body, LF]);
  return {
    u8,
    delimiter: delimiter.charCodeAt(0),
    quote: quote === '' ? NO_QUOTE : quote.charCodeAt(0),
    end: u8.length - 1,
  };
}

/** @param literal addresses of quotes that are ordinary characters */
function recordsOf(text: Text, literal: readonly number[]): ReferenceRecord[] {
  const u8 = text.u8.slice();
  for (const address of literal) u8[address] = ORDINARY;
  const { structurals } = scan(u8, 1, text.end, text.delimiter, text.quote);
  const records: ReferenceRecord[] = [];
  let before = 0;
  let own: number[] = [];
  for (const address of structurals) {
    own.push(address);
    if (text.u8[address] !== LF && text.u8[address] !== CR) continue;
    records.push({ before, structurals: own });
    before = address;
    own = [];
  }
  return records;
}

function headerOf(
  text: Text,
  records: readonly ReferenceRecord[],
  headerRow: number | null,
  settings: ReadSettings,
): { skipped: number; texts: string[] } {
  const blank = (record: ReferenceRecord): boolean =>
    bounds(text, record).every(([from, to]) => from === to) && record.structurals.length === 1;
  const at = headerRow ?? records.findIndex((record) => !blank(record));
  for (const record of records.slice(0, at < 0 ? undefined : at + 1)) {
    failOnText(text, record);
    failOnSwallowed(text, record);
  }
  const record = records[at];
  if (record === undefined) {
    failUnlessComplete(text, records);
    throw malformed(records.every(blank) ? 'empty' : 'header', 0);
  }
  const fields = bounds(text, record);
  if (fields.length > COLUMNS_MAX) fail(text, 'columns', record.before + 1);
  if (headerRow === null) {
    return { skipped: fields.length === 1 ? 0 : at, texts: fields.map(() => '') };
  }
  if (blank(record)) throw malformed('blankHeader', 0);
  if (settings.strayQuotes === 'fail') failOnStray(text, record);
  const texts = fields.map(([from, to]) =>
    Buffer.from(materialise(text.u8, from, to, text.quote, []) ?? '').toString(),
  );
  return { skipped: at + 1, texts };
}

function dataRow(
  text: Text,
  record: ReferenceRecord,
  columns: number,
  settings: ReadSettings,
  counts: CodeCounts,
  sourceRow: number,
): Row | null {
  failOnText(text, record);
  const nullTexts = settings.nullValues ?? [''];
  const made = indexRows(text.u8, record.structurals, record.before, 1, {
    columns,
    columnsMax: COLUMNS_MAX,
    quote: text.quote,
    raggedFails: settings.ragged === 'fail',
    strayFails: settings.strayQuotes === 'fail',
    emptyIsNull: nullTexts.includes(''),
  });
  if (made.stop === 'stray') failOnStray(text, record);
  if (made.stop === 'swallowed') failOnSwallowed(text, record);
  if (made.stop !== null) fail(text, made.stop, record.before + 1);
  if (made.rows === 0) return null;
  count(made, counts, sourceRow);
  return made.entries.slice(1).map((to, column) => {
    const cell = materialise(text.u8, made.entries[column]! + 1, to, text.quote, nullTexts);
    return cell === null ? null : Buffer.from(cell).toString();
  });
}

function count(made: IndexedRows, counts: CodeCounts, sourceRow: number): void {
  if (made.ragged.length > 0) countCode(counts, 'RAGGED_ROW', sourceRow);
  if (made.short.length > 0) countCode(counts, 'SHORT_ROW', sourceRow);
  for (let stray = made.strays[0]?.[1] ?? 0; stray > 0; stray--) countCode(counts, 'STRAY_QUOTE', sourceRow);
}

function bounds(text: Text, record: ReferenceRecord): [number, number][] {
  return record.structurals.map((address, index) => {
    const from = (index === 0 ? record.before : record.structurals[index - 1]!) + 1;
    const isCrLf = text.u8[address] === LF && address > from && text.u8[address - 1] === CR;
    return [from, isCrLf ? address - 1 : address];
  });
}

function failOnText(text: Text, record: ReferenceRecord): void {
  const from = record.before + 1;
  const to = record.structurals[record.structurals.length - 1]! + 1;
  const nul = text.u8.subarray(from, to).indexOf(0);
  const line = invalidLine(text.u8, from, to);
  if (nul >= 0 && (line < 0 || from + nul <= line)) fail(text, 'nul', from + nul);
  if (line >= 0) fail(text, 'utf8', line);
}

function failOnStray(text: Text, record: ReferenceRecord): void {
  const stray = bounds(text, record).find(([from, to]) => isStrayField(text.u8, from, to, text.quote));
  if (stray !== undefined) fail(text, 'stray', stray[0]);
}

function failOnSwallowed(text: Text, record: ReferenceRecord): void {
  const found = swallowedCell(text, record);
  if (found !== undefined) fail(text, 'swallowed', found[0]);
}

/** A quoted cell that contains line breaks and has text after its closing quote. */
function swallowedCell(text: Text, record: ReferenceRecord): [number, number] | undefined {
  return bounds(text, record).find(
    ([from, to]) =>
      isStrayField(text.u8, from, to, text.quote) &&
      text.u8.subarray(from, to).some((byte) => byte === LF || byte === CR),
  );
}

function failUnlessComplete(text: Text, records: readonly ReferenceRecord[]): void {
  const last = records[records.length - 1];
  const from = last === undefined ? 1 : last.structurals[last.structurals.length - 1]! + 1;
  if (from < text.end) fail(text, 'quote', openQuote(text.u8, from, text.end, text.delimiter, text.quote));
}

function fail(text: Text, defect: CsvDefect, address: number): never {
  throw malformed(defect, 1 + countLineBreaks(text.u8, 1, address));
}
