// Locates the values of a page, also if they are encoded as runs or packed bits.

import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';

// Parquet's hybrid of run-length encoding and bit packing, used for levels, dictionary indexes and booleans. A run is
// either one repeated value, or groups of eight bit-packed values. Holds addresses of the Run's memory, which may move.

const VARINT_BYTES_MAX = 5;
const TWO_24 = 2 ** 24;

/** Maximum width of values that fit into three bytes at any bit offset. */
const NARROW_BITS_MAX = 17;

export class RunDecoder {
  #at: number;
  readonly #end: number;
  readonly #width: number;
  readonly #broken: () => Failed;
  /**
   * Number of values left in the current run. They are all `#value`, or, if `#bit` is not -1, packed from that bit of
   * `#at` on.
   */
  #left = 0;
  #value = 0;
  #bit = -1;

  /**
   * @param width bits per value, 0 to 32
   * @param broken creates the failure for bytes that end before the values
   */
  constructor(at: number, end: number, width: number, broken: () => Failed) {
    this.#at = at;
    this.#end = end;
    this.#width = width;
    this.#broken = broken;
  }

  /** All bytes are packed values, without a run header. */
  static packed(at: number, end: number, width: number, broken: () => Failed): RunDecoder {
    const decoder = new RunDecoder(at, end, width, broken);
    decoder.#left = Math.floor(((end - at) * 8) / width);
    decoder.#bit = 0;
    return decoder;
  }

  /** Writes the next `count` values. */
  fill(bytes: Uint8Array, target: Uint32Array, count: number): void {
    if (this.#width === 0) {
      target.fill(0, 0, count);
      return;
    }
    for (let done = 0; done < count; ) {
      while (this.#left === 0) this.#nextRun(bytes);
      const some = Math.min(this.#left, count - done);
      if (this.#bit < 0) target.fill(this.#value, done, done + some);
      else this.#unpack(bytes, target, done, some);
      this.#left -= some;
      done += some;
    }
  }

  #nextRun(bytes: Uint8Array): void {
    if (this.#bit >= 0) this.#at += Math.ceil(this.#bit / 8);
    this.#bit = -1;
    const head = this.#varint(bytes);
    if (head % 2 === 1) {
      this.#left = ((head - 1) / 2) * 8;
      this.#bit = 0;
      return;
    }
    this.#left = head / 2;
    const valueBytes = Math.ceil(this.#width / 8);
    if (this.#at + valueBytes > this.#end) throw this.#broken();
    this.#value = 0;
    for (let index = valueBytes - 1; index >= 0; index--) this.#value = this.#value * 256 + bytes[this.#at + index]!;
    this.#at += valueBytes;
  }

  #unpack(bytes: Uint8Array, target: Uint32Array, from: number, count: number): void {
    const width = this.#width;
    let bit = this.#bit;
    const lastByte = this.#at + ((bit + count * width - 1) >>> 3);
    if (lastByte >= this.#end || bit + count * width > Number.MAX_SAFE_INTEGER) throw this.#broken();
    if (width <= NARROW_BITS_MAX) {
      const mask = 2 ** width - 1;
      for (let index = 0; index < count; index++, bit += width) {
        const at = this.#at + (bit >>> 3);
        const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
        target[from + index] = (low >>> (bit & 7)) & mask;
      }
      this.#bit = bit;
      return;
    }
    const mask = width === 32 ? 2 ** 32 : 2 ** width;
    for (let index = 0; index < count; index++) {
      const at = this.#at + (bit >>> 3);
      // The bits from the first byte of the value on may be 39, which is more than a 32-bit integer holds.
      const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
      const high = bytes[at + 3]! + bytes[at + 4]! * 256;
      target[from + index] = ((low + high * TWO_24) / 2 ** (bit & 7)) % mask;
      bit += width;
    }
    this.#bit = bit;
  }

  #varint(bytes: Uint8Array): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < VARINT_BYTES_MAX && this.#at < this.#end; count++) {
      const byte = bytes[this.#at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw this.#broken();
  }
}

// Locates the values of a page: readers return the addresses and lengths of the next values. They hold addresses of the
// Run's memory, which may move.

/** Address and length in bytes of each value. */
export interface Places {
  readonly at: Uint32Array;
  readonly bytes: Uint32Array;
}

export interface ValueReader {
  /** Writes the places of the next `count` values. Throws Failed if there are fewer. */
  next(heap: Heap, places: Places, count: number): void;
}

/** Values of the same length, stored consecutively. */
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

/** Byte arrays, each preceded by its length. */
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

/** Addresses of the texts `false` and `true`. */
export interface BooleanTexts {
  readonly falseAt: number;
  readonly trueAt: number;
}

const FALSE_BYTES = 5;
const TRUE_BYTES = 4;

/** Booleans of one bit each: packed, or in a RunDecoder. Their places are those of the two texts. */
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

/** Writes both texts and returns their addresses. */
export function placeBooleanTexts(heap: Heap): BooleanTexts {
  const at = heap.allocate(FALSE_BYTES + TRUE_BYTES);
  heap.u8.set(Buffer.from('falsetrue'), at);
  return { falseAt: at, trueAt: at + FALSE_BYTES };
}
