// Texts that differ in single words from another one, as the JSON of Runs of one Template does: what is kept of such a text
// is how its words differ. Bytes of UTF-8; it does not know what is in them.
// A difference: how many bytes are as in the other text, as a number of 7 bits a byte; then the length of the word that
// stands there instead of the other one's, and its bytes; again and again. What follows is as in the other text.

/** Instead of a length: the text's own name. */
const OWN_NAME = 255;
const WORD_BYTES_MAX = 254;

const CONTINUED = 0x80;

/** Letters and digits of ASCII. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** A stretch of fewer bytes is compared sooner than the runtime is called. */
const CALL_BYTES_MIN = 32;

/** So many are remembered: a text that differs in more words costs a byte at a time. */
const STRETCHES_MAX = 32;

/** A text that others are held against, one after the other. */
export class TextModel {
  readonly #other: Buffer;
  /**
   * What stood behind the last word in which a text differed, in bytes, 0 = none: the next one mostly ends with the same,
   * which the runtime tells at once. It begins with what is no word, so that a word before it ends there.
   */
  #tailBytes = 0;
  /** The lengths of the stretches that were alike in the last text. */
  readonly #stretchBytes: number[] = [];

  constructor(other: Buffer) {
    this.#other = other;
  }

  /**
   * Writes how `text` differs from it into `target`.
   * @param name a word of ASCII that may stand in the text more than once
   * @param targetBytes how much of the target may be written
   * @returns the bytes written; null: it differs in more than words, or in more than may be written
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
   * How many bytes from `at` are as those from `there`, before the ends. A stretch between two words is mostly as long as in the
   * text before, which the runtime tells at once.
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

/** Before a word: five bytes of a number at most, and its length. */
const NUMBERS_BYTES_MAX = 6;

/** @param target as long as the text */
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
  let behind = at;
  let rest = number;
  for (; rest >= CONTINUED; rest >>>= 7) target[behind++] = (rest & (CONTINUED - 1)) | CONTINUED;
  target[behind++] = rest;
  return behind;
}
