// The last value of one column in each group, kept from batch to batch in the Run's memory. It asks the budget for room;
// what one batch needs it takes all the same, and says that it is full.
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Heap } from '../../memory/heap.ts';

/** Bytes for the first value of a group: most values fit, and the next ones are written over it. */
const VALUE_BYTES_FIRST = 16;

/** Length of a text that was forgotten: its room is kept for the next one. */
const FORGOTTEN = 0xffffffff;

/** Values lie in blocks of this size, larger ones alone. */
const BLOCK_BYTES = 65_536;

/** Entries are taken for so many groups at once: 48 KiB. */
const GROUPS_AT_ONCE = 4096;
const ENTRY_BYTES = 12;

/** A typed value takes its 8 bytes and its meta byte, then the digits of one beyond 64 bits. */
const TYPED_BYTES = 9;

/** A typed value: its 8 bytes, its meta byte, and its digits when it is a decimal beyond 64 bits. */
export interface LastValue {
  readonly bits: bigint;
  readonly meta: number;
  readonly big: { readonly unscaled: bigint; readonly scale: number } | null;
}

export class LastCells {
  readonly #heap: Heap;
  /** Addresses of entries, u32 per group: address, length, room. */
  readonly #entries: number[] = [];
  #next = 0;
  #limit = 0;
  #full = false;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** True since the budget refused more room. */
  get full(): boolean {
    return this.#full;
  }

  /** Address and length of a group's last text, address 0 when it has none. */
  text(group: number): [start: number, length: number] {
    if (group >= this.#entries.length * GROUPS_AT_ONCE) return [0, 0];
    const at = this.#entry(group);
    const length = this.#heap.u32[at + 1]!;
    return length === FORGOTTEN ? [0, 0] : [this.#heap.u32[at]!, length];
  }

  keepText(group: number, start: number, length: number): void {
    const to = this.#room(group, length);
    this.#heap.u8.copyWithin(to, start, start + length);
  }

  /** As above, of a column with native kinds: only then `kind` tells it. */
  keepNative(group: number, start: number, length: number, kind: number): void {
    const to = this.#room(group, length + 1);
    const { u8, u32 } = this.#heap;
    u8.copyWithin(to, start, start + length);
    u8[to + length] = kind;
    u32[this.#entry(group) + 1] = length;
  }

  /** Native kind of a text that keepNative kept. */
  kind(group: number): number {
    const [start, length] = this.text(group);
    return start === 0 ? KIND_TEXT : this.#heap.u8[start + length]!;
  }

  forget(group: number): void {
    if (group < this.#entries.length * GROUPS_AT_ONCE) this.#heap.u32[this.#entry(group) + 1] = FORGOTTEN;
  }

  value(group: number): LastValue | undefined {
    const [start, length] = this.text(group);
    if (start === 0) return undefined;
    const { u8, i64 } = this.#heap;
    const digits = Buffer.from(u8.buffer, start + TYPED_BYTES, length - TYPED_BYTES).toString('latin1');
    const [unscaled, scale] = digits.split('e');
    const big = digits === '' ? null : { unscaled: BigInt(unscaled!), scale: Number(scale) };
    return { bits: i64[start >>> 3]!, meta: u8[start + 8]!, big };
  }

  keepValue(group: number, { bits, meta, big }: LastValue): void {
    const digits = big === null ? '' : `${big.unscaled}e${big.scale}`;
    const to = this.#room(group, TYPED_BYTES + digits.length);
    const { u8, i64 } = this.#heap;
    i64[to >>> 3] = bits;
    u8[to + 8] = meta;
    if (digits !== '') u8.set(Buffer.from(digits, 'latin1'), to + TYPED_BYTES);
  }

  /** Index in u32. */
  #entry(group: number): number {
    const entries = this.#entries[Math.floor(group / GROUPS_AT_ONCE)]!;
    return (entries >>> 2) + (group % GROUPS_AT_ONCE) * 3;
  }

  /** Address of `length` bytes for the group's value. */
  #room(group: number, length: number): number {
    while (group >= this.#entries.length * GROUPS_AT_ONCE) this.#addEntries();
    const at = this.#entry(group);
    const { u32 } = this.#heap;
    // Twofold, so that values that grow step by step do not leave much room behind.
    if (u32[at + 2]! < length) this.#moveEntry(at, Math.max(VALUE_BYTES_FIRST, length, u32[at + 2]! * 2));
    this.#heap.u32[at + 1] = length;
    return this.#heap.u32[at]!;
  }

  #addEntries(): void {
    const entries = this.#take(GROUPS_AT_ONCE * ENTRY_BYTES);
    this.#heap.u8.fill(0, entries, entries + GROUPS_AT_ONCE * ENTRY_BYTES);
    this.#entries.push(entries);
  }

  #moveEntry(at: number, bytes: number): void {
    const room = Math.ceil(bytes / 16) * 16;
    if (this.#next + room > this.#limit) {
      const block = Math.max(BLOCK_BYTES, room);
      this.#next = this.#take(block);
      this.#limit = this.#next + block;
    }
    this.#heap.u32[at] = this.#next;
    this.#heap.u32[at + 2] = room;
    this.#next += room;
  }

  #take(bytes: number): number {
    const at = this.#heap.tryAllocate(bytes);
    if (at !== 0) return at;
    this.#full = true;
    return this.#heap.allocate(bytes);
  }
}
