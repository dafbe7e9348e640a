// Where the values of a page stand: readers give the addresses and lengths of the next ones. They hold addresses of the Run's
// memory, which may move.

import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';
import type { RunDecoder } from './run-decoder.ts';

/** Places of values: addresses and bytes of each. */
export interface Places {
  readonly at: Uint32Array;
  readonly bytes: Uint32Array;
}

export interface ValueReader {
  /** Writes the places of the next `count` values. Throws Failed where there are fewer. */
  next(heap: Heap, places: Places, count: number): void;
}

/** Values of one length, side by side. */
export class FixedValues implements ValueReader {
  #at: number;
  readonly #end: number;
  readonly #width: number;
  readonly #broken: () => Failed;

  constructor(at: number, end: number, width: number, broken: () => Failed) {
    this.#at = at;
    this.#end = end;
    this.#width = width;
    this.#broken = broken;
  }

  next(_heap: Heap, { at, bytes }: Places, count: number): void {
    const width = this.#width;
    if (count * width > this.#end - this.#at) throw this.#broken();
    for (let index = 0; index < count; index++) at[index] = this.#at + index * width;
    bytes.fill(width, 0, count);
    this.#at += count * width;
  }
}

const LENGTH_BYTES = 4;

/** Byte arrays, each behind its length. */
export class ByteArrays implements ValueReader {
  #at: number;
  readonly #end: number;
  readonly #broken: () => Failed;

  constructor(at: number, end: number, broken: () => Failed) {
    this.#at = at;
    this.#end = end;
    this.#broken = broken;
  }

  next({ u8 }: Heap, { at, bytes }: Places, count: number): void {
    const end = this.#end;
    let next = this.#at;
    for (let index = 0; index < count; index++) {
      if (next + LENGTH_BYTES > end) throw this.#broken();
      const low = u8[next]! | (u8[next + 1]! << 8) | (u8[next + 2]! << 16);
      const length = low + u8[next + 3]! * 2 ** 24;
      next += LENGTH_BYTES;
      if (length > end - next) throw this.#broken();
      at[index] = next;
      bytes[index] = length;
      next += length;
    }
    this.#at = next;
  }
}

/** Places that were worked out before: pairs of an address and a length from `at` on. */
export class KnownPlaces implements ValueReader {
  #at: number;
  readonly #end: number;
  readonly #broken: () => Failed;

  constructor(at: number, end: number, broken: () => Failed) {
    this.#at = at;
    this.#end = end;
    this.#broken = broken;
  }

  next({ u32 }: Heap, { at, bytes }: Places, count: number): void {
    if (count * 8 > this.#end - this.#at) throw this.#broken();
    for (let index = 0; index < count; index++) {
      at[index] = u32[(this.#at >>> 2) + index * 2]!;
      bytes[index] = u32[(this.#at >>> 2) + index * 2 + 1]!;
    }
    this.#at += count * 8;
  }
}

/** Where the texts of false and true stand. */
export interface BooleanTexts {
  readonly falseAt: number;
  readonly trueAt: number;
}

const FALSE_BYTES = 5;
const TRUE_BYTES = 4;

/** Booleans, a bit each: packed, or as a RunDecoder has them. Their places are those of their texts. */
export class Booleans implements ValueReader {
  readonly #bits: RunDecoder;
  readonly #texts: BooleanTexts;

  constructor(bits: RunDecoder, texts: BooleanTexts) {
    this.#bits = bits;
    this.#texts = texts;
  }

  next({ u8 }: Heap, { at, bytes }: Places, count: number): void {
    this.#bits.fill(u8, bytes, count);
    for (let index = 0; index < count; index++) {
      const isTrue = bytes[index] === 1;
      at[index] = isTrue ? this.#texts.trueAt : this.#texts.falseAt;
      bytes[index] = isTrue ? TRUE_BYTES : FALSE_BYTES;
    }
  }
}

/** Writes both texts; gives where they stand. */
export function placeBooleanTexts(heap: Heap): BooleanTexts {
  const at = heap.allocate(FALSE_BYTES + TRUE_BYTES);
  heap.u8.set(Buffer.from('falsetrue'), at);
  return { falseAt: at, trueAt: at + FALSE_BYTES };
}
