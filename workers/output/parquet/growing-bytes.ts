// Bytes that are appended one after the other, in one region of the Run's memory, which moves when it grows.
import type { Heap } from '../../memory/heap.ts';

export class GrowingBytes {
  readonly #heap: Heap;
  #at = 0;
  #capacity = 0;
  length = 0;

  /** @param capacity of the region at first */
  constructor(heap: Heap, capacity: number) {
    this.#heap = heap;
    this.#capacity = capacity;
  }

  /** Address of the first byte; until something is appended. */
  get at(): number {
    return this.#at;
  }

  /** Address at which so many more bytes may be written; `length` is the caller's to raise. */
  room(bytes: number): number {
    if (this.#at === 0 || this.length + bytes > this.#capacity) this.#grow(bytes);
    return this.#at + this.length;
  }

  appendByte(byte: number): void {
    const at = this.room(1);
    this.#heap.u8[at] = byte;
    this.length++;
  }

  append(bytes: Uint8Array): void {
    const at = this.room(bytes.length);
    this.#heap.u8.set(bytes, at);
    this.length += bytes.length;
  }

  view(): Uint8Array {
    return this.#heap.u8.subarray(this.#at, this.#at + this.length);
  }

  #grow(bytes: number): void {
    let capacity = this.#capacity;
    while (capacity < this.length + bytes) capacity *= 2;
    const at = this.#heap.allocate(capacity);
    if (this.#at !== 0) {
      this.#heap.u8.copyWithin(at, this.#at, this.#at + this.length);
      this.#heap.giveBack(this.#at, this.#capacity);
    }
    this.#at = at;
    this.#capacity = capacity;
  }
}
