// The interface between writers and the storage of their bytes, and the memory in which rows are written first.
import type { Heap } from '../../memory/heap.ts';
import { DONE, PAUSE, type Pauses, type Slices } from '../../scheduling/time-slices.ts';

// Interface between writers and the storage of their bytes: memory, a file, or an encoder in front of one of them.

/** Receives the bytes of an output in order. Throws Failed (RUN_RESOURCE_LIMIT) above the limit or on a full disk. */
export interface OutputSink {
  /** Copies or writes the bytes before it returns. */
  write(bytes: Uint8Array): void;
  readonly sizeBytes: number;
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
