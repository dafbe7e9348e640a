// From the bytes of a JSON file to a reader of its records. The beginning of the file is looked through first: where it shows
// all that must be known, rows are read behind the upload as it comes, else the whole file is looked through before.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import { GUESSES } from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import { goOnAtOnce } from '../csv/csv-input.ts';
import { placeNullTexts } from '../csv/null-texts.ts';
import { WINDOW_BYTES } from '../csv/window.ts';
import { textSource } from '../encoding/text-source.ts';
import type { FileStart } from '../file-start.ts';
import type { OpenSettings } from '../format.ts';
import type { FileHead, RowReader } from '../reader.ts';
import { BytesSource } from '../source/bytes-source.ts';
import { ForwardSource } from '../source/forward-source.ts';
import type { ByteSource, WholeSource } from '../source/source.ts';
import { explainRecords } from './explain-records.ts';
import { findRecords, type RecordsPath } from './find-records.ts';
import { JSON_FORMAT } from './json-name.ts';
import { JsonReader } from './json-reader.ts';
import { JsonRecords } from './json-records.ts';
import { JsonText } from './json-text.ts';
import { KeyTable } from './key-table.ts';
import { readListHeader } from './list-header.ts';
import { tooManyKeys } from './malformed-json.ts';

/** Stands between the names of an object and its keys where none is declared, and so no object has columns. */
const NO_SEPARATOR = '';

/** On what no result depends. */
export interface JsonTuning {
  /** Read at a time. */
  readonly windowBytes: number;
  /** Whether keys are guessed from the record before. */
  readonly guesses: boolean;
}

const TUNING: JsonTuning = { windowBytes: WINDOW_BYTES, guesses: true };

/** @param raw the bytes from the first one on. Throws Failed. */
export function* openJson(
  raw: ByteSource,
  start: FileStart,
  settings: OpenSettings,
  { windowBytes, guesses }: JsonTuning = TUNING,
): Coroutine<RowReader> {
  const text = new JsonText(settings.arena.heap, settings.kernel.exports, settings.largeRow, windowBytes);
  text.set(GUESSES, guesses ? 1 : 0);
  const opening = new JsonOpening(text, raw, start, settings);
  try {
    return yield* opening.open();
  } catch (error) {
    opening.close();
    throw error;
  }
}

/** What was found out before the first row. */
interface Found {
  readonly path: RecordsPath;
  /** By column, its node in the table of keys. */
  readonly nodes: readonly number[];
  readonly headers: readonly string[];
}

class JsonOpening {
  readonly #text: JsonText;
  readonly #keys: KeyTable;
  readonly #raw: ByteSource;
  readonly #start: FileStart;
  readonly #settings: OpenSettings;
  readonly #encoding: ReturnType<FileStart['encoding']>;
  #whole: WholeSource | null = null;

  constructor(text: JsonText, raw: ByteSource, start: FileStart, settings: OpenSettings) {
    this.#text = text;
    this.#keys = new KeyTable(text);
    this.#raw = raw;
    this.#start = start;
    this.#settings = settings;
    // JSON is Unicode: what a Template says of the encoding of CSV is not meant.
    this.#encoding = start.encoding(null);
  }

  close(): void {
    this.#text.close();
    this.#whole?.close();
    this.#raw.close();
  }

  *open(): Coroutine<RowReader> {
    const { kernel, input, arena } = this.#settings;
    const found = (yield* this.#look(this.#start.isWhole)) ?? (yield* this.#lookAtWhole());
    const { path, nodes, headers } = found;
    for (const [column, node] of nodes.entries()) this.#keys.setColumn(node, column);
    const text = this.#text;
    text.begin(this.#source(), true);
    const records = (yield* JsonRecords.enter(text, path, { flatten: this.#flattens, isWhole: true }))!;
    const { areLists } = records;
    if (areLists) yield* readListHeader(text, records, kernel.exports);
    this.#settings.onExplained?.(explainRecords(path, areLists, input.json.records));
    const head: FileHead = {
      format: JSON_FORMAT,
      type: path === null ? 'ndjson' : 'json',
      encoding: this.#encoding.name,
      delimiter: null,
      quote: null,
      headerRow: areLists ? 0 : null,
      headers,
      hasKinds: headers.map(() => true),
    };
    const close = (): void => this.#whole?.close();
    const onFull = (): void => this.#keys.close();
    const nullTexts = placeNullTexts(arena.heap, input.nullValues, '');
    const { readAhead } = this.#settings;
    const keys = this.#keys;
    const parts = { head, text, records, arena, kernel: kernel.exports, nullTexts, keys, nodes, readAhead };
    return new JsonReader({ ...parts, onFull, close });
  }

  *#lookAtWhole(): Coroutine<Found> {
    const { whole } = this.#settings;
    if (whole === undefined) throw new Error('a JSON file that must be whole is read where none can be');
    this.#whole = yield* whole();
    return (yield* this.#look(true))!;
  }

  /**
   * Looks through the beginning, or through the whole file once it is there.
   * @returns null where the beginning does not tell enough
   */
  *#look(isWhole: boolean): Coroutine<Found | null> {
    const { json } = this.#settings.input;
    const text = this.#text;
    text.begin(this.#lookSource(), isWhole);
    const path = yield* findRecords(text, json.records, isWhole);
    if (path === 'unknown') return null;
    text.begin(this.#lookSource(), isWhole);
    const records = yield* JsonRecords.enter(text, path, { flatten: this.#flattens, isWhole });
    if (records === null) return null;
    if (records.areLists) {
      const headers = yield* readListHeader(text, records, this.#settings.kernel.exports);
      return headers && { path, nodes: [], headers };
    }
    yield* this.#readKeys(records);
    const byNode = this.#keys.headers(json.flatten ?? NO_SEPARATOR);
    const nodes = [...byNode.keys()].filter((node) => byNode[node] !== null);
    if (nodes.length > COLUMNS_MAX) throw tooManyKeys(text.place());
    const headers = nodes.map((node) => byNode[node]!);
    return isWhole || (yield* this.#isEnough(headers)) ? { path, nodes, headers } : null;
  }

  *#readKeys(records: JsonRecords): Coroutine<void> {
    const { clock, giveWay = goOnAtOnce } = this.#settings;
    const text = this.#text;
    const grow = (): void => {
      if (!this.#keys.grow()) throw tooManyKeys(text.place());
    };
    for (let state = records.next(BATCH_ROWS_MAX, grow); state !== 'end'; state = records.next(BATCH_ROWS_MAX, grow)) {
      if (state === 'wait') yield text.wait();
      if (clock?.isDue()) yield giveWay();
    }
  }

  /** Whether columns whose keys come first further down are nobody's. */
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

  get #flattens(): boolean {
    return this.#settings.input.json.flatten !== null;
  }

  /** What is looked through: the whole file, where it is there, else its beginning. */
  #lookSource(): ByteSource {
    if (this.#whole !== null) return this.#source();
    const { name, markBytes } = this.#encoding;
    // What is not valid is to be found where it stands.
    const isUtf8 = name === 'utf-8';
    return new BytesSource(isUtf8 ? this.#start.bytes.subarray(markBytes) : this.#start.text(null));
  }

  #source(): ByteSource {
    return textSource(
      this.#whole === null ? this.#raw : new ForwardSource(this.#whole),
      this.#encoding,
      this.#settings,
    );
  }
}
