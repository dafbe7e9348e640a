// The values of a stored column as cells: address, bytes and native kind of each one's canonical text. Texts of the file stay where
// they are; those that are made go to the arena, and of a dictionary's entries are made once.
import { isUtf8 } from 'node:buffer';
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import { KIND_JSON, KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Arena } from '../../memory/arena.ts';
import { Failed } from '../../protocol/failure.ts';
import { isSoundJson } from '../../values/sound-json.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import { compactJson } from './compact-json.ts';
import type { LeafPages } from './leaf-pages.ts';
import { JSON_DEPTH_MAX } from './limits.ts';
import { malformedParquet } from './malformed-parquet.ts';
import type { NullTexts } from './null-texts.ts';
import { NUMBER_BYTES_MAX, putNumber } from './number-digits.ts';
import { PageRegion } from './page-memory.ts';
import { TextBlocks } from './text-blocks.ts';
import type { ValueForm } from './value-form.ts';
import type { Places } from './value-readers.ts';

/** Stands for the kind of an entry that nobody has met yet: its place is that of the value. */
const RAW = 255;

/** Of an entry: address (0 = null), bytes, kind. */
const ENTRY_WORDS = 3;
const WORD_BYTES = 4;

/** Of texts that are looked at byte by byte. */
const SHORT_BYTES_MAX = 64;

export interface CellSettings {
  readonly form: ValueForm;
  readonly arena: Arena;
  readonly nullTexts: NullTexts;
  /** Of the file, from 1. */
  readonly column: number;
}

export class LeafCells {
  /** Of the cells that `next` gave: address (0 = null), bytes and kind. */
  readonly at = new Uint32Array(BATCH_ROWS_MAX);
  /** See `at`. */
  readonly bytes = new Uint32Array(BATCH_ROWS_MAX);
  /** See `at`. */
  readonly kinds = new Uint8Array(BATCH_ROWS_MAX);
  readonly #pages: LeafPages;
  readonly #form: ValueForm;
  readonly #arena: Arena;
  readonly #nullTexts: NullTexts;
  /** Of the column of the file, from 1. */
  readonly #column: number;
  readonly #indexes = new Uint32Array(BATCH_ROWS_MAX);
  readonly #places: Places;
  readonly #entries: PageRegion;
  readonly #texts: TextBlocks;
  #entriesAt = 0;
  #entriesOf: object | null = null;
  /** For texts that are made; null: the arena. */
  readonly #made: TextBlocks | null;
  #view: DataView;

  /** @param staysBeyondBatch cells that `next` gave are read after the arena was emptied */
  constructor(pages: LeafPages, settings: CellSettings, staysBeyondBatch: boolean) {
    const { form, arena, nullTexts, column } = settings;
    this.#made = staysBeyondBatch ? new TextBlocks(arena.heap) : null;
    this.#pages = pages;
    this.#form = form;
    this.#arena = arena;
    this.#nullTexts = nullTexts;
    this.#column = column;
    this.#places = { at: this.at, bytes: this.bytes };
    this.#entries = new PageRegion(arena.heap, 'dictionary');
    this.#texts = new TextBlocks(arena.heap);
    this.#view = new DataView(arena.heap.u8.buffer);
  }

  /** The next `count` values of the page that are there, up to BATCH_ROWS_MAX. Throws Failed. */
  next(count: number): void {
    this.#made?.clear();
    if (count === 0) return;
    const { indexes, reader, isAscii } = this.#pages;
    const { heap } = this.#arena;
    if (indexes === null) {
      reader!.next(heap, this.#places, count);
      this.kinds.fill(this.#form.kind, 0, count);
      for (let index = 0; index < count; index++) this.#finish(index, isAscii, this.#made);
      return;
    }
    indexes.fill(heap.u8, this.#indexes, count);
    this.#openDictionary();
    for (let index = 0; index < count; index++) this.#look(index, this.#indexes[index]!);
  }

  /** A place becomes a cell. `texts`: where a text that is made goes, null = the arena. */
  #finish(index: number, isAscii: boolean, texts: TextBlocks | null): void {
    const { text, bytesMax = CELL_BYTES_MAX } = this.#form;
    const at = this.at[index]!;
    const bytes = this.bytes[index]!;
    if (bytes > bytesMax) throw this.#tooLong(bytesMax);
    if (text === null) {
      this.#finishText(index, isAscii);
      return;
    }
    if (this.#view.buffer !== this.#arena.heap.u8.buffer) this.#view = new DataView(this.#arena.heap.u8.buffer);
    if (texts === null && this.#putDigits(index, at)) return;
    const made = text(this.#view, at, bytes);
    if (!this.#form.isNative(made)) this.kinds[index] = KIND_TEXT;
    this.bytes[index] = made.length;
    if (texts === null) {
      this.#arena.write(made);
      this.at[index] = this.#arena.next - made.length;
    } else this.at[index] = texts.write(made);
  }

  /** False where the number is left to its text. */
  #putDigits(index: number, at: number): boolean {
    const arena = this.#arena;
    const { digits } = this.#form;
    if (digits === undefined || arena.freeBytes < NUMBER_BYTES_MAX) return false;
    const bytes = putNumber(this.#view, at, digits, arena.heap.u8, arena.next);
    if (bytes === 0) return false;
    this.at[index] = arena.next;
    this.bytes[index] = bytes;
    arena.next += bytes;
    return true;
  }

  #finishText(index: number, isAscii: boolean): void {
    const { heap } = this.#arena;
    const at = this.at[index]!;
    const bytes = this.bytes[index]!;
    if (!isAscii && !isShortAscii(heap.u8, at, bytes) && !isUtf8(heap.u8.subarray(at, at + bytes)))
      throw this.#notText();
    const { kind } = this.#form;
    if (kind === KIND_JSON) this.#finishJson(index);
    else if (kind === KIND_TEXT && this.#nullTexts.has(heap, at, bytes)) this.at[index] = 0;
  }

  /** A list or an object as JSON without spaces, in place. What says it is JSON and is not, and a single value, is text. */
  #finishJson(index: number): void {
    const { heap } = this.#arena;
    const at = this.at[index]!;
    const text = this.#arena.decode(at, this.bytes[index]!);
    if (!/^\s*[[{]/.test(text) || !isSoundJson(text, JSON_DEPTH_MAX)) {
      this.kinds[index] = KIND_TEXT;
      if (this.#nullTexts.has(heap, at, this.bytes[index]!)) this.at[index] = 0;
    } else this.bytes[index] = compactJson(heap.u8, at, this.bytes[index]!);
  }

  /** A cell from an entry of the dictionary, which is finished when it is first met. */
  #look(index: number, entry: number): void {
    const { heap } = this.#arena;
    const dictionary = this.#pages.dictionary!;
    if (entry >= dictionary.count) throw lacks(entry, dictionary.count, this.#pages.position);
    const slot = (this.#entriesAt >>> 2) + entry * ENTRY_WORDS;
    const kind = heap.u32[slot + 2]!;
    this.at[index] = heap.u32[slot]!;
    this.bytes[index] = heap.u32[slot + 1]!;
    this.kinds[index] = kind;
    if (kind !== RAW) return;
    this.kinds[index] = this.#form.kind;
    this.#finish(index, dictionary.isAscii, this.#texts);
    heap.u32[slot] = this.at[index]!;
    heap.u32[slot + 1] = this.bytes[index]!;
    heap.u32[slot + 2] = this.kinds[index]!;
  }

  #openDictionary(): void {
    const dictionary = this.#pages.dictionary!;
    if (dictionary === this.#entriesOf) return;
    this.#entriesOf = dictionary;
    this.#texts.clear();
    const { heap } = this.#arena;
    this.#entriesAt = this.#entries.take(dictionary.count * ENTRY_WORDS * WORD_BYTES);
    for (let from = 0; from < dictionary.count; from += BATCH_ROWS_MAX) {
      const count = Math.min(BATCH_ROWS_MAX, dictionary.count - from);
      dictionary.values.next(heap, this.#places, count);
      for (let index = 0; index < count; index++) {
        const slot = (this.#entriesAt >>> 2) + (from + index) * ENTRY_WORDS;
        heap.u32[slot] = this.at[index]!;
        heap.u32[slot + 1] = this.bytes[index]!;
        heap.u32[slot + 2] = RAW;
      }
    }
  }

  #notText(): Failed {
    return new Failed(
      'MALFORMED_FILE',
      `Column ${this.#column} of the Parquet file holds bytes that are no text in UTF-8. Leave the column out (input.other_columns: drop).`,
    );
  }

  #tooLong(bytesMax: number): Failed {
    return new Failed('MALFORMED_FILE', `A cell of column ${this.#column} has more than ${bytesMax} bytes.`);
  }
}

function lacks(entry: number, count: number, position: number): Failed {
  return malformedParquet(`a value of number ${entry} in a dictionary of ${count}`, position);
}

/** Most texts are, and a call of the runtime takes longer than to see it. */
function isShortAscii(bytes: Uint8Array, at: number, length: number): boolean {
  if (length > SHORT_BYTES_MAX) return false;
  let all = 0;
  for (let index = at; index < at + length; index++) all |= bytes[index]!;
  return all < 0x80;
}
