// The interface between writers and the storage of their bytes, the memory in which rows are written first, and other
// encodings than UTF-8.

import { StringDecoder } from 'node:string_decoder';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import { DONE, PAUSE, type Pauses, type Slices } from '../../scheduling/time-slices.ts';

// Interface between writers and the storage of their bytes: memory, a file, or an encoder in front of one of them.

/** Receives the bytes of an output in order. Throws Failed (RUN_RESOURCE_LIMIT) above the limit or on a full disk. */
export interface OutputSink {
  /** Copies or writes the bytes before it returns. */
  write(bytes: Uint8Array): void;
  readonly sizeBytes: number;
  /** Announces the exact size of what is left of the output of a part, so that it can be written without a copy. */
  announceRest?(bytes: number): void;
}

/** A finished output. */
export interface FinishedOutput {
  /** The whole output if it stayed in memory, otherwise null. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly sizeBytes: number;
  /** In hexadecimal; null unless requested. */
  readonly sha256: string | null;
}

/** A sink that stores its bytes. */
export interface StoredSink extends OutputSink {
  /** Ends the output. Its file, if any, is complete and closed. Throws like `write`. */
  finish(): FinishedOutput;
  /** Discards an unfinished output: nothing remains. Has no effect when called again or after `finish`. */
  abandon(): void;
}

// The region of a Run's memory in which rows are written before they go to the sink, and the loop that fills it.

/** Large enough that the fixed cost of a write is negligible. Part of a Run's reservation (budget.ts). */
export const OUTPUT_BUFFER_BYTES = 524_288;

/** Bytes of a row written in pieces between two checks of the clock, and bytes added per piece for its fixed cost. */
const LOOK_BYTES = 65_536;
const PIECE_BYTES = 1024;

/** A way of writing rows: by a kernel or, for a row larger than the buffer, piece by piece. */
export interface RowEmitter {
  /** Writes the rows at positions [from, to) into [out, limit), as far as they fit. */
  emit(from: number, to: number, out: number, limit: number): { readonly rows: number; readonly next: number };
  /** The bytes of one row in pieces. */
  pieces(position: number): Iterable<Uint8Array>;
}

export class OutputBuffer {
  #heap: Heap;
  #sink: OutputSink;
  #start: number;
  #next: number;
  #limit: number;
  #clock: Pauses;

  constructor(heap: Heap, sink: OutputSink, clock: Pauses, bytes: number = OUTPUT_BUFFER_BYTES) {
    this.#heap = heap;
    this.#clock = clock;
    this.#sink = sink;
    this.#start = heap.allocate(bytes);
    this.#next = this.#start;
    this.#limit = this.#start + bytes;
  }

  /** Writes rows [0, live) of a batch. Completes without pauses if all rows fit. */
  write(emitter: RowEmitter, live: number): Slices {
    const rows = live === 0 ? 0 : this.#emit(emitter, 0, live);
    return rows === live ? DONE : this.#writeRest(emitter, rows, live);
  }

  #emit(emitter: RowEmitter, from: number, to: number): number {
    const { rows, next } = emitter.emit(from, to, this.#next, this.#limit);
    this.#next = next;
    return rows;
  }

  /** Writes the rows after the buffer was full. */
  *#writeRest(emitter: RowEmitter, from: number, live: number): Slices {
    for (let position = from; position < live; ) {
      if (this.#next > this.#start) this.flush();
      else {
        yield* this.#writePieces(emitter, position);
        position++;
      }
      if (this.#clock.isDue()) yield PAUSE;
      if (position < live) position += this.#emit(emitter, position, live);
    }
  }

  /** Writes bytes that do not belong to a row: header, brackets. */
  writeBytes(bytes: Uint8Array): void {
    if (bytes.length <= this.#limit - this.#next) {
      this.#heap.u8.set(bytes, this.#next);
      this.#next += bytes.length;
      return;
    }
    this.flush();
    this.#sink.write(bytes);
  }

  /** See OutputSink. */
  announceRest(bytes: number): void {
    this.flush();
    this.#sink.announceRest?.(bytes);
  }

  /** Writes many bytes without copying them to the buffer. */
  writeThrough(bytes: Uint8Array): void {
    this.flush();
    this.#sink.write(bytes);
  }

  *#writePieces(emitter: RowEmitter, position: number): Slices {
    let bytes = 0;
    for (const piece of emitter.pieces(position)) {
      this.#sink.write(piece);
      bytes += piece.length + PIECE_BYTES;
      if (bytes < LOOK_BYTES) continue;
      bytes = 0;
      if (this.#clock.isDue()) yield PAUSE;
    }
  }

  flush(): void {
    if (this.#next === this.#start) return;
    this.#sink.write(this.#heap.u8.subarray(this.#start, this.#next));
    this.#next = this.#start;
  }
}

// Converts the UTF-8 of a writer to the encoding that the Template requests, before it reaches the sink.

/** Encoding settings. */
export interface Encoding {
  /** A name of `outputEncodings`. */
  readonly encoding: string;
  readonly bom: boolean;
  readonly unmappable: 'fail' | 'replace';
}

type Encode = (text: string) => Uint8Array;

/** Byte for characters that an encoding lacks (`unmappable: replace`): a question mark. */
const REPLACEMENT = 0x3f;

const UTF_8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Characters of the bytes 0x80 to 0x9F in windows-1252 (WHATWG Encoding). Not read from the runtime, whose table has
 * been wrong before.
 */
const WINDOWS_1252_HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Single-byte encodings that the runtime can decode. Their tables are made by decoding every byte. */
const SINGLE_BYTE = [
  ...['iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'iso-8859-10'],
  ...['iso-8859-13', 'iso-8859-14', 'iso-8859-15', 'koi8-r', 'koi8-u', 'macintosh', 'ibm866'],
  ...['windows-874', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
  ...['windows-1257', 'windows-1258'],
];

/**
 * Encodings in which CSV and TSV can be written; the check of a Template refuses others. iso-8859-1 and us-ascii have
 * their literal meaning here (browsers treat both as windows-1252).
 */
export const outputEncodings: readonly string[] = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'us-ascii', 'iso-8859-1', 'windows-1252'],
  ...SINGLE_BYTE,
];

/** Aliases of the encodings, in lower case. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ...(['utf8', 'unicode-1-1-utf-8'] as const).map((name) => [name, 'utf-8'] as const),
  ...(['utf-16', 'utf16', 'utf16le', 'ucs-2'] as const).map((name) => [name, 'utf-16le'] as const),
  ...(['ascii'] as const).map((name) => [name, 'us-ascii'] as const),
  ...(['latin1', 'latin-1', 'iso8859-1', 'iso_8859-1', 'l1'] as const).map((name) => [name, 'iso-8859-1'] as const),
  ...(['cp1252', 'windows1252', 'ansi'] as const).map((name) => [name, 'windows-1252'] as const),
  ...(['cp1250', 'cp1251', 'cp1253', 'cp1254', 'cp1257'] as const).map(
    (name) => [name, `windows-${name.slice(2)}`] as const,
  ),
  ...(['latin2', 'latin-2'] as const).map((name) => [name, 'iso-8859-2'] as const),
  ...(['latin9', 'latin-9'] as const).map((name) => [name, 'iso-8859-15'] as const),
]);

/** The name in `outputEncodings` for a name in a Template, or null. */
export function outputEncoding(name: string): string | null {
  const lower = name.toLowerCase();
  const known = ALIASES.get(lower) ?? lower;
  return outputEncodings.includes(known) ? known : null;
}

/** Tracks the position in the output, for the message about a character that the encoding lacks. */
export interface TextPosition {
  /** For each ASCII unit, 1 if `pass` must be called for it. */
  readonly marks: Uint8Array;
  pass(unit: number): void;
  text(showsNames: boolean): string;
}

/** A sink that encodes. Writes the byte order mark first if it is requested. */
export function encodedSink(
  sink: OutputSink,
  { encoding: name, bom, unmappable }: Encoding,
  position: TextPosition,
): OutputSink {
  const encoding = outputEncoding(name);
  if (encoding === null) throw new Error('the encoding was not checked');
  if (encoding === 'utf-8') {
    if (bom) sink.write(UTF_8_MARK);
    return sink;
  }
  const encode = encoder(encoding, unmappable === 'fail' ? position : null);
  // Single-byte encodings have no byte order mark.
  if (bom && encoding.startsWith('utf-16')) sink.write(encode(BYTE_ORDER_MARK));
  const decoder = new StringDecoder('utf8');
  return {
    write(bytes) {
      sink.write(encode(decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))));
    },
    get sizeBytes() {
      return sink.sizeBytes;
    },
  };
}

/** @param position null: characters that the encoding lacks are replaced */
function encoder(encoding: string, position: TextPosition | null): Encode {
  if (encoding === 'utf-16le') return (text) => Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return (text) => Buffer.from(text, 'utf16le').swap16();
  const bytes = byteTable(encoding);
  return (text) => {
    const out = Buffer.allocUnsafe(text.length);
    let length = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const byte = unit < 0x80 ? unit : bytes.get(unit);
      if (position !== null && (unit >= 0x80 || position.marks[unit] === 1)) position.pass(unit);
      if (byte !== undefined) out[length++] = byte;
      else {
        if (position !== null) throw unmappableCharacter(encoding, position);
        out[length++] = REPLACEMENT;
        // A surrogate pair is one character, so it gets one replacement.
        if (unit >= 0xd800 && unit < 0xdc00) at++;
      }
    }
    return out.subarray(0, length);
  };
}

/** Bytes 0x80 to 0xFF by character. */
function byteTable(encoding: string): Map<number, number> {
  const table = new Map<number, number>();
  if (encoding === 'us-ascii') return table;
  const decoder = SINGLE_BYTE.includes(encoding) ? new TextDecoder(encoding) : null;
  for (let byte = 0x80; byte < 0x100; byte++) {
    let character = byte;
    if (decoder !== null) character = decoder.decode(Uint8Array.of(byte)).charCodeAt(0);
    else if (encoding === 'windows-1252' && byte < 0xa0) character = WINDOWS_1252_HIGH.charCodeAt(byte - 0x80);
    if (character !== 0xfffd && !table.has(character)) table.set(character, byte);
  }
  return table;
}

/** TEMPLATE_CHECK_FAILED, because `unmappable: fail` is a check of the result that the Template requests. */
function unmappableCharacter(encoding: string, position: TextPosition): Failed {
  const message = (showsNames: boolean): string =>
    `${encoding} lacks a character in ${position.text(showsNames)} (output.csv.unmappable: fail). Write utf-8, or set ` +
    'unmappable to replace.';
  return new Failed('TEMPLATE_CHECK_FAILED', message(false), { localMessage: message(true) });
}
