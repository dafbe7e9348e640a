// What shows in which encoding a text is written: its lines with bytes outside of ASCII, in so far as they are needed.
import { isAscii } from 'node:buffer';

/** Enough for a sound judgement, little enough to be judged in every encoding within some milliseconds. */
const HIGH_LINES_BYTES_MAX = 16_384;

/** Of a longer line only its beginning is taken. */
const LINE_BYTES_MAX = 4_096;

const LF = 10;
const CR = 13;

/** No character of several bytes holds a byte below, but as its first: a line may be cut behind one. */
const FIRST_INNER_BYTE = 0x30;

/** Collects them from the pieces of a file, in order. A line begins behind a LF or CR, which no character of several bytes holds. */
export class HighLines {
  readonly #collected = new Uint8Array(HIGH_LINES_BYTES_MAX + LINE_BYTES_MAX + 1);
  #length = 0;
  /** Of the line that is being looked at: where it begins in what was collected is `#length`. */
  #lineBytes = 0;
  #isHigh = false;

  /** True when no more pieces are needed. */
  get isFull(): boolean {
    return this.#length >= HIGH_LINES_BYTES_MAX;
  }

  add(piece: Uint8Array): void {
    const [first, last] = isAscii(piece) ? [piece.indexOf(LF), piece.lastIndexOf(LF)] : [-1, -1];
    if (last <= first) {
      this.#look(piece);
      return;
    }
    // Whole lines of ASCII between the first line break and the last.
    this.#look(piece.subarray(0, first + 1));
    this.#look(piece.subarray(last));
  }

  /** @param isCut the last line is not complete, or was cut by the caller */
  bytes(isCut: boolean): Uint8Array {
    if (isCut) this.#lineBytes = this.#wholeBytes();
    this.#endLine();
    return this.#collected.subarray(0, this.#length);
  }

  #look(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.isFull; at++) {
      const byte = piece[at]!;
      if (byte === LF || byte === CR) {
        this.#endLine();
        continue;
      }
      if (this.#lineBytes === LINE_BYTES_MAX) continue;
      this.#collected[this.#length + this.#lineBytes++] = byte;
      this.#isHigh ||= byte >= 0x80;
    }
  }

  #endLine(): void {
    const bytes = this.#lineBytes === LINE_BYTES_MAX ? this.#wholeBytes() : this.#lineBytes;
    if (this.#isHigh && bytes > 0) {
      this.#length += bytes;
      this.#collected[this.#length++] = LF;
    }
    this.#lineBytes = 0;
    this.#isHigh = false;
  }

  /** Of a line that was cut: up to a byte that surely ends a character. */
  #wholeBytes(): number {
    let bytes = this.#lineBytes;
    while (bytes > 0 && this.#collected[this.#length + bytes - 1]! >= FIRST_INNER_BYTE) bytes--;
    return bytes;
  }
}

/** Those of the first bytes of a file. */
export function highLinesOf(head: Uint8Array, isWhole: boolean): Uint8Array {
  const lines = new HighLines();
  lines.add(head);
  return lines.bytes(!isWhole);
}
