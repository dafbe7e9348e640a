// The hybrid of runs and packed bits in which Parquet writes levels, places in a dictionary, and booleans: a run is one value many
// times, or groups of eight values of the same number of bits. It holds addresses of the Run's memory, which may move.
import type { Failed } from '../../protocol/failure.ts';

const VARINT_BYTES_MAX = 5;
const TWO_24 = 2 ** 24;

/** Bits of values that lie in three bytes wherever they begin in the first of them. */
const NARROW_BITS_MAX = 17;

export class RunDecoder {
  #at: number;
  readonly #end: number;
  readonly #width: number;
  readonly #broken: () => Failed;
  /** Values left of the run at hand, all `#value` or, where `#bit` is not -1, packed from that bit of `#at` on. */
  #left = 0;
  #value = 0;
  #bit = -1;

  /**
   * @param width bits of a value, 0 to 32
   * @param broken makes what is thrown where the bytes end before the values
   */
  constructor(at: number, end: number, width: number, broken: () => Failed) {
    this.#at = at;
    this.#end = end;
    this.#width = width;
    this.#broken = broken;
  }

  /** All of the bytes are packed values, without a head. */
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
      // Up to 39 bits from the byte on in which it begins: more than integers of 32 bits hold.
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
