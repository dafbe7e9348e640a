// Removes the lines that begin with the comment mark, except inside quotes. Comments are not records and do not count
// as lines or rows; only the report has their number.
import { separatorLine } from '../csv/csv-form.ts';
import { ConvertedSource } from './converted-source.ts';
import type { ByteSource } from './source.ts';

const LF = 10;
const CR = 13;
const SPACE = 0x20;

/** Maximum length of a mark in bytes. */
const MARK_BYTES_MAX = 64;

/** Bytes read at a time. */
const PIECE_BYTES = 65_536;

export interface CommentForm {
  readonly mark: string;
  /** Same as in CsvDialect. '' if there is no delimiter or quote. */
  readonly delimiter: string;
  readonly quote: string;
  /** Spaces between a delimiter and an opening quote are not part of the field. */
  readonly spaced: boolean;
}

/**
 * State of the parser before a byte: `line`, at the start of a line, whose bytes so far match the mark; in a comment,
 * or after its CR; at the start of a field; inside a field; inside quotes; after a quote that may be the closing one.
 */
type State = 'line' | 'comment' | 'comment-cr' | 'start' | 'field' | 'quoted' | 'quote';

export class UncommentedSource extends ConvertedSource {
  /** Number of lines removed so far. */
  lines = 0;
  readonly #mark: Uint8Array;
  readonly #delimiter: Uint8Array;
  /** -1 for no quote. */
  readonly #quote: number;
  readonly #spaced: boolean;
  readonly #read = new Uint8Array(PIECE_BYTES);
  readonly #made = new Uint8Array(PIECE_BYTES + MARK_BYTES_MAX);
  #length = 0;
  #state: State = 'line';
  /** Number of bytes of the mark, or of the delimiter, that the last bytes match. */
  #marked = 0;
  #delimited = 0;

  /** @param form its quote must be one byte, its mark at most MARK_BYTES_MAX bytes */
  constructor(inner: ByteSource, { mark, delimiter, quote, spaced }: CommentForm) {
    super(inner);
    this.#mark = Buffer.from(mark);
    this.#delimiter = Buffer.from(delimiter);
    this.#quote = quote === '' ? -1 : Buffer.from(quote)[0]!;
    this.#spaced = spaced;
  }

  protected get isConverted(): boolean {
    return this.inner.ended && (this.#state !== 'line' || this.#marked === 0);
  }

  protected convert(): Uint8Array | null {
    this.#length = 0;
    const bytes = this.inner.read(this.#read);
    for (let at = 0; at < bytes; at++) this.#take(this.#read[at]!);
    if (bytes === 0 && this.inner.ended) this.#putMark();
    return bytes === 0 && this.#length === 0 ? null : this.#made.subarray(0, this.#length);
  }

  #take(byte: number): void {
    if (this.#state === 'comment-cr') {
      this.#state = 'line';
      if (byte === LF) return;
    }
    if (this.#state === 'comment') {
      if (byte === LF || byte === CR) this.#state = byte === CR ? 'comment-cr' : 'line';
    } else if (this.#state !== 'line') this.#put(byte);
    else if (byte !== this.#mark[this.#marked]) {
      this.#putMark();
      this.#put(byte);
    } else if (++this.#marked === this.#mark.length) {
      this.#marked = 0;
      this.#state = 'comment';
      this.lines++;
    }
  }

  /** Writes the bytes that began like a mark but turned out not to be one. */
  #putMark(): void {
    const held = this.#marked;
    this.#marked = 0;
    this.#state = 'start';
    for (let at = 0; at < held; at++) this.#put(this.#mark[at]!);
  }

  #put(byte: number): void {
    this.#made[this.#length++] = byte;
    const state = this.#state;
    if (state === 'quoted') {
      if (byte === this.#quote) this.#state = 'quote';
    } else if (byte === this.#quote && (state === 'start' || state === 'quote')) this.#state = 'quoted';
    else if (byte === LF || byte === CR) this.#state = 'line';
    else if (state !== 'start' || byte !== SPACE || !this.#spaced) this.#state = 'field';
    if (this.#state !== 'field') this.#delimited = 0;
    else if (this.#delimiter.length > 0 && this.#endsDelimiter(byte)) this.#state = 'start';
  }

  #endsDelimiter(byte: number): boolean {
    if (byte !== this.#delimiter[this.#delimited]) this.#delimited = 0;
    if (byte === this.#delimiter[this.#delimited]) this.#delimited++;
    if (this.#delimited < this.#delimiter.length) return false;
    this.#delimited = 0;
    return true;
  }
}

/**
 * Returns the first part of a file without comments, for the detectors. Does not consider quotes, because they are not
 * known yet.
 */
export function uncommented(bytes: Uint8Array, mark: string): Uint8Array {
  return Buffer.concat([...linesOf(bytes)].filter((line) => !beginsWith(line, Buffer.from(mark))));
}

/**
 * Returns the comments before the first record of the file, without their marks and surrounding spaces.
 * @param bytes first part of the file. A last line without a line break may be cut off and is left out.
 */
export function leadingComments(bytes: Uint8Array, mark: string): readonly string[] {
  const found: string[] = [];
  const wanted = Buffer.from(mark);
  for (const line of linesOf(bytes.subarray(separatorLine(bytes)?.bytes ?? 0))) {
    const text = line.toString('utf8').trim();
    const isEnded = line.at(-1) === LF || line.at(-1) === CR;
    if (isEnded && beginsWith(line, wanted)) found.push(text.slice(mark.length).trim());
    else if (text !== '') break;
  }
  return found;
}

/** Lines with their line breaks: LF, CRLF or CR. */
function* linesOf(bytes: Uint8Array): Generator<Buffer> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let from = 0; from < text.length; ) {
    let end = from;
    while (end < text.length && text[end] !== LF && text[end] !== CR) end++;
    if (text[end] === CR && text[end + 1] === LF) end++;
    end = Math.min(end + 1, text.length);
    yield text.subarray(from, end);
    from = end;
  }
}

function beginsWith(line: Buffer, mark: Buffer): boolean {
  return line.subarray(0, mark.length).equals(mark);
}
