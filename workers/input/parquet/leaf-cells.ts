// Converts the values of a stored column to cells.

import { isUtf8 } from 'node:buffer';
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import { KIND_JSON, KIND_TEXT } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import { isValidJson } from '../../values/json-text.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import type { LeafPages } from './leaf-pages.ts';
import { JSON_DEPTH_MAX, malformedParquet } from './limits.ts';
import { NUMBER_BYTES_MAX, putNumber } from './number-digits.ts';
import { allocateFor, PageRegion } from './page-memory.ts';
import type { ValueForm } from './value-form.ts';
import type { Places } from './value-readers.ts';

// Removes the white space from a JSON text in place. The text must be valid.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** @returns the new length */
function compactJson(bytes: Uint8Array, at: number, length: number): number {
  let to = at;
  let isString = false;
  for (let from = at; from < at + length; from++) {
    const byte = bytes[from]!;
    // Outside strings, every byte up to the space character is white space.
    if (!isString && byte <= SPACE) continue;
    bytes[to++] = byte;
    if (byte === QUOTE) isString = !isString;
    else if (byte === BACKSLASH) bytes[to++] = bytes[++from]!;
  }
  return to - at;
}

// Texts with the lifetime of a dictionary, in blocks of the Run's memory.

const BLOCK_BYTES = 65_536;

class TextBlocks {
  readonly #heap: Heap;
  #blocks: { readonly at: number; readonly bytes: number }[] = [];
  #next = 0;
  #end = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Returns the address of an ASCII text. */
  write(text: string): number {
    const bytes = text.length;
    if (bytes > this.#end - this.#next) {
      const size = Math.max(bytes, BLOCK_BYTES);
      this.#next = allocateFor(this.#heap, size, 'dictionary');
      this.#end = this.#next + size;
      this.#blocks.push({ at: this.#next, bytes: size });
    }
    const at = this.#next;
    const { u8 } = this.#heap;
    for (let index = 0; index < bytes; index++) u8[at + index] = text.charCodeAt(index);
    this.#next += bytes;
    return at;
  }

  /** Removes all texts. */
  clear(): void {
    for (const { at, bytes } of this.#blocks) this.#heap.release(at, bytes);
    this.#blocks = [];
    this.#next = 0;
    this.#end = 0;
  }
}

// Compares texts of a file with the Template's `null_values`.

/** Texts of this length or more share one bit of the mask. */
const LENGTH_BIT_MAX = 31;

export class NullTexts {
  readonly #texts: readonly Buffer[];
  /** One bit for each length that occurs. */
  readonly #lengths: number;

  constructor(texts: readonly string[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#lengths = this.#texts.reduce((mask, { length }) => mask | (1 << Math.min(length, LENGTH_BIT_MAX)), 0);
  }

  has({ u8 }: Heap, at: number, bytes: number): boolean {
    if ((this.#lengths & (1 << Math.min(bytes, LENGTH_BIT_MAX))) === 0) return false;
    return this.#texts.some((text) => {
      if (text.length !== bytes) return false;
      for (let index = 0; index < bytes; index++) if (u8[at + index] !== text[index]) return false;
      return true;
    });
  }
}

// Converts the values of a stored column to cells: address, length and native kind of each canonical text. Texts in the
// file are not copied. Other texts are written to the arena; those of dictionary entries are written once.

/** Kind of a dictionary entry that has not been used yet. The entry then contains the address of the raw value. */
const RAW = 255;

/** Words per entry: address (0 = null), length in bytes, kind. */
const ENTRY_WORDS = 3;
const WORD_BYTES = 4;

/** Texts up to this length are checked byte by byte. */
const SHORT_BYTES_MAX = 64;

export interface CellSettings {
  readonly form: ValueForm;
  readonly arena: Arena;
  readonly nullTexts: NullTexts;
  /** Column number in the file, from 1. */
  readonly column: number;
}

export class LeafCells {
  /** Results of `next`: address (0 = null), length in bytes, and kind of each cell. */
  readonly at = new Uint32Array(BATCH_ROWS_MAX);
  /** See `at`. */
  readonly bytes = new Uint32Array(BATCH_ROWS_MAX);
  /** See `at`. */
  readonly kinds = new Uint8Array(BATCH_ROWS_MAX);
  readonly #pages: LeafPages;
  readonly #form: ValueForm;
  readonly #arena: Arena;
  readonly #nullTexts: NullTexts;
  /** Column number in the file, from 1. */
  readonly #column: number;
  readonly #indexes = new Uint32Array(BATCH_ROWS_MAX);
  readonly #places: Places;
  readonly #entries: PageRegion;
  readonly #texts: TextBlocks;
  #entriesAt = 0;
  #entriesOf: object | null = null;
  /** Memory for texts that are created, or null for the arena. */
  readonly #made: TextBlocks | null;
  #view: DataView;

  /** @param staysBeyondBatch whether cells from `next` are still read after the arena has been emptied */
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

  /** Reads the next `count` non-null values of the page, at most BATCH_ROWS_MAX. Throws Failed. */
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

  /**
   * Turns the address of a raw value into a cell. `texts` is the memory for a text that is created, null for the arena.
   */
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

  /** Returns false if the number must be formatted through a string. */
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

  /** Writes a list or an object as JSON without spaces, in place. Invalid JSON and single values become plain text. */
  #finishJson(index: number): void {
    const { heap } = this.#arena;
    const at = this.at[index]!;
    const text = this.#arena.decode(at, this.bytes[index]!);
    if (!/^\s*[[{]/.test(text) || !isValidJson(text, JSON_DEPTH_MAX)) {
      this.kinds[index] = KIND_TEXT;
      if (this.#nullTexts.has(heap, at, this.bytes[index]!)) this.at[index] = 0;
    } else this.bytes[index] = compactJson(heap.u8, at, this.bytes[index]!);
  }

  /** Reads a cell from a dictionary entry, which is converted at first use. */
  #look(index: number, entry: number): void {
    const { heap } = this.#arena;
    const dictionary = this.#pages.dictionary!;
    if (entry >= dictionary.count) throw missingEntry(entry, dictionary.count, this.#pages.position);
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
      `Column ${this.#column} of the Parquet file contains bytes that are not UTF-8 text. Leave the column out (input.other_columns: drop), or write input.parquet: {bytes: hex}.`,
    );
  }

  #tooLong(bytesMax: number): Failed {
    return new Failed('MALFORMED_FILE', `A cell of column ${this.#column} has more than ${bytesMax} bytes.`);
  }
}

function missingEntry(entry: number, count: number, position: number): Failed {
  return malformedParquet(`a value with number ${entry} in a dictionary of ${count} values`, position);
}

/** Most texts are short and ASCII. This check is faster than a call into the runtime. */
function isShortAscii(bytes: Uint8Array, at: number, length: number): boolean {
  if (length > SHORT_BYTES_MAX) return false;
  let all = 0;
  for (let index = at; index < at + length; index++) all |= bytes[index]!;
  return all < 0x80;
}
