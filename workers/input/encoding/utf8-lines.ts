// Finds lines of UTF-8 in a text that is read in another encoding. The encoding of such a text was guessed from its
// beginning, so lines in UTF-8 further down mean that the guess is wrong for them, or that the file mixes encodings.
import { isAscii } from 'node:buffer';

const LF = 10;
const CR = 13;
const BYTES = 256;
const WORD_BYTES = 4;
/** The bits of a word that are set in its non-ASCII bytes. */
const HIGH_BITS = 0x80808080 | 0;

/**
 * States within a line. The `NEED` states are inside a character: number of missing bytes, or the first byte if it
 * limits the second one.
 */
const ASCII = 0;
const UTF8 = 1;
const OTHER = 2;
const NEED_1 = 3;
const NEED_2 = 4;
const NEED_3 = 5;
const BEHIND_E0 = 6;
const BEHIND_ED = 7;
const BEHIND_F0 = 8;
const BEHIND_F4 = 9;
/** A complete line of UTF-8 with non-ASCII characters has ended. No byte changes this state. */
const FOUND = 10;
const STATES = 11;

/** First and last byte that continues a character in this state, and the state after it. */
const INNER: readonly (readonly [state: number, first: number, last: number, next: number])[] = [
  [NEED_1, 0x80, 0xbf, UTF8],
  [NEED_2, 0x80, 0xbf, NEED_1],
  [NEED_3, 0x80, 0xbf, NEED_2],
  [BEHIND_E0, 0xa0, 0xbf, NEED_1],
  [BEHIND_ED, 0x80, 0x9f, NEED_1],
  [BEHIND_F0, 0x90, 0xbf, NEED_2],
  [BEHIND_F4, 0x80, 0x8f, NEED_2],
];

/** First and last byte that begins a character of several bytes, and the state after it. */
const LEADS: readonly (readonly [first: number, last: number, next: number])[] = [
  [0xc2, 0xdf, NEED_1],
  [0xe0, 0xe0, BEHIND_E0],
  [0xe1, 0xec, NEED_2],
  [0xed, 0xed, BEHIND_ED],
  [0xee, 0xef, NEED_2],
  [0xf0, 0xf0, BEHIND_F0],
  [0xf1, 0xf3, NEED_3],
  [0xf4, 0xf4, BEHIND_F4],
];

/** Next state for each state and byte. */
const NEXT = nextStates();

/** Takes the text in pieces of any size: the result does not depend on where the pieces are cut. */
export class Utf8Lines {
  #state = ASCII;

  /** Called before a piece that begins a line. */
  restart(): void {
    this.#state = ASCII;
  }

  /** Returns true if a line of UTF-8 with non-ASCII characters has ended in this piece or before. */
  add(piece: Uint8Array): boolean {
    const isPlain = isAscii(piece);
    if (isPlain && this.#state === ASCII) return false;
    const wordsEnd = piece.length & ~(WORD_BYTES - 1);
    const isOther = wordsEnd > 0 && (isPlain || !mayHoldUtf8(piece));
    const [first, last] = isOther ? [piece.indexOf(LF), piece.lastIndexOf(LF, wordsEnd - 1)] : [-1, -1];
    if (last <= first) this.#follow(piece, 0, piece.length);
    else {
      // No line between the first and the last line break of the words is UTF-8.
      this.#follow(piece, 0, first + 1);
      this.#follow(piece, last, piece.length);
    }
    return this.#state === FOUND;
  }

  /** Called at the end of the text. Returns the same as `add`. */
  end(): boolean {
    return this.#state === FOUND || this.#state === UTF8;
  }

  #follow(piece: Uint8Array, from: number, to: number): void {
    let state = this.#state;
    for (let at = from; at < to; at++) state = NEXT[state * BYTES + piece[at]!]!;
    this.#state = state;
  }
}

/**
 * Returns false if the complete words of a piece have no two consecutive non-ASCII bytes, and therefore no character of
 * UTF-8 beyond ASCII. Reads a word at a time, because most texts in single-byte encodings have few such pairs.
 */
function mayHoldUtf8(piece: Uint8Array): boolean {
  if (piece.byteOffset % WORD_BYTES !== 0) return true;
  const words = new Int32Array(piece.buffer, piece.byteOffset, piece.length >>> 2);
  let last = 0;
  for (let at = 0; at < words.length; at++) {
    const high = words[at]! & HIGH_BITS;
    if (high === 0) last = 0;
    else {
      if ((high & (high << 8)) !== 0 || (high & (last >>> 24)) !== 0) return true;
      last = high;
    }
  }
  return false;
}

function nextStates(): Uint8Array {
  const next = new Uint8Array(STATES * BYTES);
  for (let state = 0; state < STATES; state++) {
    const row = next.subarray(state * BYTES, (state + 1) * BYTES);
    const isWhole = state === ASCII || state === UTF8;
    row.fill(isWhole ? state : OTHER, 0, 0x80).fill(OTHER, 0x80);
    if (isWhole) for (const [first, last, to] of LEADS) row.fill(to, first, last + 1);
    row[LF] = state === UTF8 ? FOUND : ASCII;
    row[CR] = row[LF];
    if (state === FOUND) row.fill(FOUND);
  }
  for (const [state, first, last, to] of INNER) next.fill(to, state * BYTES + first, state * BYTES + last + 1);
  return next;
}
