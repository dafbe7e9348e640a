// The region of a Run's memory that rows are written to before they go to the sink, and the loop that fills it.
import type { Heap } from '../heap.ts';
import type { OutputSink } from './output-sink.ts';

/** Large enough that a write costs little beside its bytes, part of a Run's reservation (budget.ts). */
export const OUTPUT_BUFFER_BYTES = 524_288;

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

  constructor(heap: Heap, sink: OutputSink, bytes: number = OUTPUT_BUFFER_BYTES) {
    this.#heap = heap;
    this.#sink = sink;
    this.#start = heap.allocate(bytes);
    this.#next = this.#start;
    this.#limit = this.#start + bytes;
  }

  /** Writes rows [0, live) of a batch. */
  write(emitter: RowEmitter, live: number): void {
    let position = 0;
    while (position < live) {
      const done = emitter.emit(position, live, this.#next, this.#limit);
      this.#next = done.next;
      position += done.rows;
      if (position === live) return;
      if (this.#next > this.#start) this.flush();
      else {
        for (const piece of emitter.pieces(position)) this.#sink.write(piece);
        position++;
      }
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

  flush(): void {
    if (this.#next === this.#start) return;
    this.#sink.write(this.#heap.u8.subarray(this.#start, this.#next));
    this.#next = this.#start;
  }
}
