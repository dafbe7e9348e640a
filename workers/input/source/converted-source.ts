// Sources that convert the bytes of another source piece by piece.

import { Failed } from '../../protocol/failure.ts';
import type { ByteSource } from './source.ts';

// Base class of sources that convert the bytes of another source piece by piece.

/**
 * Number of pieces of 64 KiB that are converted between two pauses: some milliseconds. Pieces with a result count too,
 * because the result may be much shorter than the piece, such as one byte for a separator.
 */
const PIECES_AT_ONCE = 6;

export abstract class ConvertedSource implements ByteSource {
  protected readonly inner: ByteSource;
  /** Converted bytes that have not been read yet. */
  #ready: Uint8Array = new Uint8Array(0);
  /** Number of pieces converted since the last pause. */
  #pieces = 0;
  /** The last read stopped so that other work of the thread gets its turn. */
  #isResting = false;

  constructor(inner: ByteSource) {
    this.inner = inner;
  }

  /** True if `convert` will return no more bytes. */
  protected abstract get isConverted(): boolean;

  /**
   * Converts the next piece. Returns the bytes, which stay unchanged until the next call and may be empty. Returns null
   * if the inner source has no bytes now.
   */
  protected abstract convert(): Uint8Array | null;

  get ended(): boolean {
    return this.isConverted && this.#ready.length === 0;
  }

  read(target: Uint8Array): number {
    while (this.#ready.length === 0) {
      this.#isResting = false;
      if (this.isConverted) return 0;
      this.#isResting = this.#pieces >= PIECES_AT_ONCE;
      if (this.#isResting) this.#pieces = 0;
      const piece = this.#isResting ? null : this.convert();
      if (piece === null) return 0;
      this.#pieces++;
      this.#ready = piece;
    }
    const bytes = Math.min(this.#ready.length, target.length);
    target.set(this.#ready.subarray(0, bytes));
    this.#ready = this.#ready.subarray(bytes);
    return bytes;
  }

  async wait(): Promise<void> {
    if (this.#isResting) await new Promise((resolve) => setImmediate(resolve));
    else if (this.#ready.length === 0 && !this.inner.ended) await this.inner.wait();
  }

  close(): void {
    this.inner.close();
  }
}

// Removes the NUL bytes of a text and counts them (input.csv.nul_bytes: drop).

/** Bytes read at a time. */
const PIECE_BYTES = 65_536;

export class NulFreeSource extends ConvertedSource {
  /** Number of NUL bytes removed so far. */
  nulBytes = 0;
  readonly #piece = Buffer.alloc(PIECE_BYTES);

  protected get isConverted(): boolean {
    return this.inner.ended;
  }

  protected convert(): Uint8Array | null {
    const bytes = this.inner.read(this.#piece);
    const kept = withoutNul(this.#piece.subarray(0, bytes));
    this.nulBytes += bytes - kept.length;
    return bytes === 0 ? null : kept;
  }
}

/** Returns the same array if it contains no NUL byte. */
export function withoutNul(bytes: Uint8Array): Uint8Array {
  return bytes.indexOf(0) < 0 ? bytes : bytes.filter((byte) => byte !== 0);
}

// Inserts a line feed after each record of a fixed-width file without line ends (input.fixed.record_length). Removes a
// line break directly after a record. Throws Failed for a line break inside a record and for an incomplete last record.

const LF = 10;
const CR = 13;

/** Ctrl-Z, the end-of-text mark of DOS files. */
const END_MARK = 0x1a;

/** The two highest bits of a UTF-8 continuation byte. */
const CONTINUATION = 0x80;

export class RecordLengthSource extends ConvertedSource {
  readonly #characters: number;
  readonly #piece = new Uint8Array(PIECE_BYTES);
  readonly #made = new Uint8Array(PIECE_BYTES * 2 + 1);
  /** Number of characters of the current record so far. */
  #count = 0;
  #records = 0;
  #isEnded = false;

  /**
   * @param inner source of UTF-8 text
   * @param characters length of a record
   */
  constructor(inner: ByteSource, characters: number) {
    super(inner);
    this.#characters = characters;
  }

  protected get isConverted(): boolean {
    return this.#isEnded;
  }

  protected convert(): Uint8Array | null {
    const bytes = this.inner.read(this.#piece);
    if (bytes === 0 && this.inner.ended && !this.#isEnded) return this.#end();
    return bytes === 0 ? null : this.#split(bytes);
  }

  #split(bytes: number): Uint8Array {
    let at = 0;
    for (let from = 0; from < bytes; from++) {
      const byte = this.#piece[from]!;
      const isBetween = this.#count === 0 || this.#count === this.#characters;
      if (byte === LF || byte === CR) {
        if (isBetween) continue;
        throw this.#problem(`contains a line break after ${this.#count} characters`);
      }
      if (byte === END_MARK && isBetween) continue;
      if ((byte & 0xc0) !== CONTINUATION && this.#count++ === this.#characters) {
        this.#made[at++] = LF;
        this.#count = 1;
        this.#records++;
      }
      this.#made[at++] = byte;
    }
    return this.#made.subarray(0, at);
  }

  #end(): Uint8Array {
    this.#isEnded = true;
    if (this.#count !== 0 && this.#count !== this.#characters)
      throw this.#problem(`is the last one and has ${this.#count} characters`);
    this.#made[0] = LF;
    return this.#made.subarray(0, this.#count === 0 ? 0 : 1);
  }

  #problem(what: string): Failed {
    const advice = `input.fixed.record_length says ${this.#characters} characters: correct it, or leave it out where each line is a record.`;
    return new Failed('MALFORMED_FILE', `Record ${this.#records + 1} ${what}. ${advice}`);
  }
}

// Removes the spaces between a delimiter and an opening quote (`1, "Anna, A."`), so that the readers find the quote at
// the start of the field. Leaves everything else unchanged, including line breaks, so that line numbers stay the same.

const SPACE = 0x20;

/** Maximum number of spaces removed. More spaces are not padding but the text of a field. */
const SPACES_MAX = 64;

/**
 * State of the parser before a byte: at the start of a field, inside a field, inside quotes, or after a quote that may
 * be the closing one.
 */
type State = 'start' | 'field' | 'quoted' | 'quote';

export class UnspacedSource extends ConvertedSource {
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #piece = new Uint8Array(SPACES_MAX + PIECE_BYTES);
  #state: State = 'start';
  /** Number of spaces at the start of the field that may still be followed by a quote. */
  #spaces = 0;

  /** @param form delimiter and quote, one ASCII character each */
  constructor(inner: ByteSource, { delimiter, quote }: { readonly delimiter: string; readonly quote: string }) {
    super(inner);
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
  }

  protected get isConverted(): boolean {
    return this.inner.ended && this.#spaces === 0;
  }

  protected convert(): Uint8Array | null {
    const piece = this.#piece;
    // Bytes that were held back precede the bytes read now.
    const bytes = this.inner.read(piece.subarray(SPACES_MAX));
    const isEnd = bytes === 0 && this.inner.ended;
    const made = piece.subarray(0, isEnd ? this.#putSpaces(piece, 0) : this.#filter(bytes));
    return bytes === 0 && made.length === 0 ? null : made;
  }

  /**
   * Removes spaces from the `bytes` bytes that begin at SPACES_MAX in `#piece`, and moves the result to the start of
   * `#piece`. Returns its length.
   */
  #filter(bytes: number): number {
    const target = this.#piece;
    const [delimiter, quote] = [this.#delimiter, this.#quote];
    let state = this.#state;
    let at = 0;
    for (let next = SPACES_MAX; next < SPACES_MAX + bytes; next++) {
      const byte = target[next]!;
      if (state === 'start') {
        if (byte === SPACE && this.#spaces < SPACES_MAX) {
          this.#spaces++;
          continue;
        }
        if (byte === quote) this.#spaces = 0;
        at += this.#putSpaces(target, at);
        state = byte === quote ? 'quoted' : 'field';
      } else if (byte === quote) {
        if (state === 'quoted') state = 'quote';
        else if (state === 'quote') state = 'quoted';
      } else if (state === 'quote') state = 'field';
      if (state === 'field' && (byte === delimiter || byte === LF || byte === CR)) state = 'start';
      target[at++] = byte;
    }
    this.#state = state;
    return at;
  }

  #putSpaces(target: Uint8Array, at: number): number {
    const spaces = this.#spaces;
    target.fill(SPACE, at, at + spaces);
    this.#spaces = 0;
    return spaces;
  }
}

// Rewrites a text whose records end with other characters than line breaks (input.csv.record_separator) to one that the
// readers support: records end with a line feed, and cells without quotes are quoted, because they may contain line
// breaks. A line break before or after a separator is left out.

const QUOTED = 0x22;

export interface SeparatedForm {
  readonly separator: string;
  /** '' if the whole record is one field. */
  readonly delimiter: string;
  /** One ASCII character, or '' for no quote. */
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are not part of the field. */
  readonly spaced: boolean;
}

/** Quote of the rewritten text. */
export function quoteBehindSeparators({ quote }: Pick<SeparatedForm, 'quote'>): string {
  return quote === '' ? '"' : quote;
}

/**
 * States of the current cell. `record`: at the start of a record. `start`: at the start of another cell. `plain`:
 * without quotes. `quoted`: inside quotes. `closed`: after a quote in a quoted cell. `stray`: in text after it.
 */
type CellState = 'record' | 'start' | 'plain' | 'quoted' | 'closed' | 'stray';

/**
 * Maximum number of consecutive line breaks or spaces that are held back. More spaces are text. More line breaks fail the
 * file: each takes memory until it is known whether the record ends after it.
 */
const HELD_MAX = 65_536;

/** Output bytes for one input byte: a quote before, a doubled quote, and a quote with a line feed after. */
const SEPARATED_GROWTH = 4;

const TOO_MANY_BREAKS = `A cell has more than ${HELD_MAX} consecutive line breaks.`;

export class SeparatedSource extends ConvertedSource {
  readonly #separator: Buffer;
  readonly #delimiter: Buffer;
  /** -1 for no quote. */
  readonly #quote: number;
  readonly #written: number;
  readonly #spaced: boolean;
  /** Bytes that were held back, because a separator may begin in them, precede the bytes read now. */
  #piece = Buffer.alloc(0);
  readonly #read = Buffer.alloc(PIECE_BYTES);
  #made = new Uint8Array(0);
  #at = 0;
  #state: CellState = 'record';
  /** Line breaks, which are left out if the record ends after them, and spaces that may precede a quote. */
  #breaks: number[] = [];
  #isEnded = false;

  constructor(inner: ByteSource, { separator, delimiter, quote, spaced }: SeparatedForm) {
    super(inner);
    this.#separator = Buffer.from(separator);
    this.#delimiter = Buffer.from(delimiter);
    this.#quote = quote === '' ? -1 : quote.charCodeAt(0);
    this.#written = quote === '' ? QUOTED : quote.charCodeAt(0);
    this.#spaced = spaced;
  }

  protected get isConverted(): boolean {
    return this.#isEnded;
  }

  protected convert(): Uint8Array | null {
    const bytes = this.inner.read(this.#read);
    if (bytes === 0 && (!this.inner.ended || this.#isEnded)) return null;
    this.#isEnded = bytes === 0;
    const piece = Buffer.concat([this.#piece, this.#read.subarray(0, bytes)]);
    const held = this.#isEnded ? 0 : Math.max(this.#separator.length, this.#delimiter.length) - 1;
    const most = (piece.length + this.#breaks.length) * SEPARATED_GROWTH + SEPARATED_GROWTH;
    if (this.#made.length < most) this.#made = new Uint8Array(most);
    this.#at = 0;
    let at = 0;
    while (at < piece.length - held) at += this.#take(piece, at);
    this.#piece = piece.subarray(Math.min(at, piece.length));
    if (this.#isEnded) this.#end();
    return this.#made.subarray(0, this.#at);
  }

  /** Returns the number of bytes taken. */
  #take(piece: Buffer, at: number): number {
    const byte = piece[at]!;
    if (this.#state === 'quoted') {
      if (byte === this.#quote) this.#state = 'closed';
      else this.#put(byte);
      return 1;
    }
    if (this.#state === 'closed' && byte === this.#quote && this.#breaks.length === 0) {
      this.#put(byte);
      this.#put(byte);
      this.#state = 'quoted';
      return 1;
    }
    if (begins(piece, at, this.#separator)) return this.#endCell([LF], 'record', this.#separator.length);
    if (begins(piece, at, this.#delimiter)) return this.#endCell(this.#delimiter, 'start', this.#delimiter.length);
    const isAtStart = this.#state === 'record' || this.#state === 'start';
    if (byte === LF || byte === CR) {
      if (this.#state === 'record') return 1;
      if (this.#breaks.length === HELD_MAX) throw new Failed('MALFORMED_FILE', TOO_MANY_BREAKS);
      this.#breaks.push(byte);
    } else if (isAtStart && byte === SPACE && this.#spaced && this.#breaks.length < HELD_MAX) this.#breaks.push(byte);
    else if (isAtStart && byte === this.#quote) {
      this.#put(byte);
      this.#breaks = [];
      this.#state = 'quoted';
    } else this.#takeText(byte);
    return 1;
  }

  #takeText(byte: number): void {
    if (this.#state === 'closed' || this.#state === 'stray') {
      // Text after a closing quote: the readers keep such a cell as written. It cannot contain line breaks.
      if (this.#state === 'closed') this.#put(this.#quote);
      this.#state = 'stray';
      if (this.#breaks.length > 0) this.#put(SPACE);
      this.#breaks = [];
      this.#put(byte);
      return;
    }
    if (this.#state !== 'plain') this.#put(this.#written);
    this.#state = 'plain';
    for (const held of this.#breaks) this.#put(held);
    this.#breaks = [];
    if (byte === this.#written) this.#put(byte);
    this.#put(byte);
  }

  #endCell(end: Iterable<number>, next: CellState, bytes: number): number {
    if (next === 'record') while (this.#breaks.length > 0 && this.#breaks.at(-1) !== SPACE) this.#breaks.pop();
    for (const held of this.#breaks.splice(0)) this.#takeHeld(held);
    if (this.#state === 'plain') this.#put(this.#written);
    if (this.#state === 'closed') this.#put(this.#quote);
    for (const byte of end) this.#put(byte);
    this.#state = next;
    return bytes;
  }

  /** A line break at the end of a cell that is not the last one of its record, or a space of a cell without text. */
  #takeHeld(byte: number): void {
    if (this.#state === 'start') this.#put(this.#written);
    if (this.#state === 'start') this.#state = 'plain';
    if (this.#state === 'plain') this.#put(byte);
  }

  #end(): void {
    if (this.#state === 'plain') this.#put(this.#written);
    if (this.#state === 'closed') this.#put(this.#quote);
  }

  #put(byte: number): void {
    this.#made[this.#at++] = byte;
  }
}

function begins(bytes: Buffer, at: number, text: Buffer): boolean {
  if (text.length === 0 || bytes[at] !== text[0]) return false;
  // A view for each candidate would take most of the time in a file that consists of such bytes.
  for (let byte = 1; byte < text.length; byte++) if (bytes[at + byte] !== text[byte]) return false;
  return true;
}

/** The first part of a file with a line break after each record and none inside, for the detectors. */
export function separatedSample(bytes: Uint8Array, separator: string): Uint8Array {
  const records = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').split(separator);
  return Buffer.from(
    records.map((record) => record.replace(/^[\r\n]+|[\r\n]+$/g, '').replace(/[\r\n]+/g, ' ')).join('\n'),
  );
}
