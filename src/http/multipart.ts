// Parses multipart/form-data (RFC 7578) as it arrives, with busboy (its only importer), and enforces the rules of the
// form: one file, few parts, short parameters, a final boundary. Does not interpret the values of parameters. The
// middle of a long file, where busboy holds nothing back, bypasses busboy: a search finds where the next boundary may
// begin, and busboy decides whether it is one. States: reading → broken (reported once, the rest is ignored) or whole
// (the final boundary was found and the body has ended).
import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';

/** Maximum number of parts in a form. */
export const PARTS_MAX = 64;

/** Maximum length of a parameter in bytes: one character or ten digits, with space for padding. */
const PARAMETER_BYTES_MAX = 64;

/**
 * Maximum number of bytes kept of a part without a file name. If a part is longer, the whole form including boundaries
 * and headers is counted instead, because busboy does not report the length of the part.
 */
const FIELD_BYTES_MAX = 64 * 1024;

/**
 * Limits are one higher than the rules, because busboy reports a part that reaches a limit exactly like one that
 * exceeds it.
 */
const LIMITS = { parts: PARTS_MAX + 1, fieldSize: FIELD_BYTES_MAX + 1 };

/**
 * Number of bytes passed to busboy at once. Only the first bytes of a file and those near a boundary go through busboy.
 */
const PIECE_BYTES = 16 * 1024;

/** Buffer size of busboy's streams: larger than a piece, so that nothing waits in between. */
const STREAM_BYTES = 4 * PIECE_BYTES;

const PARAMETER_NAMES = ['delimiter', 'header_row'] as const;
export type ParameterName = (typeof PARAMETER_NAMES)[number];

export interface FormSink {
  /**
   * Called at the beginning of the file part with the file name extension, in lower case without the dot, or ''. The
   * rest of the name is dropped.
   */
  fileStarted(ending: string, fileName: string): void;
  /** The bytes are a view that is valid during the call. */
  fileBytes(bytes: Buffer): void;
  /** Reports the length of parts that are not used. */
  otherBytes(count: number): void;
  /** null for a value that is too long for a parameter. Invalid bytes become U+FFFD. */
  parameter(name: ParameterName, value: string | null): void;
  /** Called at most once, and last. */
  broken(message: string): void;
  /** The form is complete. For a simple form, called within `end`. */
  whole(): void;
}

/**
 * Returns the ASCII boundary of a multipart/form-data Content-Type, or null for any other type or without a boundary.
 */
export function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/form-data[ \t]*;/i.test(contentType)) return null;
  const [, quoted, plain] =
    /;[ \t]*boundary=(?:"([ !#-~]{1,200})"|([!#-:<-~]{1,200}))[ \t]*(?:;|$)/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

const CR = 13;
const NOTHING = Buffer.alloc(0);

export class FormReader {
  #sink: FormSink;
  /** Line end, two dashes, boundary. */
  #delimiter: Buffer;
  #boundary: string;
  /** null for a simple form, which contains no padding. */
  #boundaries: BoundaryFilter | null = null;
  /** null before the first byte, or for a simple form that has been read. */
  #parser: Writable | null = null;
  #isSimple = false;
  #over = false;
  #fileSeen = false;
  /**
   * True if busboy is inside the file and holds nothing back, so that the following bytes up to a delimiter belong to
   * the file.
   */
  #inFile = false;
  #written: Buffer = NOTHING;
  /** Number of bytes not yet reported to the sink: boundaries, headers, and parts of unknown length. */
  #uncountedBytes = 0;
  /** True if there was an unused part whose length busboy does not report. */
  #unsized = false;

  constructor(boundary: string, sink: FormSink) {
    this.#sink = sink;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#boundary = boundary;
  }

  /** Keeps only copies of the bytes. */
  write(bytes: Buffer): void {
    if (this.#over || this.#isSimple) return;
    if (this.#parser === null && this.#readPlain(bytes)) return;
    this.#parser ??= this.#newParser(this.#boundary);
    this.#boundaries ??= new BoundaryFilter(this.#delimiter);
    let rest = bytes;
    this.#uncountedBytes += bytes.length;
    while (rest.length > 0 && !this.#over) {
      if (this.#inFile) {
        const length = this.#contentLength(rest);
        if (length > 0) this.#fileBytes(rest.subarray(0, length));
        rest = rest.subarray(length);
        this.#inFile = rest.length === 0;
        this.#boundaries.skipped();
      } else {
        this.#written = Buffer.from(this.#boundaries.pass(rest.subarray(0, PIECE_BYTES)));
        rest = rest.subarray(PIECE_BYTES);
        if (this.#written.length > 0) this.#parser.write(this.#written);
      }
    }
  }

  /** Called at the end of the body. */
  end(): void {
    if (this.#over) return;
    if (this.#isSimple) {
      this.#close();
      return;
    }
    this.#parser ??= this.#newParser(this.#boundary);
    this.#parser.end();
  }

  /** Drops the form. The sink is not called any more. */
  abandon(): void {
    this.#over = true;
    this.#parser?.destroy();
  }

  /** A form that arrives in one piece and contains only the file needs no parser. Nearly all forms are of this kind. */
  #readPlain(bytes: Buffer): boolean {
    const simple = simpleForm(bytes, this.#delimiter);
    if (simple === null) return false;
    this.#isSimple = true;
    this.#fileSeen = true;
    this.#sink.fileStarted(endingOf(simple.fileName), simple.fileName);
    if (simple.end > simple.start) this.#sink.fileBytes(bytes.subarray(simple.start, simple.end));
    return true;
  }

  #newParser(boundary: string): Writable {
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary.replace(/\\/g, '\\\\')}"` },
      limits: LIMITS,
      defParamCharset: 'utf8',
      highWaterMark: STREAM_BYTES,
      fileHwm: STREAM_BYTES,
    });
    parser.on('file', (name: string | undefined, stream: Readable, { filename }: { filename?: string }) => {
      // In an incomplete form, its streams fail in addition to the parser.
      stream.on('error', (error) => this.#malformed(error));
      if (this.#over) stream.resume();
      else if (name === 'file') this.#readFile(stream, filename ?? '');
      else if (isParameter(name)) this.#readParameter(name, stream);
      else stream.on('data', (bytes: Buffer) => this.#count(bytes.length));
    });
    parser.on('field', (name: string | undefined, value: string | undefined) => this.#field(name, value ?? '\uFFFD'));
    parser.on('partsLimit', () => this.#break(`The form has more than ${PARTS_MAX} parts.`));
    parser.on('error', (error) => this.#malformed(error));
    parser.on('close', () => this.#close());
    return parser;
  }

  #readFile(stream: Readable, fileName: string): void {
    if (this.#fileSeen) {
      this.#break('The form has more than one part named "file".');
      return;
    }
    this.#fileSeen = true;
    this.#sink.fileStarted(endingOf(fileName), fileName);
    stream.on('data', (bytes: Buffer) => {
      if (this.#over) return;
      // Pieces are views of the written bytes, except for bytes that busboy has held back.
      const { buffer, byteOffset, length } = this.#written;
      this.#inFile = bytes.buffer === buffer && bytes.byteOffset + bytes.length === byteOffset + length;
      this.#fileBytes(bytes);
    });
    // A stream that has not been read emits its first bytes later, instead of during the write.
    stream.read(0);
  }

  #readParameter(name: ParameterName, stream: Readable): void {
    let value = Buffer.alloc(0);
    stream.on('data', (bytes: Buffer) => {
      if (value.length <= PARAMETER_BYTES_MAX) value = Buffer.concat([value, bytes]);
    });
    stream.on('end', () => {
      if (!this.#over) this.#sink.parameter(name, value.length > PARAMETER_BYTES_MAX ? null : value.toString('utf8'));
    });
  }

  #field(name: string | undefined, value: string): void {
    if (this.#over) return;
    const length = Buffer.byteLength(value);
    if (name === 'file') this.#break('The part named "file" must be sent as a file, with a file name.');
    else if (isParameter(name)) this.#sink.parameter(name, length > PARAMETER_BYTES_MAX ? null : value);
    else if (length > FIELD_BYTES_MAX || value.includes('\uFFFD')) this.#unsized = true;
    else this.#count(length);
  }

  #fileBytes(bytes: Buffer): void {
    this.#uncountedBytes -= bytes.length;
    this.#sink.fileBytes(bytes);
  }

  #count(bytes: number): void {
    if (this.#over || bytes <= 0) return;
    this.#uncountedBytes -= bytes;
    this.#sink.otherBytes(bytes);
  }

  /** Returns how many of these bytes certainly belong to the file: those before a possible start of a delimiter. */
  #contentLength(bytes: Buffer): number {
    const whole = bytes.indexOf(this.#delimiter);
    if (whole >= 0) return whole;
    let at = bytes.indexOf(CR, Math.max(0, bytes.length - this.#delimiter.length + 1));
    while (at >= 0) {
      const length = bytes.length - at;
      if (this.#delimiter.compare(bytes, at, bytes.length, 0, length) === 0) return at;
      at = bytes.indexOf(CR, at + 1);
    }
    return bytes.length;
  }

  #malformed(error: unknown): void {
    const inHeaders = error instanceof Error && error.message === 'Malformed part header';
    this.#break(
      inHeaders
        ? 'A part of the form has malformed headers.'
        : 'The form is malformed or ends before its last boundary.',
    );
  }

  #close(): void {
    if (this.#over) return;
    if (!this.#fileSeen) this.#break('The form has no part named "file".');
    else if (this.#unsized) this.#count(this.#uncountedBytes);
    if (this.#over) return;
    this.#over = true;
    this.#sink.whole();
  }

  #break(message: string): void {
    if (this.#over) return;
    this.abandon();
    this.#sink.broken(message);
  }
}

function endingOf(fileName: string): string {
  return /\.([A-Za-z0-9]{1,16})$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
}

function isParameter(name: string | undefined): name is ParameterName {
  return PARAMETER_NAMES.includes(name as ParameterName);
}

// Removes from a body what the form parser does not support: the white space that a client may put after a boundary
// (transport padding, RFC 2046, 5.1.1), and everything after the final boundary (the epilogue, which must be ignored). A
// boundary in the epilogue would begin a part that the parser never ends.
//
// Processes the body in pieces and holds back at most the padding itself. States: searching (for a boundary) → after a
// boundary (white space is held back) → after a dash → over (two dashes: the final boundary), or searching again. If
// anything except white space or a line end follows a boundary, it is content, and so is the white space before it.

/**
 * Maximum white space after one boundary, in bytes. More counts as content, which limits the memory that a body can
 * occupy.
 */
const PADDING_BYTES_MAX = 1_024;

/** Two of these after a boundary make it the final one. */
const DASH = 45;

const SPACE = 32;
const TAB = 9;

export class BoundaryFilter {
  readonly #delimiter: Buffer;
  /** The last bytes passed on, shorter than a delimiter, because the next piece may complete a delimiter. */
  #tail: Buffer;
  /** White space after a boundary. null if no boundary has just been passed on. */
  #padding: Buffer | null = null;
  /** True if a boundary and one dash have just been passed on. */
  #isAfterDash = false;
  /** True if the final boundary has been passed on. */
  #isOver = false;

  /** @param delimiter line end, two dashes, boundary */
  constructor(delimiter: Buffer) {
    this.#delimiter = delimiter;
    // The first boundary has no line end before it.
    this.#tail = Buffer.from('\r\n');
  }

  /** Returns the part of the next piece to pass on: the piece itself if nothing is removed or held back. */
  pass(piece: Buffer): Buffer {
    const out: Buffer[] = [];
    let rest = piece;
    while (rest.length > 0 && !this.#isOver) {
      if (this.#isAfterDash) rest = this.#readSecondDash(rest, out);
      else rest = this.#padding === null ? this.#search(rest, out) : this.#skipPadding(rest, out);
    }
    return out.length === 1 ? out[0]! : Buffer.concat(out);
  }

  /** Called after bytes without a boundary have bypassed this object. */
  skipped(): void {
    this.#tail = NOTHING;
  }

  /** Passes on everything up to the end of the next boundary. Returns the rest. */
  #search(bytes: Buffer, out: Buffer[]): Buffer {
    const tail = this.#tail;
    const joined = tail.length === 0 ? bytes : Buffer.concat([tail, bytes]);
    const at = joined.indexOf(this.#delimiter);
    if (at < 0) {
      this.#tail = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#delimiter.length + 1)));
      out.push(bytes);
      return NOTHING;
    }
    const end = at + this.#delimiter.length - tail.length;
    out.push(bytes.subarray(0, end));
    this.#tail = NOTHING;
    this.#padding = NOTHING;
    return bytes.subarray(end);
  }

  #skipPadding(bytes: Buffer, out: Buffer[]): Buffer {
    const held = this.#padding ?? NOTHING;
    let length = 0;
    while (length < bytes.length && (bytes[length] === SPACE || bytes[length] === TAB)) length++;
    const padding = length === 0 ? held : Buffer.concat([held, bytes.subarray(0, length)]);
    if (length === bytes.length && padding.length <= PADDING_BYTES_MAX) {
      this.#padding = padding;
      return NOTHING;
    }
    this.#padding = null;
    if (padding.length === 0 && bytes[0] === DASH) {
      this.#isAfterDash = true;
      out.push(bytes.subarray(0, 1));
      return bytes.subarray(1);
    }
    const isBoundary = bytes[length] === CR && padding.length <= PADDING_BYTES_MAX;
    if (!isBoundary && padding.length > 0) out.push(padding);
    return bytes.subarray(length);
  }

  #readSecondDash(bytes: Buffer, out: Buffer[]): Buffer {
    this.#isAfterDash = false;
    if (bytes[0] !== DASH) return bytes;
    this.#isOver = true;
    out.push(bytes.subarray(0, 1));
    return NOTHING;
  }
}

// Recognises the most frequent form without a parser: it arrives in one piece and contains only the file, with ordinary
// headers. Anything that differs by a single character is left to the parser.

/** Position of the file in a simple form. */
export interface SimpleForm {
  readonly fileName: string;
  /** Range of the file's bytes. */
  readonly start: number;
  readonly end: number;
}

/** Headers of the part. The name must not contain anything that could be a path, a quotation or an encoding. */
const HEADERS =
  /^Content-Disposition: form-data; name="file"; filename="([A-Za-z0-9_. -]{1,128})"(?:\r\nContent-Type: [A-Za-z0-9]+\/[A-Za-z0-9.+-]+)?$/;

/** Maximum length of the headers that match HEADERS, in bytes. */
const HEADER_BYTES_MAX = 512;

const LF = 10;

/**
 * @param bytes first bytes of a body
 * @param delimiter line end, two dashes, boundary
 * @returns null unless the form is simple and complete; bytes after its final boundary are ignored
 */
export function simpleForm(bytes: Buffer, delimiter: Buffer): SimpleForm | null {
  // The first boundary has no line end before it.
  const opening = delimiter.length - 2;
  if (bytes.length < opening || bytes.compare(delimiter, 2, delimiter.length, 0, opening) !== 0) return null;
  if (bytes[opening] !== CR || bytes[opening + 1] !== LF) return null;
  const headersEnd = bytes.indexOf('\r\n\r\n', opening + 2, 'latin1');
  if (headersEnd < 0 || headersEnd - opening > HEADER_BYTES_MAX) return null;
  const headers = HEADERS.exec(bytes.toString('latin1', opening + 2, headersEnd));
  if (headers === null) return null;
  const start = headersEnd + '\r\n\r\n'.length;
  // A boundary must not share its line end with the preceding one: this would not be the end of the file.
  const end = bytes.indexOf(delimiter, opening);
  const closing = end + delimiter.length;
  if (end < start || bytes[closing] !== DASH || bytes[closing + 1] !== DASH) return null;
  return { fileName: headers[1]!, start, end };
}
