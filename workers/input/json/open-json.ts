// Opens a reader for the records of a JSON file.

import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { COLUMNS, EMPTY_IS_NULL, GUESSES, KINDS, MEMBERS, STRIDE, UNSETTLED, VIEWS } from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../scheduling/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import { goOnAtOnce } from '../csv/csv-input.ts';
import { placeNullTexts } from '../csv/null-texts.ts';
import { WINDOW_BYTES } from '../csv/window.ts';
import type { Encoding } from '../encoding/encoding.ts';
import { textSource } from '../encoding/text-source.ts';
import { certain, type FileExplanation } from '../explanation.ts';
import type { FileStart } from '../file-start.ts';
import type { OpenSettings } from '../format.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { BytesSource } from '../source/bytes-source.ts';
import { ForwardSource } from '../source/forward-source.ts';
import { NanFreeSource } from '../source/nan-free-source.ts';
import type { ByteSource, WholeSource } from '../source/source.ts';
import { findRecords, type RecordsPath, type RecordsSearch } from './find-records.ts';
import { JSON_FORMAT } from './json-name.ts';
import { JsonReader } from './json-reader.ts';
import { JsonRecords } from './json-records.ts';
import { JsonText } from './json-text.ts';
import { KeyTable } from './key-table.ts';
import { loneSurrogateInHeader, noHeaderRow, tooManyKeys } from './malformed-json.ts';

// The header of records that are lists: the first record, unless declared otherwise.

const ROW_NUMBER_BYTES = 4;

/** 0-based record number of the header, or 'none' if all records are rows. */
type ListHeaderRow = number | 'none';

/**
 * Reads the records up to and including the header. Without a header, reads the first record.
 * @returns one text per column, '' for a column without a header; null if the text ends before
 */
function* readListHeader(
  text: JsonText,
  records: JsonRecords,
  kernel: KernelExports,
  headerRow: ListHeaderRow,
  columnsDeclared: number | null,
): Coroutine<readonly string[] | null> {
  const { heap } = text;
  const bytes = COLUMNS_MAX * (VIEW_BYTES + 2 + ROW_NUMBER_BYTES);
  const views = heap.allocate(bytes);
  const kinds = views + COLUMNS_MAX * VIEW_BYTES;
  text.set(VIEWS, views);
  text.set(KINDS, kinds);
  text.set(UNSETTLED, kinds + COLUMNS_MAX);
  text.set(STRIDE, 1);
  text.set(COLUMNS, COLUMNS_MAX);
  text.set(EMPTY_IS_NULL, 1);
  for (let left = headerRow === 'none' ? 1 : headerRow + 1; left > 0; ) {
    heap.u8.fill(0, views, views + bytes);
    const state = records.next(1, () => {});
    if (state === 'end') return null;
    if (state === 'rows') left--;
    else yield text.wait();
  }
  const columns = text.get(MEMBERS);
  if (headerRow === 'none') {
    heap.release(views, bytes);
    return new Array<string>(columnsDeclared ?? columns).fill('');
  }
  // settleCells works on columns, so each cell of the header is treated as a column with one row.
  const replaced = kernel.settleCells(views, kinds, columns, 0, kinds + 2 * COLUMNS_MAX);
  if (replaced > 0) throw loneSurrogateInHeader(text.place());
  const { u8, u32 } = heap;
  const headers = Array.from({ length: columns }, (_, column) => {
    const at = (views + column * VIEW_BYTES) >>> 2;
    return Buffer.from(u8.subarray(u32[at]!, u32[at]! + (u32[at] === 0 ? 0 : u32[at + 1]!))).toString();
  });
  heap.release(views, bytes);
  return headers;
}

// Explains where the records of a JSON file were found, for `inspect --explain`.

/**
 * @param listHeader record of the header if records are lists, or null if they are objects
 * @param declared location of the records declared in the Template
 */
function explainRecords(path: RecordsPath, listHeader: ListHeaderRow | null, declared: string | null): FileExplanation {
  return { records: certain(placeOf(path, declared)), headerRow: certain(headerOf(listHeader)) };
}

function headerOf(listHeader: ListHeaderRow | null): string {
  if (listHeader === null) return 'the keys of the records name the columns';
  if (listHeader === 'none') return 'header_row says that there is no header';
  if (listHeader > 0) return `header_row names list ${listHeader}, counted from 0`;
  return 'the file is a list of lists, and the first one is the header';
}

function placeOf(path: RecordsPath, declared: string | null): string {
  if (declared !== null) return 'the Template says where the records are';
  if (path === null) return 'the file is a sequence of records';
  if (path.length === 0) return 'the file is one list';
  return 'it is the only list of the object that can hold records, or the one with the columns of the Template';
}

// Opens a reader for the records of a JSON file. Scans the beginning of the file first: if it shows all necessary
// facts, rows are read while the upload arrives. Otherwise the whole file is scanned before the first row.

/** Separator between the keys of nested objects if none is declared. Nested objects then have no columns. */
const NO_SEPARATOR = '';

/** File name extensions that mean that each line is a record. */
const LINES_ENDINGS: ReadonlySet<string> = new Set(['ndjson', 'jsonl']);

/** Settings that do not influence results. */
export interface JsonTuning {
  /** Bytes read at a time. */
  readonly windowBytes: number;
  /** True if keys are predicted from the previous record. */
  readonly guesses: boolean;
}

const TUNING: JsonTuning = { windowBytes: WINDOW_BYTES, guesses: true };

/**
 * Throws Failed.
 * @param raw source that starts at the first byte of the file
 */
export function* openJson(
  raw: ByteSource,
  start: FileStart,
  settings: OpenSettings,
  { windowBytes, guesses }: JsonTuning = TUNING,
): Coroutine<RowReader> {
  const text = new JsonText(settings, windowBytes);
  text.set(GUESSES, guesses ? 1 : 0);
  // JSON is always Unicode, so the encoding that a Template sets for CSV does not apply.
  const opening = new JsonOpening(text, raw, start.encoding(null), start, settings);
  try {
    return yield* opening.open(start);
  } catch (error) {
    opening.close();
    throw error;
  }
}

/**
 * Opens a reader for one part of a file, see SplittableInput.
 * @param head head of a file for which `keys` is set
 */
export function* resumeJson(raw: ByteSource, head: FileHead, settings: OpenSettings): Coroutine<RowReader> {
  const text = new JsonText(settings, WINDOW_BYTES);
  text.set(GUESSES, 1);
  const opening = new JsonOpening(text, raw, UTF_8, null, settings);
  try {
    return yield* opening.resume(head);
  } catch (error) {
    opening.close();
    throw error;
  }
}

const UTF_8: Encoding = { name: 'utf-8', markBytes: 0 };

/** Replaces lone surrogates in keys, so different keys may become equal. */
const REPLACEMENT = '\ufffd';

/** Returns records that have these keys. The kernel adds keys to the table as it reads them. */
function recordsWith(keys: readonly (readonly string[])[]): Uint8Array {
  const record = (path: readonly string[]): string =>
    path.reduceRight((value, key) => `{${JSON.stringify(key)}:${value}}`, '1');
  return Buffer.from(keys.map(record).join('\n'));
}

/** Facts found before the first row. */
interface Found {
  readonly path: RecordsPath;
  /** For each column, its node in the key table. */
  readonly nodes: readonly number[];
  readonly headers: readonly string[];
}

class JsonOpening {
  readonly #text: JsonText;
  readonly #keys: KeyTable;
  readonly #raw: ByteSource;
  readonly #settings: OpenSettings;
  readonly #encoding: Encoding;
  /** null for a part after the first one. */
  readonly #start: FileStart | null;
  #whole: WholeSource | null = null;
  /** The source that was created last, if it replaces NaN. */
  #nan: NanFreeSource | undefined;

  constructor(text: JsonText, raw: ByteSource, encoding: Encoding, start: FileStart | null, settings: OpenSettings) {
    this.#text = text;
    this.#keys = new KeyTable(text);
    this.#raw = raw;
    this.#start = start;
    this.#settings = settings;
    this.#encoding = encoding;
  }

  close(): void {
    this.#text.close();
    this.#whole?.close();
    this.#raw.close();
  }

  *open({ isWhole }: FileStart): Coroutine<RowReader> {
    const { kernel, input } = this.#settings;
    const found = (yield* this.#look(isWhole)) ?? (yield* this.#lookAtWhole());
    const { path, nodes, headers } = found;
    const text = this.#text;
    text.begin(this.#source(), true);
    const records = (yield* JsonRecords.enter(text, path, { flatten: this.#flattens, isWhole: true }))!;
    const { areLists } = records;
    if (areLists && this.#headerRow !== 'none')
      yield* readListHeader(text, records, kernel.exports, this.#headerRow, null);
    this.#settings.onExplained?.(explainRecords(path, areLists ? this.#headerRow : null, input.json.records));
    const head: FileHead = {
      format: JSON_FORMAT,
      type: path === null ? 'ndjson' : 'json',
      encoding: this.#encoding.name,
      delimiter: null,
      quote: null,
      headerRow: areLists && this.#headerRow !== 'none' ? this.#headerRow : null,
      headers,
      hasKinds: headers.map(() => true),
      ...(path === null && !areLists && this.#isPlain && this.#partKeys(nodes)),
    };
    return this.#reader(head, records, nodes);
  }

  /** Opens the reader of a part that begins with a record. */
  *resume(head: FileHead): Coroutine<RowReader> {
    const text = this.#text;
    const keys = head.keys!;
    const form = { flatten: this.#flattens, isWhole: true };
    text.begin(new BytesSource(recordsWith(keys)), true);
    yield* this.#readKeys((yield* JsonRecords.enter(text, null, form))!);
    const nodeOf = new Map(this.#keys.paths().map((path, node) => [JSON.stringify(path), node]));
    const nodes = keys.map((path) => nodeOf.get(JSON.stringify(path))!);
    text.begin(this.#source(), true);
    const records = (yield* JsonRecords.enter(text, null, form))!;
    return this.#reader(head, records, nodes);
  }

  #reader(head: FileHead, records: JsonRecords, nodes: readonly number[]): JsonReader {
    const { kernel, input, arena } = this.#settings;
    const text = this.#text;
    for (const [column, node] of nodes.entries()) this.#keys.setColumn(node, column);
    const close = (): void => this.#whole?.close();
    const onFull = (): void => this.#keys.close();
    const nullTexts = placeNullTexts(arena.heap, input.nullValues, '');
    const { readAhead } = this.#settings;
    const keys = this.#keys;
    const { ragged } = input.csv;
    const parts = { head, text, records, arena, kernel: kernel.exports, nullTexts, ragged, keys, nodes, readAhead };
    return new JsonReader({ ...parts, nan: this.#nan, onFull, close });
  }

  /** True if the columns were found in the beginning of a file whose bytes are read unchanged. */
  get #isPlain(): boolean {
    const { name, markBytes } = this.#encoding;
    return this.#whole === null && this.#nan === undefined && name === 'utf-8' && markBytes === 0;
  }

  #partKeys(nodes: readonly number[]): Pick<FileHead, 'keys'> {
    const paths = this.#keys.paths();
    const keys = nodes.map((node) => paths[node]!);
    return keys.some((path) => path.some((key) => key.includes(REPLACEMENT))) ? {} : { keys };
  }

  *#lookAtWhole(): Coroutine<Found> {
    const { whole } = this.#settings;
    if (whole === undefined) throw new Error('a JSON file must be read as a whole, which is not possible here');
    this.#whole = yield* whole();
    return (yield* this.#look(true))!;
  }

  /**
   * Scans the beginning of the file, or the whole file once it has arrived.
   * @returns null if the beginning does not show enough
   */
  *#look(isWhole: boolean): Coroutine<Found | null> {
    const { json } = this.#settings.input;
    const text = this.#text;
    text.begin(this.#lookSource(), isWhole);
    const path = yield* findRecords(text, this.#search(isWhole));
    if (path === 'unknown') return null;
    text.begin(this.#lookSource(), isWhole);
    const records = yield* JsonRecords.enter(text, path, { flatten: this.#flattens, isWhole });
    if (records === null) return null;
    if (records.areLists) {
      const { kernel, input } = this.#settings;
      const headers = yield* readListHeader(text, records, kernel.exports, this.#headerRow, input.csv.columns);
      if (headers === null && isWhole) throw noHeaderRow();
      return headers && { path, nodes: [], headers };
    }
    const rows = yield* this.#readKeys(records);
    if (rows === 0 && isWhole) return { path, nodes: [], headers: this.#expectedNames() };
    const byNode = this.#keys.headers(json.flatten ?? NO_SEPARATOR);
    const nodes = [...byNode.keys()].filter((node) => byNode[node] !== null);
    if (nodes.length > COLUMNS_MAX) throw tooManyKeys(text.place());
    const headers = nodes.map((node) => byNode[node]!);
    return isWhole || (yield* this.#isEnough(headers)) ? { path, nodes, headers } : null;
  }

  /** The columns of a file without records. No file other than a workbook has the column for the name of the sheet. */
  #expectedNames(): readonly string[] {
    const { expected, input } = this.#settings;
    return (expected?.names ?? []).filter((name) => name !== input.sheetInto);
  }

  /** @returns the number of records */
  *#readKeys(records: JsonRecords): Coroutine<number> {
    let rows = 0;
    const { clock, giveWay = goOnAtOnce } = this.#settings;
    const text = this.#text;
    const grow = (): void => {
      if (!this.#keys.grow()) throw tooManyKeys(text.place());
    };
    for (let state = records.next(BATCH_ROWS_MAX, grow); state !== 'end'; state = records.next(BATCH_ROWS_MAX, grow)) {
      if (state === 'wait') yield text.wait();
      else rows += text.rows;
      if (clock?.isDue()) yield giveWay();
    }
    return rows;
  }

  #search(isWhole: boolean): RecordsSearch {
    const { expected, clock, giveWay, input } = this.#settings;
    const members = { expected, flattens: this.#flattens, clock, giveWay };
    return { pointer: input.json.records, isLines: LINES_ENDINGS.has(this.#start!.ending), isWhole, members };
  }

  /** True if columns that only later records introduce would be unused. */
  *#isEnough(headers: readonly string[]): Coroutine<boolean> {
    const { input, expected, clock, giveWay = goOnAtOnce } = this.#settings;
    if (expected === null) return input.otherColumns === 'drop';
    const matching = expected.areAllIn(headers);
    for (;;) {
      const step = matching.next();
      if (step.done) return step.value;
      if (clock?.isDue()) yield giveWay();
    }
  }

  /** Header row for records that are lists. */
  get #headerRow(): ListHeaderRow {
    const { overrides, input } = this.#settings;
    return overrides.headerRow ?? input.csv.headerRow ?? 0;
  }

  get #flattens(): boolean {
    return this.#settings.input.json.flatten !== null;
  }

  /** Source for the scan: the whole file if it has arrived, otherwise its beginning. */
  #lookSource(): ByteSource {
    if (this.#whole !== null) return this.#source();
    const { name, markBytes } = this.#encoding;
    // UTF-8 is not converted, so that invalid bytes are found at their place.
    const isUtf8 = name === 'utf-8';
    const bytes = isUtf8 ? this.#start!.bytes.subarray(markBytes) : this.#start!.text(null);
    return this.#withoutNan(new BytesSource(bytes));
  }

  #source(): ByteSource {
    const stored = this.#whole === null ? this.#raw : new ForwardSource(this.#whole);
    return this.#withoutNan(textSource(stored, this.#encoding, this.#settings));
  }

  #withoutNan(source: ByteSource): ByteSource {
    if (this.#settings.input.json.nan === 'fail') return source;
    this.#nan = new NanFreeSource(source);
    return this.#nan;
  }
}
