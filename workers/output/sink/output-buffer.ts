// The region of a Run's memory that rows are written to before they go to the sink, and the loop that fills it.
import type { Heap } from '../../memory/heap.ts';
import type { Pauses } from '../../run/slice-clock.ts';
import { DONE, PAUSE, type Slices } from '../../run/time-slices.ts';
import type { OutputSink } from './output-sink.ts';

/** Large enough that a write costs little beside its bytes, part of a Run's reservation (budget.ts). */
export const OUTPUT_BUFFER_BYTES = 524_288;

/** Of a row that is written in pieces, between two looks at the clock; a piece costs about as much as so many bytes. */
const LOOK_BYTES = 65_536;
const PIECE_BYTES = 1024;

/** One way of writing rows: by a kernel, or where a row is larger than the buffer piece by piece. */
export interface RowEmitter {
  /** Writes the rows at positions [from, to) as far as they fit into [out, limit). */
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

  /** Writes rows [0, live) of a batch: at once where there is room for all. */
  write(emitter: RowEmitter, live: number): Slices {
    const rows = live === 0 ? 0 : this.#emit(emitter, 0, live);
    return rows === live ? DONE : this.#writeRest(emitter, rows, live);
  }

  #emit(emitter: RowEmitter, from: number, to: number): number {
    const { rows, next } = emitter.emit(from, to, this.#next, this.#limit);
    this.#next = next;
    return rows;
  }

  /** Behind rows that filled the buffer. */
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

  /** Bytes that are not a row's: header, brackets. */
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
