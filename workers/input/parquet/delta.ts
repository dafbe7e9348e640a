// Parquet's delta encodings, unpacked a page at a time: of integers, of the lengths of byte arrays, and of byte arrays that begin
// as the one before. What comes out is charged before it is made, as a few bytes may stand for many equal values.

import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';

/** Packed values of a block may be cut into so many parts: the format asks for multiples of 32 values each. */
const PARTS_MAX = 4096;

/** Bytes of the longest number. */
const VARINT_BYTES_MAX = 10;

export interface DeltaInput {
  readonly heap: Heap;
  readonly at: number;
  readonly end: number;
  readonly broken: () => Failed;
}

/** How many integers are encoded at `at`: what the encoding itself says. */
export function deltaCount(input: DeltaInput): number {
  const reader = new DeltaBits(input);
  reader.varint();
  reader.varint();
  return Number(reader.varint());
}

/**
 * Writes them as 32- or 64-bit integers from `target` on.
 * @returns the first address behind what was read
 */
export function unpackDelta(input: DeltaInput, target: number, bytesEach: 4 | 8): number {
  const reader = new DeltaBits(input);
  const blockSize = Number(reader.varint());
  const parts = Number(reader.varint());
  const count = Number(reader.varint());
  const partSize = blockSize / parts;
  if (parts < 1 || parts > PARTS_MAX || !Number.isSafeInteger(partSize) || partSize < 1) throw input.broken();
  const write = writerTo(input.heap, target, bytesEach);
  let value = reader.zigZag();
  if (count > 0) write(0, value);
  for (let done = 1; done < count; ) {
    const least = reader.zigZag();
    const widths = reader.bytes(parts);
    for (let part = 0; part < parts && done < count; part++) {
      const width = widths[part]!;
      const some = Math.min(partSize, count - done);
      const end = reader.partEnd(partSize, width, some);
      for (let index = 0; index < some; index++) {
        value = BigInt.asIntN(64, value + least + reader.bits(width));
        write(done++, value);
      }
      reader.goTo(end);
    }
  }
  return reader.at;
}

function writerTo({ i64, u32 }: Heap, target: number, bytesEach: 4 | 8): (index: number, value: bigint) => void {
  if (bytesEach === 8) {
    const at = target >>> 3;
    return (index, value) => {
      i64[at + index] = value;
    };
  }
  const at = target >>> 2;
  return (index, value) => {
    u32[at + index] = Number(BigInt.asUintN(32, value));
  };
}

class DeltaBits {
  readonly #bytes: Uint8Array;
  readonly #input: DeltaInput;
  at: number;
  #bit = 0;

  constructor(input: DeltaInput) {
    this.#bytes = input.heap.u8;
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

  bytes(count: number): Uint8Array {
    if (count > this.#input.end - this.at) throw this.#input.broken();
    const bytes = this.#bytes.subarray(this.at, this.at + count);
    this.at += count;
    return bytes;
  }

  /** Where a part of so many values ends; the last one may be cut behind the values that there are. */
  partEnd(values: number, width: number, used: number): number {
    if (width > 64) throw this.#input.broken();
    if (this.at + Math.ceil((used * width) / 8) > this.#input.end) throw this.#input.broken();
    return Math.min(this.#input.end, this.at + Math.ceil((values * width) / 8));
  }

  goTo(at: number): void {
    this.at = at;
    this.#bit = 0;
  }

  /** The next value of so many bits; its bytes are there. */
  bits(width: number): bigint {
    if (width === 0) return 0n;
    let value = 0n;
    let low = 0;
    let lowBits = 0;
    for (let got = 0; got < width; ) {
      const byte = this.#bytes[this.at]!;
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
    return this.#bytes[this.at++]!;
  }
}
