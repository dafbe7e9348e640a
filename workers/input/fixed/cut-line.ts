// Where the cells of one line of fixed columns lie: in a line of ASCII a character is a byte, in any other its characters
// (code points) are counted first. Pad spaces around a cell are no part of it.
import type { FixedColumn } from '../../template/template.ts';

const SPACE = 0x20;

/** Of a continuation byte of UTF-8, the two highest bits. */
const CONTINUATION = 0x80;

export class LineCutter {
  readonly #starts: readonly number[];
  readonly #ends: readonly number[];
  /** Characters up to the end of the last column. */
  readonly #characters: number;
  /** Address of each character of the line, up to one behind the last column. */
  readonly #places: Uint32Array;
  /** Address of each cell of the line that was cut last, and behind it; 0: the line ends before it. */
  readonly cells: Uint32Array;

  constructor(columns: readonly FixedColumn[]) {
    this.#starts = columns.map(({ start }) => start - 1);
    this.#ends = columns.map(({ start, length }) => start - 1 + length);
    this.#characters = Math.max(...this.#ends);
    this.#places = new Uint32Array(this.#characters + 1);
    this.cells = new Uint32Array(columns.length * 2);
  }

  /**
   * Cuts the line [from, to), UTF-8 without its line break.
   * @returns whether something other than spaces stands behind the last column
   */
  cut(u8: Uint8Array, from: number, to: number, isAscii: boolean): boolean {
    if (isAscii) {
      for (let column = 0; column < this.#starts.length; column++) {
        this.#put(u8, column, Math.min(from + this.#starts[column]!, to), Math.min(from + this.#ends[column]!, to), to);
      }
      return holdsText(u8, from + this.#characters, to);
    }
    const places = this.#places;
    let count = 0;
    for (let at = from; at < to && count <= this.#characters; at++) {
      if ((u8[at]! & 0xc0) !== CONTINUATION) places[count++] = at;
    }
    const placeOf = (character: number): number => (character < count ? places[character]! : to);
    for (let column = 0; column < this.#starts.length; column++) {
      this.#put(u8, column, placeOf(this.#starts[column]!), placeOf(this.#ends[column]!), to);
    }
    return holdsText(u8, placeOf(this.#characters), to);
  }

  #put(u8: Uint8Array, column: number, from: number, to: number, lineEnd: number): void {
    const isMissing = from >= lineEnd;
    while (from < to && u8[from] === SPACE) from++;
    while (from < to && u8[to - 1] === SPACE) to--;
    this.cells[column * 2] = isMissing ? 0 : from;
    this.cells[column * 2 + 1] = to;
  }
}

function holdsText(u8: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (u8[at] !== SPACE) return true;
  return false;
}
