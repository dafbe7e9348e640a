// Lines with non-ASCII bytes, which show the encoding of a text, and texts that end inside a character.
import { isAscii, isUtf8 } from 'node:buffer';

// Finds texts of UTF-8 that end inside a character.

/** Longest character of UTF-8, and the smallest byte that begins a character of several bytes. */
const CHARACTER_BYTES_MAX = 4;
const FIRST_LEAD_BYTE = 0xc2;

/** The first and the last byte that continue a character. */
const CONTINUATION_BYTES = [0x80, 0xbf];

/** Returns the number of bytes at the end of a text that are the beginning of a character of UTF-8. */
function openBytesOf(text: Uint8Array): number {
  for (let bytes = 1; bytes < CHARACTER_BYTES_MAX && bytes <= text.length; bytes++) {
    const end = text.subarray(text.length - bytes);
    if (end[0]! >= FIRST_LEAD_BYTE) return isOpen(end) ? bytes : 0;
  }
  return 0;
}

/** True if more bytes make the bytes a character. After some bytes, only a part of the continuation bytes is valid. */
export function isOpen(bytes: Uint8Array): boolean {
  return CONTINUATION_BYTES.some((byte) =>
    [1, 2, 3].some((missing) => isUtf8(Buffer.concat([bytes, Buffer.alloc(missing, byte)]))),
  );
}

// Collects lines with non-ASCII bytes, which show the encoding of a text. Stops when it has enough lines of
// both kinds, those in UTF-8 and those in another encoding, because a file may change its encoding after thousands of lines.

/** Enough bytes for a reliable judgement, and few enough to test every encoding within some milliseconds. */
const SAMPLE_BYTES_MAX = 16_384;

/** Maximum number of bytes examined as one line. Longer lines are examined in parts. */
const LINE_BYTES_MAX = 4_096;

/**
 * Minimum number of bytes of each kind of lines (UTF-8 or not). After SAMPLE_BYTES_MAX, only a kind below this
 * minimum is collected.
 */
const KIND_BYTES_MIN = 4_096;

/** Lines with non-ASCII bytes, concatenated, each followed by an LF. */
export interface NonAsciiSample {
  readonly bytes: Uint8Array;
  /** Line number of each of these lines in the file, from 1, counted by LF and CRLF. Parts of a line have its number. */
  readonly numbers: readonly number[];
  /** Number of bytes at the end of the file that are the beginning of a character of UTF-8. They end the last line. */
  readonly openBytes: number;
  /** The file begins with the byte order mark of UTF-8. */
  readonly hasMark: boolean;
}

export const NO_LINES: NonAsciiSample = { bytes: new Uint8Array(0), numbers: [], openBytes: 0, hasMark: false };

const LF = 10;
const CR = 13;
const UTF8_MARK = [0xef, 0xbb, 0xbf];

/** Smallest byte that can follow the first byte of a multi-byte character. A line may be cut after any smaller byte. */
const FIRST_INNER_BYTE = 0x30;

/**
 * Collects the lines from the pieces of a file, in order. A line begins after an LF or CR, which never occur inside
 * multi-byte characters.
 */
export class NonAsciiLines {
  readonly #collected = new Uint8Array(SAMPLE_BYTES_MAX + KIND_BYTES_MIN + 2 * (LINE_BYTES_MAX + 1));
  #length = 0;
  /** Length of the current line, or of its current part. It starts at offset `#length` of the collected bytes. */
  #lineBytes = 0;
  #isHigh = false;
  /** The rest of the current line is not examined. */
  #isSkipped = false;
  readonly #numbers: number[] = [];
  #isAtStart = true;
  #hasMark = false;
  /** Bytes of the collected lines by kind. */
  readonly #kindBytes = { utf8: 0, other: 0 };
  /** Number of the current line. */
  #line = 1;

  /** True if no more pieces are needed. */
  get isFull(): boolean {
    return this.#length >= SAMPLE_BYTES_MAX && !this.#lacks('utf8') && !this.#lacks('other');
  }

  #lacks(kind: 'utf8' | 'other'): boolean {
    return this.#kindBytes[kind] < KIND_BYTES_MIN;
  }

  /** The first piece is skipped up to the end of a byte order mark of UTF-8, which does not show the encoding of a line. */
  add(next: Uint8Array): void {
    this.#hasMark ||= this.#isAtStart && startsWithMark(next);
    const piece = this.#isAtStart && this.#hasMark ? next.subarray(UTF8_MARK.length) : next;
    this.#isAtStart &&= next.length === 0;
    const [first, last] = isAscii(piece) ? [piece.indexOf(LF), piece.lastIndexOf(LF)] : [-1, -1];
    if (last <= first) {
      this.#look(piece);
      return;
    }
    // Everything between the first and the last line break is complete ASCII lines.
    this.#look(piece.subarray(0, first + 1));
    this.#line += lineBreaks(piece.subarray(first + 1, last));
    this.#look(piece.subarray(last));
  }

  /** @param isCut whether the last line is incomplete or was cut by the caller */
  sample(isCut: boolean): NonAsciiSample {
    if (isCut) this.#lineBytes = this.#wholeBytes();
    const openBytes = isCut || this.#isSkipped ? 0 : openBytesOf(this.#current());
    this.#endLine();
    const bytes = this.#collected.subarray(0, this.#length);
    return { bytes, numbers: this.#numbers, openBytes, hasMark: this.#hasMark };
  }

  #look(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.isFull; at++) {
      const byte = piece[at]!;
      if (byte === LF || byte === CR) {
        this.#endLine();
        if (byte === LF) this.#line++;
        continue;
      }
      if (this.#isSkipped) continue;
      if (this.#lineBytes === LINE_BYTES_MAX) this.#endPart();
      this.#collected[this.#length + this.#lineBytes++] = byte;
      this.#isHigh ||= byte >= 0x80;
    }
  }

  #endLine(): void {
    if (this.#isHigh && this.#lineBytes > 0) this.#collect(this.#lineBytes);
    this.#lineBytes = 0;
    this.#isHigh = false;
    this.#isSkipped = false;
  }

  /** Collects a part of a long line up to the end of a character. The next part begins after it. */
  #endPart(): void {
    const whole = this.#isHigh ? this.#wholeBytes() : this.#lineBytes;
    this.#isSkipped = whole === 0;
    if (this.#isSkipped) return;
    const rest = this.#current().slice(whole);
    if (this.#isHigh) this.#collect(whole);
    this.#collected.set(rest, this.#length);
    this.#lineBytes = rest.length;
    this.#isHigh = !isAscii(rest);
  }

  /** The bytes of the current line, or of its current part. */
  #current(): Uint8Array {
    return this.#collected.subarray(this.#length, this.#length + this.#lineBytes);
  }

  #collect(bytes: number): void {
    const kind = isUtf8(this.#collected.subarray(this.#length, this.#length + bytes)) ? 'utf8' : 'other';
    if (this.#length >= SAMPLE_BYTES_MAX && !this.#lacks(kind)) return;
    this.#kindBytes[kind] += bytes;
    this.#length += bytes;
    this.#collected[this.#length++] = LF;
    this.#numbers.push(this.#line);
  }

  /** Length of a cut line up to a byte that certainly ends a character. */
  #wholeBytes(): number {
    let bytes = this.#lineBytes;
    while (bytes > 0 && this.#collected[this.#length + bytes - 1]! >= FIRST_INNER_BYTE) bytes--;
    return bytes;
  }
}

function startsWithMark(piece: Uint8Array): boolean {
  return UTF8_MARK.every((byte, at) => piece[at] === byte);
}

/** Collects the lines from the first bytes of a file. */
export function nonAsciiLinesOf(head: Uint8Array, isWhole: boolean): NonAsciiSample {
  const lines = new NonAsciiLines();
  lines.add(head);
  return lines.sample(!isWhole);
}

// Counts lines of text that is not yet decoded.

/** Number of line breaks (LF and CRLF) in bytes of any encoding that includes ASCII. */
export function lineBreaks(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
