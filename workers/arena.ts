// The part of a Run's memory that holds what one batch computes (unescaped and edited cells). Filled upwards, emptied
// by the conveyor before each batch. An operation that fills it hands on the rows it has done and goes on (see slices).
import type { Heap } from './heap.ts';
import { REGION_PADDING_BYTES } from './heap.ts';

/** Enough for the computed cells of a batch (512 KiB of input) grown twofold. */
export const ARENA_BYTES = 1_048_576;

/** Up to here a loop over the letters of ASCII is faster than the call into the runtime. */
const SHORT_TEXT_LENGTH_MAX = 32;

const ENCODER = new TextEncoder();

export class Arena {
  readonly heap: Heap;
  /** First free address. Kernels are given it and give it back. */
  next: number;
  /** First address behind the arena; REGION_PADDING_BYTES behind it are still writable. */
  limit: number;
  #start: number;

  constructor(heap: Heap, bytes: number = ARENA_BYTES) {
    this.heap = heap;
    this.#start = heap.allocate(bytes);
    this.next = this.#start;
    this.limit = this.#start + bytes;
  }

  get freeBytes(): number {
    return this.limit - this.next;
  }

  get capacityBytes(): number {
    return this.limit - this.#start;
  }

  /**
   * Empty from an earlier `next` on (what lies before stays). When the arena was enlarged since, all that lies in the
   * larger region came after the mark, so that one becomes empty.
   */
  release(mark: number): void {
    this.next = mark >= this.#start && mark <= this.limit ? mark : this.#start;
  }

  clear(): void {
    this.next = this.#start;
  }

  /** Makes room for one row's cell that is larger than the whole arena: moves on to a larger region; what was stays where it is. */
  enlarge(bytes: number): void {
    const size = Math.max(bytes + REGION_PADDING_BYTES, this.capacityBytes * 2);
    this.#start = this.heap.allocate(size);
    this.next = this.#start;
    this.limit = this.#start + size;
  }

  /** Address of `bytes` fresh bytes, 8-aligned, or 0 when they do not fit. */
  tryTake(bytes: number): number {
    const address = (this.next + 7) & ~7;
    if (address + bytes > this.limit) return 0;
    this.next = address + bytes;
    return address;
  }

  /** As tryTake, enlarging the arena when needed. */
  take(bytes: number): number {
    const address = this.tryTake(bytes);
    if (address !== 0) return address;
    this.enlarge(bytes + 8);
    return this.tryTake(bytes);
  }

  /** Writes a text as UTF-8. Gives its length in bytes; its address was `next` before the call. */
  write(text: string): number {
    const worstBytes = text.length * 3;
    if (this.freeBytes < worstBytes) this.enlarge(worstBytes);
    if (text.length <= SHORT_TEXT_LENGTH_MAX && this.#writeAscii(text)) return text.length;
    const { written } = ENCODER.encodeInto(text, this.heap.u8.subarray(this.next, this.next + worstBytes));
    this.next += written;
    return written;
  }

  #writeAscii(text: string): boolean {
    const { u8 } = this.heap;
    const { length } = text;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) return false;
      u8[this.next + index] = code;
    }
    this.next += length;
    return true;
  }
}
