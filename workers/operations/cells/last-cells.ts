// The last value of one column in each group, kept from batch to batch.
import type { Heap } from '../../heap.ts';

/** Bytes for the first value of a group: most values fit, and the next ones are written over it. */
const VALUE_BYTES_FIRST = 16;

/** Length of a text that was forgotten: its room is kept for the next one. */
const FORGOTTEN = 0xffffffff;

/** Values lie in blocks of this size, larger ones alone. */
const BLOCK_BYTES = 65_536;

/** A typed value: its 8 bytes, its meta byte, and its digits when it is a decimal beyond 64 bits. */
export interface LastValue {
  readonly bits: bigint;
  readonly meta: number;
  readonly big: { readonly unscaled: bigint; readonly scale: number } | null;
}

export class LastCells {
  readonly #heap: Heap;
  /** u32 per group: address, length, room. */
  #entries = 0;
  #groupsMax = 0;
  #next = 0;
  #limit = 0;
  readonly #values: LastValue[] = [];

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Address and length of a group's last text, address 0 when it has none. */
  text(group: number): [start: number, length: number] {
    if (group >= this.#groupsMax) return [0, 0];
    const at = (this.#entries >>> 2) + group * 3;
    const length = this.#heap.u32[at + 1]!;
    return length === FORGOTTEN ? [0, 0] : [this.#heap.u32[at]!, length];
  }

  keepText(group: number, start: number, length: number): void {
    if (group >= this.#groupsMax) this.#growEntries(group);
    const at = (this.#entries >>> 2) + group * 3;
    if (this.#heap.u32[at + 2]! < length) this.#moveEntry(at, length);
    const { u8, u32 } = this.#heap;
    u8.copyWithin(u32[at]!, start, start + length);
    u32[at + 1] = length;
  }

  forgetText(group: number): void {
    if (group < this.#groupsMax) this.#heap.u32[(this.#entries >>> 2) + group * 3 + 1] = FORGOTTEN;
  }

  value(group: number): LastValue | undefined {
    return this.#values[group];
  }

  keepValue(group: number, value: LastValue): void {
    this.#values[group] = value;
  }

  forgetValue(group: number): void {
    delete this.#values[group];
  }

  #growEntries(group: number): void {
    const groupsMax = Math.max(64, this.#groupsMax * 2, group + 1);
    const entries = this.#heap.allocate(groupsMax * 12);
    const { u8 } = this.#heap;
    u8.fill(0, entries, entries + groupsMax * 12);
    u8.copyWithin(entries, this.#entries, this.#entries + this.#groupsMax * 12);
    this.#entries = entries;
    this.#groupsMax = groupsMax;
  }

  #moveEntry(at: number, length: number): void {
    const room = Math.max(VALUE_BYTES_FIRST, Math.ceil(length / 16) * 16);
    if (this.#next + room > this.#limit) {
      const bytes = Math.max(BLOCK_BYTES, room);
      this.#next = this.#heap.allocate(bytes);
      this.#limit = this.#next + bytes;
    }
    this.#heap.u32[at] = this.#next;
    this.#heap.u32[at + 2] = room;
    this.#next += room;
  }
}
