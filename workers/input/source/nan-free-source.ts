// Replaces NaN, Infinity and -Infinity outside the texts of a JSON file by null, and counts them (input.json.nan:
// blank). Changes nothing else, so that the readers find every other mistake. A replacement has the length of the word,
// except for NaN, which becomes one byte longer.
import { ConvertedSource } from './converted-source.ts';

/** Bytes read at a time. */
const PIECE_BYTES = 65_536;

const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

/** By their first byte. Outside texts, neither N nor I occurs in JSON. */
const WORDS: ReadonlyMap<number, Buffer> = new Map(
  ['NaN', 'Infinity'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

/** Space for the beginning of `-Infinity` at the end of a piece. */
const HELD_BYTES_MAX = 8;

const NULL = Buffer.from('null');

const LF = 0x0a;
const SPACE = 0x20;

/** Number of NaNs whose places are kept for messages: those of the last 256 KiB at least. */
const PLACES_MAX = 65_536;

/** The inner source is UTF-8 text. */
export class NanFreeSource extends ConvertedSource {
  /** Number of values replaced so far. */
  values = 0;
  readonly #piece = Buffer.alloc(HELD_BYTES_MAX + PIECE_BYTES);
  /** NaN becomes one byte longer. */
  readonly #made = Buffer.alloc(((HELD_BYTES_MAX + PIECE_BYTES) * NULL.length) / 3 + NULL.length);
  /** Number of bytes at the start of `#piece` that may be the beginning of a word. */
  #held = 0;
  #isInText = false;
  #isEscaped = false;
  /** Number of bytes of all pieces before the current one, after their replacement. */
  #madeBefore = 0;
  /** Number of NaNs so far in the current line. */
  #inLine = 0;
  /** The last NaNs: their offset in the replaced text, and their number in their line, from 1. */
  #places: { readonly at: number; readonly inLine: number }[] = [];

  /**
   * Number of bytes that were added in a line before a place in it.
   * @param lineStart offset of the line in the replaced text
   * @param at offset of the place
   */
  addedBytes(lineStart: number, at: number): number {
    const last = this.#places.findLast((nan) => nan.at < at);
    return last === undefined || last.at < lineStart ? 0 : last.inLine;
  }

  protected get isConverted(): boolean {
    return this.inner.ended && this.#held === 0;
  }

  protected convert(): Uint8Array | null {
    const bytes = this.inner.read(this.#piece.subarray(this.#held));
    const isEnd = bytes === 0 && this.inner.ended;
    return bytes === 0 && !isEnd ? null : this.#replace(this.#held + bytes, isEnd);
  }

  #replace(count: number, isEnd: boolean): Uint8Array {
    const [piece, made] = [this.#piece, this.#made];
    let length = 0;
    let at = 0;
    while (at < count) {
      const byte = piece[at]!;
      const next = this.#isInText ? at + 1 : this.#afterWord(at, count);
      if (next > count) break;
      if (next > at + 1) {
        length = this.#putNull(length, next - at);
        at = next;
        continue;
      }
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#isInText = !this.#isInText;
      else if (byte === BACKSLASH) this.#isEscaped = this.#isInText;
      if (byte === LF) this.#inLine = 0;
      made[length++] = byte;
      at++;
    }
    this.#madeBefore += length;
    // The text ends within a word. The reader says that it is cut off.
    this.#held = isEnd ? 0 : count - at;
    piece.copyWithin(0, at, count);
    return made.subarray(0, length);
  }

  /** @returns the number of bytes made so far in this piece */
  #putNull(from: number, wordBytes: number): number {
    this.values++;
    const end = from + NULL.copy(this.#made, from);
    if (wordBytes < NULL.length) {
      this.#inLine += NULL.length - wordBytes;
      this.#places.push({ at: this.#madeBefore + from, inLine: this.#inLine });
      if (this.#places.length > 2 * PLACES_MAX) this.#places = this.#places.slice(-PLACES_MAX);
      return end;
    }
    this.#made.fill(SPACE, end, from + wordBytes);
    return from + wordBytes;
  }

  /**
   * Returns the position after the word that begins at a position, or of the next byte if none does. Returns more than
   * `count` if the bytes of a word may follow.
   */
  #afterWord(at: number, count: number): number {
    const start = this.#piece[at] === MINUS ? at + 1 : at;
    if (start === count) return count + 1;
    const word = WORDS.get(this.#piece[start]!);
    if (word === undefined) return at + 1;
    const end = start + word.length;
    const there = Math.min(end, count) - start;
    const isWord = this.#piece.compare(word, 0, there, start, start + there) === 0;
    if (!isWord) return at + 1;
    return end <= count ? end : count + 1;
  }
}
