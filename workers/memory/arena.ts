// The part of a Run's memory that holds what one batch computes (unescaped and edited cells). Filled upwards, emptied
// by the conveyor before each batch. An operation that fills it hands on the rows it has done and goes on (see slices).
import type { Heap } from './heap.ts';
import { REGION_PADDING_BYTES } from './heap.ts';

/** Enough for the computed cells of a batch (512 KiB of input) grown twofold. */
export const ARENA_BYTES = 1_048_576;

/** Up to here a loop over the letters of ASCII is faster than the call into the runtime. */
const SHORT_TEXT_LENGTH_MAX = 32;

/** Shorter texts lie in V8's heap, which it collects in time (EXTERN_APEX of Node). */
const LONG_TEXT_BYTES = 1_031_913;

/** A longer text is measured before the arena grows for it: by three bytes a character 12 MiB would be taken for 4. */
const EXACT_LENGTH = 262_144;

/** A text, what comes of it, and what lies between, of one or two bytes a character. */
const TEXTS_OF_CELL = 4;

const ENCODER = new TextEncoder();

export class Arena {
  readonly heap: Heap;
  /** First free address. Kernels are given it and give it back. */
  next: number;
  /** First address behind the arena; REGION_PADDING_BYTES behind it are still writable. */
  limit: number;
  #start: number;
  /** What it outgrew since the last batch, whose cells may still lie there. */
  #outgrown: { readonly at: number; readonly bytes: number }[] = [];

  readonly #madeTexts: (bytes: number) => void;

  /** @param madeTexts hears of long texts that are made of its cells (see Collector) */
  constructor(heap: Heap, bytes: number = ARENA_BYTES, madeTexts: (bytes: number) => void = () => {}) {
    this.heap = heap;
    this.#madeTexts = madeTexts;
    this.#start = heap.allocate(bytes);
    this.next = this.#start;
    this.limit = this.#start + bytes;
  }

  /** Text of a cell. What is made of a long one is as long again, some times over. */
  decode(start: number, length: number): string {
    if (length > LONG_TEXT_BYTES) this.#madeTexts(length * TEXTS_OF_CELL);
    return Buffer.from(this.heap.u8.buffer, start, length).toString('utf8');
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

  /** Empties it for the next batch; what it outgrew is free for others. */
  clear(): void {
    this.next = this.#start;
    if (this.#outgrown.length === 0) return;
    for (const { at, bytes } of this.#outgrown) this.heap.giveBack(at, bytes);
    this.#outgrown = [];
  }

  /** Makes room for one row's cell that is larger than the whole arena: moves on to a larger region; what was stays where it is. */
  enlarge(bytes: number): void {
    const size = Math.max(bytes + REGION_PADDING_BYTES, this.capacityBytes * 2);
    const start = this.heap.allocate(size);
    this.#outgrown.push({ at: this.#start, bytes: this.capacityBytes });
    this.#start = start;
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

  /** Whether a text can be written, in the worst case, or, of a long one, as it is. */
  hasRoomFor(text: string): boolean {
    if (this.freeBytes >= text.length * 3) return true;
    return text.length > EXACT_LENGTH && this.freeBytes >= Buffer.byteLength(text);
  }

  /** Writes a text as UTF-8. Gives its length in bytes; its address was `next` before the call. */
  write(text: string): number {
    const worstBytes = Math.min(text.length * 3, this.freeBytes);
    if (!this.hasRoomFor(text)) {
      this.enlarge(text.length > EXACT_LENGTH ? Buffer.byteLength(text) : text.length * 3);
      return this.write(text);
    }
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
