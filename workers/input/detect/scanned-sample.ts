// The records of a sample from the scan of the fast CSV reader: the ends of fields, and the fields that end records.
// Cells are decoded to text on demand; of most cells, only their number is needed.
import { isAscii } from 'node:buffer';
import { type CellKind, cellKind } from './cell-kind.ts';
import type { CellPlaces } from './named-records.ts';
import { countWidths, type Dialect, SAMPLE_RECORDS_MAX, type Sample } from './sample.ts';
import { isCutOff, isLineBreak, type SampleScanner, type ScannedText, scanMarks } from './scan-text.ts';

const LF = 10;
const CR = 13;
const SPACE = 0x20;
const FIRST_OTHER = 0x80;

/** Tab to carriage return. */
const FIRST_SPACE = 9;
const LAST_SPACE = 13;

/** @returns null if the scan could differ from TextSample: unsupported marks, quotes that do not end, no space */
export function scannedSample(scanner: SampleScanner, { delimiter, quote, spaced }: Dialect): ScannedSample | null {
  const marks = spaced === true ? null : scanMarks(delimiter, quote);
  const scanned = marks === null ? null : scanner.scan(marks);
  if (scanned === null || scanned.rows === 0 || (scanned.isOpen && !isCutOff(scanner, scanned))) return null;
  return new ScannedSample(scanner, quote, scanned);
}

export class ScannedSample implements Sample, CellPlaces {
  readonly bytes: Buffer;
  readonly length: number;
  readonly #mark: string;
  /** NaN for no quote. */
  readonly #quote: number;
  readonly #hasStrays: boolean;
  /**
   * For each field, the arena address of the delimiter or line break after it. `#text` is the arena address of the
   * text.
   */
  readonly #ends: Uint32Array;
  readonly #text: number;
  /** For each record, the index of its first field, followed by the index after the last field. */
  readonly #firsts: Uint32Array;
  readonly #isAscii: boolean;
  readonly #made: string[][] = [];
  #rowsByWidth: ReadonlyMap<number, number> | null = null;
  /** For each field, its kind once it has been requested. */
  readonly #kinds: (CellKind | undefined)[] = [];

  constructor({ bytes, ended, tools }: SampleScanner, quote: string, scanned: ScannedText) {
    const { text, entries, count, rows, hasStrays } = scanned;
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#mark = quote;
    this.#quote = quote.charCodeAt(0);
    this.length = Math.min(rows, SAMPLE_RECORDS_MAX);
    this.#hasStrays = hasStrays;
    this.#text = text;
    this.#firsts = new Uint32Array(this.length + 1);
    this.#isAscii = isAscii(bytes);
    const { u8, u32 } = tools.arena.heap;
    const first = entries >>> 2;
    let field = 0;
    for (let record = 1; record <= this.length; record++) {
      while (!isLineBreak(u8[u32[first + field]!])) field++;
      this.#firsts[record] = ++field;
    }
    // Includes the record that is cut off at the end of the sample, because its quotes count, too.
    this.#ends = u32.slice(first, first + (rows < SAMPLE_RECORDS_MAX && !ended ? count : field));
  }

  get rowsByWidth(): ReadonlyMap<number, number> {
    this.#rowsByWidth ??= countWidths(this);
    return this.#rowsByWidth;
  }

  get quotedFields(): number {
    return this.quotedFieldsIn(SAMPLE_RECORDS_MAX);
  }

  get strayQuotes(): number {
    if (!this.#hasStrays) return 0;
    let strays = 0;
    for (let cell = 0; cell < this.#fields; cell++) strays += this.#straysIn(cell);
    return strays;
  }

  quotedFieldsIn(records: number): number {
    const fields = this.has(records - 1) ? this.#firsts[records]! : this.#fields;
    let quoted = 0;
    for (let cell = 0; cell < fields; cell++) if (this.#isQuoted(cell)) quoted++;
    return quoted;
  }

  has(record: number): boolean {
    return record < this.length;
  }

  width(record: number): number {
    return this.#firsts[record + 1]! - this.#firsts[record]!;
  }

  isFilled(record: number): boolean {
    if (this.width(record) > 1) return true;
    const cell = this.#firsts[record]!;
    const bytes = this.end(cell) - this.start(cell);
    return bytes > 2 || (bytes > 0 && !this.#isQuoted(cell));
  }

  filledWidth(record: number): number {
    const first = this.#firsts[record]!;
    let cell = this.#firsts[record + 1]!;
    while (cell > first && this.#isBlank(cell - 1)) cell--;
    return cell - first;
  }

  kind(record: number, column: number): CellKind {
    const cell = this.#firsts[record]! + column;
    let kind = this.#kinds[cell];
    if (kind === undefined) {
      kind = cellKind(this.#textOf(cell));
      this.#kinds[cell] = kind;
    }
    return kind;
  }

  cell(record: number, column: number): string {
    return this.#made[record]?.[column] ?? this.#textOf(this.#firsts[record]! + column);
  }

  at(record: number): readonly string[] {
    const known = this.#made[record];
    if (known !== undefined) return known;
    const made: string[] = [];
    for (let cell = this.#firsts[record]!; cell < this.#firsts[record + 1]!; cell++) made.push(this.#textOf(cell));
    this.#made[record] = made;
    return made;
  }

  first(most: number): readonly (readonly string[])[] {
    const records: (readonly string[])[] = [];
    for (let record = 0; record < most && this.has(record); record++) records.push(this.at(record));
    return records;
  }

  firstCell(record: number): number {
    return this.#firsts[record]!;
  }

  start(cell: number): number {
    return cell === 0 ? 0 : this.#ends[cell - 1]! - this.#text + 1;
  }

  end(cell: number): number {
    if (cell === this.#ends.length) return this.bytes.length;
    const end = this.#ends[cell]! - this.#text;
    return this.bytes[end] === LF && this.bytes[end - 1] === CR && end > this.start(cell) ? end - 1 : end;
  }

  /** Number of fields, including those after the last record. The last of them ends with the sample. */
  get #fields(): number {
    const records = this.#firsts[this.length]!;
    return this.#ends.length > records || this.start(records) < this.bytes.length ? this.#ends.length + 1 : records;
  }

  #isQuoted(cell: number): boolean {
    const start = this.start(cell);
    if (this.bytes[start] !== this.#quote) return false;
    const end = this.end(cell);
    return this.#closing(start + 1, end) === end - 1;
  }

  /** Position of the quote that closes a quoted field, or `end` if the field is not closed. */
  #closing(start: number, end: number): number {
    let at = start;
    for (; at < end; at++) {
      if (this.bytes[at] !== this.#quote) continue;
      if (at + 1 >= end || this.bytes[at + 1] !== this.#quote) break;
      at++;
    }
    return at;
  }

  #straysIn(cell: number): number {
    const end = this.end(cell);
    let from = this.start(cell);
    let strays = 0;
    if (this.bytes[from] === this.#quote) {
      const closing = this.#closing(from + 1, end);
      if (closing >= end - 1) return 0;
      strays++;
      from = closing + 1;
    }
    for (let at = from + 1; at < end; at++) if (this.bytes[at] === this.#quote) strays++;
    return strays;
  }

  #isBlank(cell: number): boolean {
    const end = this.end(cell);
    for (let at = this.start(cell); at < end; at++) {
      const byte = this.bytes[at]!;
      if (byte === this.#quote || byte >= FIRST_OTHER) return this.#textOf(cell).trim() === '';
      if (byte !== SPACE && (byte < FIRST_SPACE || byte > LAST_SPACE)) return false;
    }
    return true;
  }

  #textOf(cell: number): string {
    const start = this.start(cell);
    const end = this.end(cell);
    if (this.bytes[start] !== this.#quote || !this.#isQuoted(cell)) return this.#decoded(start, end);
    const text = this.#decoded(start + 1, end - 1);
    return text.includes(this.#mark) ? text.replaceAll(this.#mark + this.#mark, this.#mark) : text;
  }

  #decoded(start: number, end: number): string {
    return this.bytes.toString(this.#isAscii ? 'latin1' : 'utf8', start, end);
  }
}
