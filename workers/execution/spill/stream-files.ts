// Files with the rows of several streams (../keys/row-streams.ts). A file has extents of bytes, each of one stream and one
// part of the Run's file, and at its end the list of these extents.
import { SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import { STREAMS } from '../../protocol/messages.ts';
import type { RowBytes } from './row-files.ts';

/** An additional stream, which has one byte for each row of the file: the number of the stream to which it was written. */
export const ROW_STREAMS = STREAMS;

/** Size of the buffer, in bytes. */
const WRITE_BYTES = 262_144;

/** Numbers in the description of an extent: part, stream, offset, size. */
const EXTENT_NUMBERS = 4;

interface Extent {
  readonly part: number;
  readonly stream: number;
  readonly file: SpillFile;
  readonly offset: number;
  readonly bytes: number;
}

/** The file that one thread writes. */
export class StreamFile {
  readonly #file: SpillFile;
  readonly #buffer = Buffer.allocUnsafe(WRITE_BYTES);
  readonly #extents: number[] = [];
  #buffered = 0;
  #sizeBytes = 0;

  constructor(folder: SpillFolder) {
    this.#file = new SpillFile(folder);
  }

  append(part: number, stream: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#extents.push(part, stream, this.#sizeBytes, bytes.length);
    this.#write(bytes);
  }

  /** Completes the file. */
  end(): void {
    this.#write(new Uint8Array(new Float64Array([...this.#extents, this.#extents.length]).buffer));
    this.#flush();
  }

  #write(bytes: Uint8Array): void {
    if (this.#buffered + bytes.length > WRITE_BYTES) this.#flush();
    if (bytes.length > WRITE_BYTES) this.#file.append(bytes);
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
    }
    this.#sizeBytes += bytes.length;
  }

  #flush(): void {
    this.#file.append(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }
}

/** The files of all threads. */
export class StreamFiles {
  readonly #parts = new Map<number, Extent[]>();

  constructor(folder: SpillFolder, names: readonly string[]) {
    for (const name of names) for (const extent of extentsOf(new SpillFile(folder, name))) this.#add(extent);
  }

  /** The bytes of a stream in the order of the parts. */
  stream(stream: number): RowBytes {
    const parts = [...this.#parts.keys()].sort((a, b) => a - b);
    return new ExtentBytes(parts.flatMap((part) => this.#extents(part, stream)));
  }

  /** The bytes of a stream in one part. */
  ofPart(part: number, stream: number): RowBytes {
    return new ExtentBytes(this.#extents(part, stream));
  }

  /** The number of its stream for each row of a part. */
  rowStreams(part: number): Uint8Array {
    const bytes = this.ofPart(part, ROW_STREAMS);
    const streams = new Uint8Array(bytes.sizeBytes);
    bytes.read(streams, 0);
    return streams;
  }

  #extents(part: number, stream: number): readonly Extent[] {
    return this.#parts.get(part)?.filter((extent) => extent.stream === stream) ?? [];
  }

  #add(extent: Extent): void {
    const known = this.#parts.get(extent.part);
    if (known === undefined) this.#parts.set(extent.part, [extent]);
    else known.push(extent);
  }
}

function extentsOf(file: SpillFile): Extent[] {
  const count = new Float64Array(1);
  file.read(new Uint8Array(count.buffer), file.sizeBytes - count.byteLength);
  const numbers = new Float64Array(count[0]!);
  file.read(new Uint8Array(numbers.buffer), file.sizeBytes - count.byteLength - numbers.byteLength);
  return Array.from({ length: numbers.length / EXTENT_NUMBERS }, (_, index): Extent => {
    const at = index * EXTENT_NUMBERS;
    return { part: numbers[at]!, stream: numbers[at + 1]!, file, offset: numbers[at + 2]!, bytes: numbers[at + 3]! };
  });
}

/** Consecutive bytes from several places. Fast if they are read in order. */
class ExtentBytes implements RowBytes {
  readonly #extents: readonly Extent[];
  readonly sizeBytes: number;
  #index = 0;
  /** Position of the first byte of the current extent. */
  #start = 0;

  constructor(extents: readonly Extent[]) {
    this.#extents = extents;
    this.sizeBytes = extents.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  read(target: Uint8Array, position: number): number {
    if (position < this.#start) {
      this.#index = 0;
      this.#start = 0;
    }
    let done = 0;
    while (done < target.length && this.#index < this.#extents.length) {
      const { file, offset, bytes } = this.#extents[this.#index]!;
      const skipped = position + done - this.#start;
      const part = Math.min(bytes - skipped, target.length - done);
      if (part > 0) done += file.read(target.subarray(done, done + part), offset + skipped);
      if (skipped + Math.max(0, part) < bytes) break;
      this.#start += bytes;
      this.#index++;
    }
    return done;
  }
}
