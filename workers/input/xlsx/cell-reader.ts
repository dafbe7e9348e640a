// Reads one cell of a sheet: its position, its type, and the text of its value.
import { CELL_BYTES_MAX, COLUMNS_MAX } from '../ceilings.ts';
import {
  TYPE_BOOLEAN,
  TYPE_DATE,
  TYPE_ERROR,
  TYPE_FORMULA_TEXT,
  TYPE_INLINE,
  TYPE_NUMBER,
  TYPE_SHARED,
} from './cell-kinds.ts';
import { CELL_PARTS_MAX, malformedWorkbook } from './limits.ts';
import { PlainCell } from './plain-forms.ts';
import { CollectedText } from './text-decoder.ts';
import { CLOSE, EMPTY, END, FLAG_ENTITY, MORE, OPEN, TEXT, type XmlTokens } from './xml-tokens.ts';

const TYPES: readonly (readonly [name: string, type: number])[] = [
  ['s', TYPE_SHARED],
  ['n', TYPE_NUMBER],
  ['str', TYPE_FORMULA_TEXT],
  ['b', TYPE_BOOLEAN],
  ['inlineStr', TYPE_INLINE],
  ['e', TYPE_ERROR],
  ['d', TYPE_DATE],
];

const LETTER_R = 0x72;
const LETTER_S = 0x73;
const LETTER_T = 0x74;
const LETTER_V = 0x76;
const LETTER_F = 0x66;

export class CellReader {
  readonly #tokens: XmlTokens;
  readonly #plain = new PlainCell();
  readonly #collected = new CollectedText();
  column = 0;
  type = TYPE_NUMBER;
  style = 0;
  hasFormula = false;
  /** True if the cell has an element for its value, even an empty one. */
  hasValue = false;
  /** Buffer and range of the text, with entities decoded. */
  bytes: Buffer;
  start = 0;
  end = 0;
  #isCollected = false;
  /** Tags and texts of this cell so far. */
  #parts = 0;

  constructor(tokens: XmlTokens) {
    this.#tokens = tokens;
    this.bytes = tokens.bytes;
  }

  /** Reads a cell at the current position if it has the usual form. Otherwise returns false and changes nothing. */
  readPlain(next: number): boolean {
    const tokens = this.#tokens;
    const plain = this.#plain;
    if (!plain.read(tokens.bytes, tokens.at, tokens.window.end, next)) return false;
    if (plain.column >= COLUMNS_MAX) return false;
    this.column = plain.column;
    this.type = plain.type;
    this.style = plain.style;
    this.hasFormula = false;
    this.hasValue = true;
    this.bytes = tokens.bytes;
    this.start = plain.start;
    this.end = plain.end;
    tokens.at = plain.after;
    return true;
  }

  /**
   * Reads the cell whose start tag is the current token. Returns false if more bytes are needed; the cell is then read
   * again from its start tag.
   * @param next column of the cell if it has no reference
   * @param isEmpty whether the tag is an empty element
   */
  read(next: number, isEmpty: boolean): boolean {
    this.#readAttributes(next);
    this.hasFormula = false;
    this.hasValue = false;
    this.#isCollected = false;
    this.#parts = 0;
    this.start = 0;
    this.end = 0;
    if (isEmpty) return true;
    const tokens = this.#tokens;
    const depth = tokens.depth;
    for (;;) {
      const token = this.#next();
      if (token === OPEN) {
        if (!this.#readElement()) return false;
      } else if (token === EMPTY) this.#emptyElement();
      else if (token === MORE) return false;
      else if (token === END || (token === CLOSE && tokens.depth < depth)) return true;
    }
  }

  #readAttributes(next: number): void {
    const tokens = this.#tokens;
    const { bytes } = tokens;
    this.column = next;
    this.style = 0;
    this.type = TYPE_NUMBER;
    while (tokens.nextAttribute()) {
      if (tokens.nameEnd - tokens.nameStart !== 1) continue;
      const name = bytes[tokens.nameStart];
      if (name === LETTER_R) this.#readReference(next);
      else if (name === LETTER_S) this.style = this.#digits();
      else if (name === LETTER_T) this.#readType();
    }
    if (this.column >= COLUMNS_MAX) throw malformedWorkbook(`a row has more than ${COLUMNS_MAX} columns`);
  }

  #readReference(next: number): void {
    const { bytes, valueStart, valueEnd } = this.#tokens;
    let column = 0;
    let at = valueStart;
    for (; at < valueEnd && at < valueStart + 4; at++) {
      const letter = bytes[at]! & 0xdf;
      if (letter < 0x41 || letter > 0x5a) break;
      column = column * 26 + letter - 0x40;
    }
    this.column = column === 0 ? next : column - 1;
  }

  #readType(): void {
    const tokens = this.#tokens;
    if (tokens.valueEnd - tokens.valueStart === 1 && tokens.bytes[tokens.valueStart] === LETTER_S) {
      this.type = TYPE_SHARED;
      return;
    }
    for (const [name, type] of TYPES) if (tokens.valueIs(name)) this.type = type;
  }

  #digits(): number {
    const { bytes, valueStart, valueEnd } = this.#tokens;
    let value = 0;
    for (let at = valueStart; at < valueEnd && value < 1e9; at++) {
      const digit = bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) return 0;
      value = value * 10 + digit;
    }
    return value;
  }

  /** Reads `<v>`, `<is>` and `<f>`, and skips all other elements. */
  #readElement(): boolean {
    const tokens = this.#tokens;
    if (tokens.end - tokens.start === 1) {
      const name = tokens.bytes[tokens.start];
      // For an inline text, only `<is>` counts. Excel ignores other values there.
      if (name === LETTER_V && this.type !== TYPE_INLINE) {
        this.hasValue = true;
        return this.#readValue();
      }
      if (name === LETTER_F) this.hasFormula = true;
    } else if (tokens.is('is')) {
      this.hasValue = true;
      return this.#readRichText();
    }
    return this.#passOver();
  }

  #emptyElement(): void {
    const tokens = this.#tokens;
    if (tokens.is('is') || (tokens.is('v') && this.type !== TYPE_INLINE)) this.hasValue = true;
    else if (tokens.is('f')) this.hasFormula = true;
  }

  #readValue(): boolean {
    const tokens = this.#tokens;
    const depth = tokens.depth;
    for (;;) {
      const token = this.#next();
      if (token === TEXT) this.#add();
      else if (token === MORE) return false;
      else if (token === CLOSE && tokens.depth < depth) return true;
    }
  }

  #readRichText(): boolean {
    const tokens = this.#tokens;
    const depth = tokens.depth;
    let isText = false;
    for (;;) {
      const token = this.#next();
      if (token === MORE) return false;
      if (token === TEXT) {
        if (isText) this.#add();
      } else if (token === OPEN) {
        if (tokens.is('t')) isText = true;
        else if (tokens.is('rPh') && !this.#passOver()) return false;
      } else if (token === CLOSE) {
        isText = false;
        if (tokens.depth < depth) return true;
      }
    }
  }

  #passOver(): boolean {
    const tokens = this.#tokens;
    const depth = tokens.depth;
    for (;;) {
      const token = this.#next();
      if (token === MORE) return false;
      if (token === CLOSE && tokens.depth < depth) return true;
    }
  }

  #next(): number {
    if (++this.#parts > CELL_PARTS_MAX)
      throw malformedWorkbook(`a cell has more than ${CELL_PARTS_MAX} tags and texts`);
    return this.#tokens.next();
  }

  /** A value in one piece is not copied. */
  #add(): void {
    const tokens = this.#tokens;
    const isText = this.type === TYPE_FORMULA_TEXT || this.type === TYPE_INLINE;
    const flags = isText ? tokens.textFlags : tokens.textFlags & FLAG_ENTITY;
    if (!this.#isCollected) {
      if (flags === 0 && this.end === 0) {
        this.bytes = tokens.bytes;
        this.start = tokens.start;
        this.end = tokens.end;
        return;
      }
      this.#collected.clear();
      if (this.end > 0) this.#collected.add(this.bytes, this.start, this.end, 0);
      this.#isCollected = true;
    }
    this.#collected.add(tokens.bytes, tokens.start, tokens.end, flags);
    this.bytes = this.#collected.bytes;
    this.start = 0;
    this.end = this.#collected.length;
    if (this.end > CELL_BYTES_MAX) throw malformedWorkbook('a cell is too long');
  }
}
