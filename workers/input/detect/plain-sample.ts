// Recognises a file that leaves no doubt, as most do, by the bytes of its first part: one usual delimiter in the first line,
// all records of one length, no odd quote. A text of it would cost a small file more than all else that is done with it.
import type { ExpectedHeaders } from '../expected-headers.ts';
import { expectedTexts, HEADER_RECORDS_MAX } from './header-row.ts';
import { SAMPLE_RECORDS_MAX, splitSample } from './sample.ts';

const LF = 10;
const CR = 13;
const QUOTE = 0x22;

/** Comma, semicolon, tabulator, bar: the usual delimiters. */
const DELIMITERS = [0x2c, 0x3b, 0x09, 0x7c];

/** By byte: 1 for each of these. */
const DELIMITER_MARKS = marksOf(DELIMITERS);

/** By delimiter, then by byte: 1 where an unquoted cell ends, and for a quote. */
const END_MARKS: ReadonlyMap<number, Uint8Array> = new Map(
  DELIMITERS.map((delimiter) => [delimiter, marksOf([delimiter, LF, CR, QUOTE])]),
);

export interface PlainForm {
  readonly delimiter: string;
  /** 0-based record with the most names that are looked for, the first of such; null where none has any. */
  readonly headerRow: number | null;
}

/**
 * @param bytes the first part of the file, valid UTF-8 without a byte order mark
 * @param ended true when it is the whole file
 * @param expected the names to look for; null: none
 * @param isEven where it says true, all records have one length and no odd quote: asked of what lies behind the first ones
 * @returns null where there is any doubt
 */
export function plainForm(
  bytes: Uint8Array,
  ended: boolean,
  expected: ExpectedHeaders | null,
  isEven: (delimiter: string) => boolean,
): PlainForm | null {
  const delimiter = onlyDelimiter(bytes);
  if (delimiter === null) return null;
  const sample = new PlainSample(bytes, delimiter, expected);
  return sample.isPlain(ended, isEven) ? { delimiter: sample.delimiter, headerRow: sample.headerRow } : null;
}

/** The usual delimiter of the first line; null where it has none or several. */
function onlyDelimiter(bytes: Uint8Array): number | null {
  let only: number | null = null;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) break;
    if (DELIMITER_MARKS[byte] === 0 || byte === only) continue;
    if (only !== null) return null;
    only = byte;
  }
  return only;
}

function marksOf(bytes: readonly number[]): Uint8Array {
  const marks = new Uint8Array(256);
  for (const byte of bytes) marks[byte] = 1;
  return marks;
}

/** Goes through the records as splitSample does, and makes texts only of those that may be the header. */
class PlainSample {
  readonly delimiter: string;
  headerRow: number | null = null;
  readonly #bytes: Uint8Array;
  readonly #delimiter: number;
  readonly #ends: Uint8Array;
  readonly #expected: ExpectedHeaders | null;
  #at = 0;
  /** Different names in the header. */
  #hits = 0;
  /** Of the first record. */
  #columns = 0;
  /** Cells of the record at hand, and how many of them may be names: counted until they are more than the header's. */
  #cells = 0;
  #maybeHits = 0;
  /** Whether quotes stand doubled in the cell at hand. */
  #isDoubled = false;

  constructor(bytes: Uint8Array, delimiter: number, expected: ExpectedHeaders | null) {
    this.delimiter = String.fromCharCode(delimiter);
    this.#bytes = bytes;
    this.#delimiter = delimiter;
    this.#ends = END_MARKS.get(delimiter)!;
    this.#expected = expected;
  }

  isPlain(ended: boolean, isEven: (delimiter: string) => boolean): boolean {
    const bytes = this.#bytes;
    for (let record = 0; this.#at < bytes.length && record < SAMPLE_RECORDS_MAX; record++) {
      if (record === HEADER_RECORDS_MAX && isEven(this.delimiter)) return true;
      const start = this.#at;
      if (!this.#readRecord(record < HEADER_RECORDS_MAX ? this.#expected : null)) return false;
      const end = this.#at;
      const isCut = end === bytes.length && !ended;
      if (isCut && record > 0) return true;
      if (record === 0) this.#columns = this.#cells;
      else if (this.#cells !== this.#columns) return false;
      if (this.#maybeHits > this.#hits) this.#look(record, start, end);
      this.#at += bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1;
    }
    return true;
  }

  /** Leaves `at` on the line break behind the record, or at the end. False for an odd quote. */
  #readRecord(expected: ExpectedHeaders | null): boolean {
    const bytes = this.#bytes;
    this.#cells = 0;
    this.#maybeHits = 0;
    for (;;) {
      const start = this.#at;
      const isQuoted = bytes[start] === QUOTE;
      const isSound = isQuoted ? this.#skipQuoted() : this.#skipUnquoted();
      if (!isSound) return false;
      this.#cells++;
      if (expected !== null && this.#mayMatter()) {
        const inset = isQuoted ? 1 : 0;
        if (this.#isDoubled || !expected.exclude(bytes, start + inset, this.#at - inset)) this.#maybeHits++;
      }
      if (bytes[this.#at] !== this.#delimiter) return true;
      this.#at++;
      if (this.#at < bytes.length) continue;
      this.#cells++;
      return true;
    }
  }

  /** Whether this cell and those behind it can still make the record's names more than the header's. */
  #mayMatter(): boolean {
    if (this.#maybeHits > this.#hits) return false;
    return this.#columns === 0 || this.#maybeHits + this.#columns - this.#cells + 1 > this.#hits;
  }

  #skipUnquoted(): boolean {
    const bytes = this.#bytes;
    const ends = this.#ends;
    let at = this.#at;
    while (at < bytes.length && ends[bytes[at]!] === 0) at++;
    this.#at = at;
    this.#isDoubled = false;
    return bytes[at] !== QUOTE;
  }

  #skipQuoted(): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    this.#isDoubled = false;
    for (; ; at++) {
      if (at >= bytes.length) return false;
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) break;
      this.#isDoubled = true;
      at++;
    }
    this.#at = at + 1;
    const behind = bytes[at + 1];
    return behind === undefined || behind === this.#delimiter || behind === LF || behind === CR;
  }

  #look(record: number, start: number, end: number): void {
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start).toString();
    const { records } = splitSample(text, { delimiter: this.delimiter, quote: '"' }, true);
    const expected = this.#expected!;
    const hits = expectedTexts(records[0] ?? [], (cell) => expected.has(cell), this.#hits);
    if (hits <= this.#hits) return;
    this.#hits = hits;
    this.headerRow = record;
  }
}
