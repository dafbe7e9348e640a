// The index of the sorted segments that several threads have written (sorted-parts.ts): for every few kilobytes of
// rows, the key of the first row. It shows where a key is in each segment, and how to divide all rows into ranges.
import { ENTRY_BYTES, FLAG_GUARDED, FLAG_REST, LENGTH } from '../../kernel/layout/encoded-rows.ts';
import type { SpillBytes } from '../../memory/spill-file.ts';

// Layout of the index: for each segment a head, the records of its blocks, and the rests of their keys.

/** A segment in shared memory or in the file of its thread. */
export interface SegmentHead {
  readonly part: number;
  readonly isInMemory: boolean;
  /** Address of its entries in memory, or offset of its first row in the file. */
  readonly at: number;
  readonly sizeBytes: number;
  readonly rows: number;
  readonly blocks: number;
  /** Total length of the rests of keys, with padding. */
  readonly restBytes: number;
}

const HEAD_BYTES = 7 * 8;

/** The rests of keys are padded, so that the next head is at a multiple of 8 bytes. */
export const REST_ALIGNMENT_BYTES = 8;

export function segmentHead({ part, isInMemory, at, sizeBytes, rows, blocks, restBytes }: SegmentHead): Uint8Array {
  return new Uint8Array(new Float64Array([part, isInMemory ? 1 : 0, at, sizeBytes, rows, blocks, restBytes]).buffer);
}

/**
 * A record has these u32 words: the first 8 bytes of the key of the block's first row (high and low half), those of the
 * row before it, the offset of the block in the segment, the number of rows before it, and the place and the length of
 * the rest of the key.
 */
export const BLOCK_WORDS = 8;

const HIGH = 0;
const LOW = 1;
const HIGH_BEFORE = 2;
const LOW_BEFORE = 3;
const OFFSET = 4;
const ROW = 5;
const REST_AT = 6;
const REST_LENGTH = 7;

/**
 * Number of bytes that are kept of the rest of a key, and the flag of a longer rest. Keys such as the addresses of web pages
 * often begin with the same hundred bytes.
 */
export const REST_BYTES_MAX = 248;
export const REST_CUT = 0x80000000;

/** Returns address and length of the rest of an entry's key, after its first 8 bytes. */
export function restOf(u8: Uint8Array, u32: Uint32Array, entry: number): readonly [start: number, length: number] {
  const flags = u32[(entry >>> 2) + 3]!;
  if ((flags & FLAG_REST) === 0) return [0, 0];
  const at = u32[(entry >>> 2) + 2]! + (flags & LENGTH) + ((flags & FLAG_GUARDED) === 0 ? 0 : 4);
  return [at + 4, u32At(u8, at)];
}

/** The number at an address that need not be a multiple of 4. */
export function u32At(u8: Uint8Array, at: number): number {
  return u8[at]! + u8[at + 1]! * 0x100 + u8[at + 2]! * 0x10000 + u8[at + 3]! * 0x1000000;
}

// Boundaries between ranges.

/**
 * A place in the order of all rows: the first row with this key in this segment. Rows with equal keys have the order of
 * their segments.
 */
export interface Boundary {
  readonly high: number;
  readonly low: number;
  readonly rest: Uint8Array;
  /** Position of the segment in the list. */
  readonly segment: number;
}

/** Negative if a key in a segment is before the boundary. */
function orderAt(boundary: Boundary, high: number, low: number, rest: Uint8Array, segment: number): number {
  const order = high - boundary.high || low - boundary.low || Buffer.compare(rest, boundary.rest);
  return order || segment - boundary.segment;
}

/** Number of samples for each range. With more samples, the ranges are more equal. */
const SAMPLES_OF_RANGE = 24;

/** Chooses the boundaries between `count` ranges of about the same size. All threads choose the same. */
export function boundariesOf(segments: readonly Segment[], count: number): Boundary[] {
  const blocks = segments.reduce((sum, segment) => sum + segment.blocks, 0);
  const step = Math.max(1, blocks / (count * SAMPLES_OF_RANGE));
  const samples: Boundary[] = [];
  let before = 0;
  let next = step / 2;
  for (const segment of segments) {
    for (; next < before + segment.blocks; next += step) samples.push(segment.boundary(Math.floor(next - before)));
    before += segment.blocks;
  }
  samples.sort((a, b) => orderAt(b, a.high, a.low, a.rest, a.segment));
  return Array.from({ length: count - 1 }, (_, at) => samples[Math.floor(((at + 1) * samples.length) / count)]!);
}

// Segments.

/** Consecutive blocks of a segment. */
export interface SegmentBlocks {
  /** Address of the first entry in memory, or offset of the first row in the file. */
  readonly at: number;
  /** 0 if the segment is in memory. */
  readonly sizeBytes: number;
  readonly rows: number;
  /** The first 8 bytes of the key of the row before it, low half first. */
  readonly before: readonly [number, number];
}

export class Segment {
  /** Null if the segment is in memory. */
  readonly file: SpillBytes | null;
  readonly blocks: number;
  readonly #head: SegmentHead;
  readonly #number: number;
  readonly #records: Uint32Array;
  readonly #rests: Uint8Array;

  constructor(file: SpillBytes | null, head: SegmentHead, number: number, records: Uint32Array, rests: Uint8Array) {
    this.file = file;
    this.blocks = head.blocks;
    this.#head = head;
    this.#number = number;
    this.#records = records;
    this.#rests = rests;
  }

  /** The boundary at the first row of a block. Long keys are not kept whole, so that rows with such a key stay together. */
  boundary(block: number): Boundary {
    const at = block * BLOCK_WORDS;
    const isCut = this.#records[at + REST_LENGTH]! >= REST_CUT;
    const { high, low } = { high: this.#records[at + HIGH]!, low: this.#records[at + LOW]! };
    return { high, low, rest: this.#rest(at), segment: isCut ? 0 : this.#number };
  }

  /** Returns the first block that does not begin before the boundary. */
  blockAt(boundary: Boundary): number {
    let low = 0;
    let high = this.blocks;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(middle * BLOCK_WORDS, boundary)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  blocksAt(from: number, to: number): SegmentBlocks {
    const at = from * BLOCK_WORDS;
    const end = to * BLOCK_WORDS;
    const isLast = to === this.blocks;
    const start = this.#records[at + OFFSET]!;
    const sizeBytes = (isLast ? this.#head.sizeBytes : this.#records[end + OFFSET]!) - start;
    const row = this.#records[at + ROW]!;
    const { isInMemory } = this.#head;
    return {
      at: this.#head.at + (isInMemory ? row * ENTRY_BYTES : start),
      sizeBytes: isInMemory ? 0 : sizeBytes,
      rows: (isLast ? this.#head.rows : this.#records[end + ROW]!) - row,
      before: [this.#records[at + LOW_BEFORE]!, this.#records[at + HIGH_BEFORE]!],
    };
  }

  #isBefore(record: number, boundary: Boundary): boolean {
    const order = this.#records[record + HIGH]! - boundary.high || this.#records[record + LOW]! - boundary.low;
    if (order !== 0) return order < 0;
    return (Buffer.compare(this.#rest(record), boundary.rest) || this.#number - boundary.segment) < 0;
  }

  #rest(record: number): Uint8Array {
    const at = this.#records[record + REST_AT]!;
    return this.#rests.subarray(at, at + (this.#records[record + REST_LENGTH]! % REST_CUT));
  }
}

/** Reads the indexes. The segments are in the order of the parts of the file. */
export function readSegments(files: readonly { readonly rows: SpillBytes; readonly index: SpillBytes }[]): Segment[] {
  const found: { readonly head: SegmentHead; readonly make: (number: number) => Segment }[] = [];
  for (const { rows, index } of files) {
    const bytes = new Uint8Array(index.sizeBytes);
    index.read(bytes, 0);
    for (let at = 0; at < bytes.length; ) {
      const words = new Float64Array(bytes.buffer, at, HEAD_BYTES / 8);
      const [part, isInMemory, start, sizeBytes, count, blocks, restBytes] = words;
      const head = {
        part: part!,
        isInMemory: isInMemory === 1,
        at: start!,
        sizeBytes: sizeBytes!,
        rows: count!,
        blocks: blocks!,
        restBytes: restBytes!,
      };
      const records = new Uint32Array(bytes.buffer, at + HEAD_BYTES, head.blocks * BLOCK_WORDS);
      const restsAt = at + HEAD_BYTES + records.byteLength;
      const rests = bytes.subarray(restsAt, restsAt + head.restBytes);
      found.push({ head, make: (number) => new Segment(head.isInMemory ? null : rows, head, number, records, rests) });
      at = restsAt + head.restBytes;
    }
  }
  // Several segments of one part are in the index of one thread, in their order.
  found.sort((a, b) => a.head.part - b.head.part);
  return found.map(({ make }, number) => make(number));
}
