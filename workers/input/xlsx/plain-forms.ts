// Reads cells and shared strings in the form that nearly all programs write, in one pass over the bytes. Any other form
// is read token by token, with the same result.
import * as cells from './cell-kinds.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const AMPERSAND = 0x26;
const LESS = 0x3c;
const EQUALS = 0x3d;
const UNDERSCORE = 0x5f;
const CR = 0x0d;

const LETTER_R = 0x72;
const LETTER_S = 0x73;
const LETTER_T = 0x74;

const VALUE_START = Buffer.from('><v>');
const VALUE_END = Buffer.from('</v></c>');
const INLINE_START = Buffer.from('><is><t>');
const INLINE_END = Buffer.from('</t></is></c>');
const ITEM_START = Buffer.from('<si><t>');
const SPACED_ITEM_START = Buffer.from('<si><t xml:space="preserve">');
const ITEM_END = Buffer.from('</t></si>');

const ENDS_TEXT = new Uint8Array(256);
for (const byte of [LESS, AMPERSAND, UNDERSCORE, CR]) ENDS_TEXT[byte] = 1;

/** `<c r="B2" s="1" t="s"><v>17</v></c>`, or the same with an inline text. */
export class PlainCell {
  column = 0;
  type = cells.TYPE_NUMBER;
  style = 0;
  /** Start and end of the value. */
  start = 0;
  end = 0;
  /** Position after the cell. */
  after = 0;

  /**
   * Returns false if the bytes at `from` are not such a cell, or not a complete one.
   * @param next column of the cell if it has no reference
   */
  read(bytes: Uint8Array, from: number, limit: number, next: number): boolean {
    this.column = next;
    this.type = cells.TYPE_NUMBER;
    this.style = 0;
    let at = from + 2;
    while (bytes[at] === SPACE) {
      if (bytes[at + 2] !== EQUALS || bytes[at + 3] !== QUOTE) return false;
      const name = bytes[at + 1];
      at += 4;
      if (name === LETTER_R) at = this.#reference(bytes, at, next);
      else if (name === LETTER_S) at = this.#digits(bytes, at);
      else if (name === LETTER_T) at = this.#type(bytes, at);
      else return false;
      if (bytes[at] !== QUOTE) return false;
      at++;
    }
    const isInline = this.type === cells.TYPE_INLINE;
    const opening = isInline ? INLINE_START : VALUE_START;
    if (!stands(opening, bytes, at)) return false;
    this.start = at + opening.length;
    at = textEnd(bytes, this.start, limit);
    const closing = isInline ? INLINE_END : VALUE_END;
    // The cell ends before the limit, so no byte after the limit has influenced the result.
    if (at + closing.length > limit || !stands(closing, bytes, at)) return false;
    this.end = at;
    this.after = at + closing.length;
    return true;
  }

  #reference(bytes: Uint8Array, from: number, next: number): number {
    let at = from;
    let column = 0;
    for (; at < from + 4; at++) {
      const letter = bytes[at]! - 0x40;
      if (letter < 1 || letter > 26) break;
      column = column * 26 + letter;
    }
    while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
    this.column = column === 0 ? next : column - 1;
    return at;
  }

  #digits(bytes: Uint8Array, from: number): number {
    let at = from;
    let value = 0;
    for (; at < from + 9 && bytes[at]! >= 0x30 && bytes[at]! <= 0x39; at++) value = value * 10 + bytes[at]! - 0x30;
    this.style = value;
    return at;
  }

  /** Recognises the frequent types only. */
  #type(bytes: Uint8Array, at: number): number {
    if (bytes[at] === LETTER_S && bytes[at + 1] === QUOTE) {
      this.type = cells.TYPE_SHARED;
      return at + 1;
    }
    if (bytes[at] === 0x69 && bytes[at + 8] === 0x72 && bytes[at + 9] === QUOTE) {
      this.type = cells.TYPE_INLINE;
      return at + 9;
    }
    return -1;
  }
}

/** `<si><t>text</t></si>` */
export class PlainItem {
  start = 0;
  end = 0;
  after = 0;

  /** Returns false if the bytes at `at` are not such a string, or not a complete one. */
  read(bytes: Uint8Array, at: number, limit: number): boolean {
    const isShort = stands(ITEM_START, bytes, at);
    if (!isShort && !stands(SPACED_ITEM_START, bytes, at)) return false;
    this.start = at + (isShort ? ITEM_START : SPACED_ITEM_START).length;
    this.end = textEnd(bytes, this.start, limit);
    this.after = this.end + ITEM_END.length;
    return this.after <= limit && stands(ITEM_END, bytes, this.end);
  }
}

function stands(text: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text[index]) return false;
  return true;
}

/** Returns the first byte that ends the text or must be decoded. */
function textEnd(bytes: Uint8Array, from: number, limit: number): number {
  let at = from;
  while (at < limit && ENDS_TEXT[bytes[at]!] === 0) at++;
  return at;
}
