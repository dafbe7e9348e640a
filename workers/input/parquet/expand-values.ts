// Encodings whose values are not stored literally, such as delta encoding.

import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';
import { PAGE_BYTES_MAX } from './limits.ts';
import { type PageRegion, tooLarge } from './page-memory.ts';
import type { Places, ValueReader } from './value-readers.ts';

// Parquet's delta encoding of integers. Unpacks only as many values as are requested, because a few bytes may encode
// millions of equal values. Holds addresses of the Run's memory, which may move.

/** Maximum number of parts ("miniblocks") in a block. */
const PARTS_MAX = 4096;

/** The number of values in a part must be a multiple of this, as the format requires. */
const PART_VALUES = 32;

/** Maximum length of an encoded number. */
const VARINT_BYTES_MAX = 10;

export interface DeltaInput {
  readonly heap: Heap;
  readonly at: number;
  readonly end: number;
  readonly broken: () => Failed;
}

class DeltaDecoder {
  /** Number of values as declared by the encoding. */
  readonly count: number;
  readonly #bits: DeltaBits;
  readonly #broken: () => Failed;
  readonly #parts: number;
  readonly #partSize: number;
  #done = 0;
  #value: bigint;
  #least = 0n;
  /** Bit widths of the parts in the current block, and the index of the next part. */
  #widths: readonly number[] = [];
  #part = 0;
  /** State of the current part. */
  #width = 0;
  #left = 0;
  #partEnd = 0;

  /** Throws Failed. */
  constructor(input: DeltaInput) {
    const bits = new DeltaBits(input);
    const blockSize = Number(bits.varint());
    this.#parts = Number(bits.varint());
    this.count = Number(bits.varint());
    this.#partSize = blockSize / this.#parts;
    this.#bits = bits;
    this.#broken = input.broken;
    this.#value = bits.zigZag();
    const isValid = this.#parts >= 1 && this.#parts <= PARTS_MAX && Number.isSafeInteger(this.#partSize);
    if (!isValid || this.#partSize < 1 || this.#partSize % PART_VALUES !== 0) throw input.broken();
  }

  /** Calls `write` for each of the next `count` values. Throws Failed if there are fewer. */
  next(count: number, write: (index: number, value: bigint) => void): void {
    if (count > this.count - this.#done) throw this.#broken();
    for (let index = 0; index < count; index++) {
      // The first value is stored before the blocks.
      if (this.#done > 0) {
        if (this.#left === 0) this.#nextPart();
        this.#left--;
        this.#value = BigInt.asIntN(64, this.#value + this.#least + this.#bits.bits(this.#width));
      }
      this.#done++;
      write(index, this.#value);
    }
  }

  /** Returns the address after the encoding, skipping unread values. Throws Failed. */
  end(): number {
    while (this.#done < this.count) {
      if (this.#left === 0 && this.#done > 0) this.#nextPart();
      this.#done += Math.max(1, this.#left);
      this.#left = 0;
    }
    return Math.max(this.#bits.at, this.#partEnd);
  }

  #nextPart(): void {
    const bits = this.#bits;
    if (this.#partEnd > 0) bits.goTo(this.#partEnd);
    if (this.#part === this.#widths.length) {
      this.#least = bits.zigZag();
      this.#widths = bits.bytes(this.#parts);
      this.#part = 0;
    }
    this.#width = this.#widths[this.#part++]!;
    this.#left = Math.min(this.#partSize, this.count - this.#done);
    this.#partEnd = bits.partEnd(this.#partSize, this.#width, this.#left);
  }
}

class DeltaBits {
  readonly #input: DeltaInput;
  at: number;
  #bit = 0;

  constructor(input: DeltaInput) {
    this.#input = input;
    this.at = input.at;
  }

  varint(): bigint {
    let value = 0n;
    for (let count = 0; count < VARINT_BYTES_MAX; count++) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << BigInt(count * 7);
      if (byte < 128) return value;
    }
    throw this.#input.broken();
  }

  zigZag(): bigint {
    const value = this.varint();
    return (value >> 1n) ^ -(value & 1n);
  }

  bytes(count: number): readonly number[] {
    if (count > this.#input.end - this.at) throw this.#input.broken();
    const bytes = [...this.#input.heap.u8.subarray(this.at, this.at + count)];
    this.at += count;
    return bytes;
  }

  /** Returns the end of a part with `values` values. The last part may be truncated after the values in use. */
  partEnd(values: number, width: number, used: number): number {
    if (width > 64) throw this.#input.broken();
    if (this.at + Math.ceil((used * width) / 8) > this.#input.end) throw this.#input.broken();
    return Math.min(this.#input.end, this.at + Math.ceil((values * width) / 8));
  }

  goTo(at: number): void {
    this.at = at;
    this.#bit = 0;
  }

  /** Returns the next value of `width` bits. Its bytes must be available. */
  bits(width: number): bigint {
    if (width === 0) return 0n;
    const bytes = this.#input.heap.u8;
    let value = 0n;
    let low = 0;
    let lowBits = 0;
    for (let got = 0; got < width; ) {
      const byte = bytes[this.at]!;
      const some = Math.min(8 - this.#bit, width - got);
      const piece = (byte >>> this.#bit) & ((1 << some) - 1);
      if (got < 24) {
        low += piece * 2 ** got;
        lowBits = got + some;
      } else value |= BigInt(piece) << BigInt(got);
      got += some;
      this.#bit += some;
      if (this.#bit === 8) {
        this.#bit = 0;
        this.at++;
      }
    }
    return lowBits === 0 ? value : value | BigInt(low);
  }

  #byte(): number {
    if (this.at >= this.#input.end) throw this.#input.broken();
    return this.#input.heap.u8[this.at++]!;
  }
}

// Encodings whose values are not stored literally. Only the requested number of values is unpacked, into a separate
// region, so that time and memory do not depend on the number of values that a page claims. Values stay there until the
// next request.

export interface PackedValues {
  readonly heap: Heap;
  /** Address range [at, end) of the encoded values. */
  readonly at: number;
  readonly end: number;
  /** Number of values that the page declares. */
  readonly valuesMax: number;
  /** Region for unpacked values. */
  readonly region: PageRegion;
  /** Region for a copy of the last value, whose prefix the next values may repeat. */
  readonly lastValue: PageRegion;
  readonly broken: () => Failed;
}

/** Encoding DELTA_BINARY_PACKED. */
export class DeltaIntegers implements ValueReader {
  readonly #region: PageRegion;
  readonly #width: 4 | 8;
  readonly #decoder: DeltaDecoder;

  constructor(packed: PackedValues, width: 4 | 8) {
    this.#region = packed.region;
    this.#width = width;
    this.#decoder = decoderAt(packed, packed.at);
  }

  next(heap: Heap, places: Places, count: number): void {
    const width = this.#width;
    const target = this.#region.take(BATCH_ROWS_MAX * width);
    const { i64, u32 } = heap;
    const write =
      width === 8
        ? (index: number, value: bigint): void => {
            i64[(target >>> 3) + index] = value;
          }
        : (index: number, value: bigint): void => {
            u32[(target >>> 2) + index] = Number(BigInt.asUintN(32, value));
          };
    this.#decoder.next(count, write);
    for (let index = 0; index < count; index++) places.at[index] = target + index * width;
    places.bytes.fill(width, 0, count);
  }
}

/** Encoding DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes. */
export class DeltaLengths implements ValueReader {
  readonly #packed: PackedValues;
  readonly #lengths: DeltaDecoder;
  #at: number;

  constructor(packed: PackedValues) {
    this.#packed = packed;
    this.#lengths = decoderAt(packed, packed.at);
    this.#at = decoderAt(packed, packed.at).end();
  }

  next(_heap: Heap, { at, bytes }: Places, count: number): void {
    const { end, broken } = this.#packed;
    readLengths(this.#lengths, bytes, count);
    for (let index = 0; index < count; index++) {
      if (bytes[index]! > end - this.#at) throw broken();
      at[index] = this.#at;
      this.#at += bytes[index]!;
    }
  }
}

/**
 * Encoding DELTA_BYTE_ARRAY: each value is a prefix of the previous value and a suffix. All prefix lengths come first,
 * then all suffix lengths, then the suffixes.
 */
export class DeltaPrefixes implements ValueReader {
  readonly #packed: PackedValues;
  readonly #prefixes: DeltaDecoder;
  readonly #rests: DeltaDecoder;
  /** Address of the bytes of the suffixes. */
  #at: number;
  /** Address and length of the previous value. */
  #beforeAt = 0;
  #beforeBytes = 0;
  readonly #restBytes = new Uint32Array(BATCH_ROWS_MAX);

  constructor(packed: PackedValues) {
    this.#packed = packed;
    this.#prefixes = decoderAt(packed, packed.at);
    const restsAt = decoderAt(packed, packed.at).end();
    this.#rests = decoderAt(packed, restsAt);
    if (this.#rests.count !== this.#prefixes.count) throw packed.broken();
    this.#at = decoderAt(packed, restsAt).end();
  }

  next(heap: Heap, { at, bytes }: Places, count: number): void {
    const { end, region, lastValue, broken } = this.#packed;
    readLengths(this.#prefixes, bytes, count);
    readLengths(this.#rests, this.#restBytes, count);
    let total = 0;
    for (let index = 0; index < count; index++) total += bytes[index]! + this.#restBytes[index]!;
    if (total > PAGE_BYTES_MAX) throw tooLarge('page', total);
    let to = region.take(total);
    const { u8 } = heap;
    let [beforeAt, beforeBytes] = [this.#beforeAt, this.#beforeBytes];
    for (let index = 0; index < count; index++) {
      const prefix = bytes[index]!;
      const rest = this.#restBytes[index]!;
      if (prefix > beforeBytes || rest > end - this.#at) throw broken();
      u8.copyWithin(to, beforeAt, beforeAt + prefix);
      u8.copyWithin(to + prefix, this.#at, this.#at + rest);
      [beforeAt, beforeBytes] = [to, prefix + rest];
      at[index] = to;
      bytes[index] = beforeBytes;
      this.#at += rest;
      to += beforeBytes;
    }
    // The next values overwrite these values.
    this.#beforeAt = beforeBytes === 0 ? 0 : lastValue.take(beforeBytes);
    this.#beforeBytes = beforeBytes;
    heap.u8.copyWithin(this.#beforeAt, beforeAt, beforeAt + beforeBytes);
  }
}

/** Encoding BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes, and so on. */
export class SplitStreams implements ValueReader {
  readonly #packed: PackedValues;
  readonly #width: number;
  readonly #count: number;
  #done = 0;

  constructor(packed: PackedValues, width: number) {
    const { at, end, valuesMax, broken } = packed;
    this.#packed = packed;
    this.#width = width;
    this.#count = Math.min(valuesMax, Math.floor((end - at) / width));
    if (this.#count * width !== end - at) throw broken();
  }

  next({ u8 }: Heap, places: Places, count: number): void {
    const { at, region, broken } = this.#packed;
    const width = this.#width;
    if (count > this.#count - this.#done) throw broken();
    const target = region.take(BATCH_ROWS_MAX * width);
    for (let byte = 0; byte < width; byte++) {
      const from = at + byte * this.#count + this.#done;
      for (let index = 0; index < count; index++) u8[target + index * width + byte] = u8[from + index]!;
    }
    for (let index = 0; index < count; index++) places.at[index] = target + index * width;
    places.bytes.fill(width, 0, count);
    this.#done += count;
  }
}

function decoderAt(packed: PackedValues, at: number): DeltaDecoder {
  const decoder = new DeltaDecoder({ ...packed, at });
  if (decoder.count > packed.valuesMax) throw packed.broken();
  return decoder;
}

function readLengths(decoder: DeltaDecoder, lengths: Uint32Array, count: number): void {
  decoder.next(count, (index, value) => {
    lengths[index] = Number(BigInt.asUintN(32, value));
  });
}
