// The first part of a file, split into records and fields under each dialect that a detector requests.
import { isAscii } from 'node:buffer';
import type { Dialect, Sample } from './sample.ts';
import type { SampleScanner } from './scan-text.ts';
import { scannedSample } from './scanned-sample.ts';
import { TextSample } from './text-sample.ts';

const LF = 10;
const CR = 13;
const SPACE = 0x20;

/** Number of lines compared: in most texts, the number of words differs from one line to the next. */
const FIRST_LINES = 3;

/** Tab to carriage return. */
const FIRST_SPACE = 9;
const LAST_SPACE = 13;

/** The samples of one file, one for each requested dialect. */
export class Samples {
  /** Valid UTF-8, except possibly at its end. */
  readonly bytes: Buffer;
  /** True if the bytes are the whole file. */
  readonly ended: boolean;
  readonly #scanner: SampleScanner | null;
  readonly #made: { readonly dialect: Dialect; readonly sample: Sample }[] = [];
  readonly #marks = new Map<string, boolean>();
  #text: string | null = null;

  /** @param scanner scanner of these bytes, or null to split texts instead */
  constructor(bytes: Uint8Array, ended: boolean, scanner: SampleScanner | null) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.ended = ended;
    this.#scanner = scanner;
  }

  get text(): string {
    this.#text ??= this.bytes.toString(isAscii(this.bytes) ? 'latin1' : 'utf8');
    return this.#text;
  }

  /** First line of the bytes. */
  get firstLine(): string {
    return this.bytes.toString('utf8', 0, lineEnd(this.bytes, 0));
  }

  /** First line that is not blank, without surrounding spaces. */
  get firstFilledLine(): string {
    const { bytes } = this;
    let start = 0;
    while (bytes[start] === SPACE || (bytes[start]! >= FIRST_SPACE && bytes[start]! <= LAST_SPACE)) start++;
    const line = bytes.toString('utf8', start, lineEnd(bytes, start)).trim();
    // The search above does not skip non-ASCII spaces.
    return line === '' ? (/[^\s][^\r\n]*/.exec(this.text)?.[0].trim() ?? '') : line;
  }

  /** True if the bytes contain the mark. */
  holds(mark: string): boolean {
    const known = this.#marks.get(mark);
    if (known !== undefined) return known;
    const found = this.bytes.includes(mark.length === 1 && mark < '\x80' ? mark.charCodeAt(0) : mark);
    this.#marks.set(mark, found);
    return found;
  }

  /** True if the first lines, non-blank and without quotes, already show that the records have different lengths. */
  differsSoon({ delimiter, quote }: Dialect): boolean {
    const { bytes } = this;
    let width = -1;
    let start = 0;
    for (let line = 0; line < FIRST_LINES; line++) {
      const end = lineEnd(bytes, start);
      if (end === bytes.length) return false;
      const text = bytes.toString('latin1', start, end);
      if (quote !== '' && text.includes(quote)) return false;
      const marks = text.split(delimiter).length;
      if (text !== '' && width >= 0 && marks !== width) return true;
      if (text !== '') width = marks;
      start = end + 1;
    }
    return false;
  }

  of(dialect: Dialect): Sample {
    const known = this.#made.find((made) => isSameDialect(made.dialect, dialect));
    if (known !== undefined) return known.sample;
    const scanned = this.#scanner === null ? null : scannedSample(this.#scanner, dialect);
    const sample = scanned ?? new TextSample(this.text, dialect, this.ended);
    this.#made.push({ dialect, sample });
    return sample;
  }
}

function lineEnd(bytes: Buffer, start: number): number {
  let end = start;
  while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
  return end;
}

function isSameDialect(one: Dialect, other: Dialect): boolean {
  const isSpaced = one.spaced === true;
  return one.delimiter === other.delimiter && one.quote === other.quote && isSpaced === (other.spaced === true);
}
