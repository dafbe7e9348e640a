// Reads multipart/form-data (RFC 7578) as it arrives with busboy (its only importer) and keeps the form's rules: one file,
// few parts, short parameters, a last boundary. It does not judge what parameters say. The middle of a long file, where
// busboy holds nothing back, goes past it: a search finds where the next boundary may begin, and busboy says if it does.
// States: reading → broken (told once, the rest is ignored) or whole (the last boundary was seen and the body ended).
import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';
import { simpleForm } from './simple-form.ts';

/** A form has at most this many parts. */
export const PARTS_MAX = 64;

/** Longest parameter, in bytes: one character or ten digits, with room for whoever pads. */
const PARAMETER_BYTES_MAX = 64;

/**
 * The most that is kept of a part without a file name, in bytes. With a longer one the form counts as a whole, with its
 * boundaries and headers: busboy does not say how long the part was.
 */
const FIELD_BYTES_MAX = 64 * 1024;

/** Limits are one higher than the rule: busboy reports what reaches a limit exactly as if it were beyond. */
const LIMITS = { parts: PARTS_MAX + 1, fieldSize: FIELD_BYTES_MAX + 1 };

/** What busboy is given at once, in bytes. A file's first bytes and those at a boundary take this way. */
const PIECE_BYTES = 16 * 1024;

/** Buffers of busboy's streams: more than a piece, so that nothing waits in between. */
const STREAM_BYTES = 4 * PIECE_BYTES;

const PARAMETER_NAMES = ['delimiter', 'header_row'] as const;
export type ParameterName = (typeof PARAMETER_NAMES)[number];

export interface FormSink {
  /** The file part begins; its name's ending in lower case without the dot, '' = none. The name goes no further. */
  fileStarted(ending: string): void;
  /** The bytes are a view, valid during the call. */
  fileBytes(bytes: Buffer): void;
  /** So many bytes of a part that nobody reads. */
  otherBytes(count: number): void;
  /** null: longer than a parameter may be. Undecodable bytes are U+FFFD. */
  parameter(name: ParameterName, value: string | null): void;
  /** Called once, and nothing after it. */
  broken(message: string): void;
  /** The form is complete. Of a simple one told within `end`. */
  whole(): void;
}

/** The boundary of a multipart/form-data Content-Type, null when it is another type or has none (they are ASCII). */
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
  /** null: nothing has come yet, or the form was simple and is read. */
  #parser: Writable | null = null;
  #isSimple = false;
  #over = false;
  #fileSeen = false;
  /** Busboy is inside the file and holds nothing back: what comes next is the file's up to a delimiter. */
  #inFile = false;
  #written: Buffer = NOTHING;
  /** What has not been told to the sink, in bytes: boundaries, headers, and parts that are unsized. */
  #uncountedBytes = 0;
  /** There was a part that nobody reads and of which busboy does not tell how long it was. */
  #unsized = false;

  constructor(boundary: string, sink: FormSink) {
    this.#sink = sink;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#boundary = boundary;
  }

  /** Keeps nothing of the bytes but copies. */
  write(bytes: Buffer): void {
    if (this.#over || this.#isSimple) return;
    if (this.#parser === null && this.#readPlain(bytes)) return;
    this.#parser ??= this.#newParser(this.#boundary);
    let rest = bytes;
    this.#uncountedBytes += bytes.length;
    while (rest.length > 0 && !this.#over) {
      if (this.#inFile) {
        const length = this.#contentLength(rest);
        if (length > 0) this.#fileBytes(rest.subarray(0, length));
        rest = rest.subarray(length);
        this.#inFile = rest.length === 0;
      } else {
        this.#written = Buffer.from(rest.subarray(0, PIECE_BYTES));
        rest = rest.subarray(PIECE_BYTES);
        this.#parser.write(this.#written);
      }
    }
  }

  /** The body has ended. */
  end(): void {
    if (this.#over) return;
    if (this.#isSimple) {
      this.#close();
      return;
    }
    this.#parser ??= this.#newParser(this.#boundary);
    this.#parser.end();
  }

  /** Forgets the form; nothing is called any more. */
  abandon(): void {
    this.#over = true;
    this.#parser?.destroy();
  }

  /** A form in one piece with nothing but the file, as nearly all are, needs no parser. */
  #readPlain(bytes: Buffer): boolean {
    const simple = simpleForm(bytes, this.#delimiter);
    if (simple === null) return false;
    this.#isSimple = true;
    this.#fileSeen = true;
    this.#sink.fileStarted(endingOf(simple.fileName));
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
      // An unfinished form ends its streams with an error too; the parser tells it as well.
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
    this.#sink.fileStarted(endingOf(fileName));
    stream.on('data', (bytes: Buffer) => {
      if (this.#over) return;
      // Pieces are views of what was written, but for what busboy had held back.
      const { buffer, byteOffset, length } = this.#written;
      this.#inFile = bytes.buffer === buffer && bytes.byteOffset + bytes.length === byteOffset + length;
      this.#fileBytes(bytes);
    });
    // A stream that was never read hands its first bytes on later, and not while they are written.
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

  /** How many of these bytes are the file's for certain: those before whatever may be the beginning of a delimiter. */
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
