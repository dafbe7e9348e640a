// Stores a text as its difference to a similar text, a model, if only single words differ. This is the case for the
// JSON of Runs of one Template. Works on UTF-8 bytes and does not interpret them.
//
// Format of a difference, repeated: the number of bytes equal to the model, as a variable-length number of 7 bits per
// byte; the length of the word that replaces the model's word; the bytes of that word. The rest of the text is equal
// to the model.

/** Used instead of a length: the word is the text's name. */
const OWN_NAME = 255;
const WORD_BYTES_MAX = 254;

const CONTINUED = 0x80;

/** ASCII letters and digits. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Shorter stretches are compared byte by byte, which is faster than a call of the runtime. */
const CALL_BYTES_MIN = 32;

/**
 * Number of stretches whose lengths are remembered. A text with more differing words is compared byte by byte after
 * them.
 */
const STRETCHES_MAX = 32;

/** A model with which texts are compared, one after the other. */
export class TextModel {
  readonly #other: Buffer;
  /**
   * Length of the common end after the last differing word of the previous text, in bytes; 0: unknown. The next text
   * mostly ends the same way, which one call of the runtime can check. The common end begins with a byte that is not
   * part of a word, so that a word before it ends there.
   */
  #tailBytes = 0;
  /** Lengths of the equal stretches of the previous text. */
  readonly #stretchBytes: number[] = [];

  constructor(other: Buffer) {
    this.#other = other;
  }

  /**
   * Writes the difference between `text` and the model into `target`.
   * @param name an ASCII word that may occur in the text several times
   * @param targetBytes number of bytes of the target that may be written
   * @returns the number of bytes written; null: the texts differ in more than words, or the difference is too large
   */
  writeDifference(text: Buffer, name: Uint8Array, target: Uint8Array, targetBytes: number): number | null {
    const other = this.#other;
    const tailBytes = this.#hasTail(text) ? this.#tailBytes : 0;
    const textEnd = text.length - tailBytes;
    const otherEnd = other.length - tailBytes;
    let at = 0;
    let there = 0;
    let copied = 0;
    let written = 0;
    for (let stretch = 0; ; stretch++) {
      const alike = this.#alikeBytes(text, at, textEnd, there, otherEnd, stretch);
      at += alike;
      there += alike;
      if (at === textEnd && there === otherEnd) break;
      let start = at;
      while (start > copied && IS_WORD[text[start - 1]!] === 1) start--;
      const end = wordEnd(text, at);
      const endThere = wordEnd(other, there);
      if (end === at && endThere === there) return null;
      const isName = isAt(text, start, end, name);
      const bytes = isName ? 0 : end - start;
      if (bytes > WORD_BYTES_MAX || written + bytes + NUMBERS_BYTES_MAX > targetBytes) return null;
      written = writeNumber(target, written, start - copied);
      target[written++] = isName ? OWN_NAME : bytes;
      for (let byte = 0; byte < bytes; byte++) target[written++] = text[start + byte]!;
      at = end;
      there = endThere;
      copied = end;
    }
    this.#tailBytes = copied === 0 ? 0 : text.length - copied;
    return written;
  }

  /**
   * Number of equal bytes from `at` in the text and `there` in the model, up to the ends. A stretch between two words
   * is mostly as long as in the previous text, which one call of the runtime can check.
   */
  #alikeBytes(text: Buffer, at: number, textEnd: number, there: number, otherEnd: number, stretch: number): number {
    const other = this.#other;
    const most = Math.min(textEnd - at, otherEnd - there);
    const former = this.#stretchBytes[stretch] ?? 0;
    const isWorthACall = former >= CALL_BYTES_MIN && former <= most;
    const isAlike = isWorthACall && text.compare(other, there, there + former, at, at + former) === 0;
    let bytes = isAlike ? former : 0;
    while (bytes < most && text[at + bytes] === other[there + bytes]) bytes++;
    if (stretch < STRETCHES_MAX) this.#stretchBytes[stretch] = bytes;
    return bytes;
  }

  #hasTail(text: Buffer): boolean {
    const bytes = this.#tailBytes;
    const other = this.#other;
    if (bytes === 0 || bytes > text.length) return false;
    return text.compare(other, other.length - bytes, other.length, text.length - bytes, text.length) === 0;
  }
}

/** Maximum size of the numbers before a word: five bytes for the number of equal bytes, one for the length. */
const NUMBERS_BYTES_MAX = 6;

/** @param target must be as long as the text */
export function readDifference(difference: Uint8Array, other: Uint8Array, name: Uint8Array, target: Uint8Array): void {
  let at = 0;
  let there = 0;
  let read = 0;
  while (read < difference.length) {
    let copied = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = difference[read++]!;
      copied |= (byte & (CONTINUED - 1)) << shift;
      if (byte < CONTINUED) break;
    }
    target.set(other.subarray(there, there + copied), at);
    at += copied;
    there = wordEnd(other, there + copied);
    const bytes = difference[read++]!;
    const word = bytes === OWN_NAME ? name : difference.subarray(read, read + bytes);
    if (bytes !== OWN_NAME) read += bytes;
    target.set(word, at);
    at += word.length;
  }
  target.set(other.subarray(there), at);
}

function wordEnd(text: Uint8Array, start: number): number {
  let at = start;
  while (at < text.length && IS_WORD[text[at]!] === 1) at++;
  return at;
}

function isAt(text: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false;
  for (let byte = 0; byte < name.length; byte++) if (text[start + byte] !== name[byte]) return false;
  return true;
}

function writeNumber(target: Uint8Array, at: number, number: number): number {
  let end = at;
  let rest = number;
  for (; rest >= CONTINUED; rest >>>= 7) target[end++] = (rest & (CONTINUED - 1)) | CONTINUED;
  target[end++] = rest;
  return end;
}
