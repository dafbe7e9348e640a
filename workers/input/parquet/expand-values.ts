// Encodings whose values stand nowhere as they are: a page's are unpacked into memory of their own before the first is read.

import type { Heap } from '../../memory/heap.ts';
import type { Failed } from '../../protocol/failure.ts';
import { type DeltaInput, deltaCount, unpackDelta } from './delta.ts';
import { PAGE_BYTES_MAX } from './limits.ts';
import { type PageRegion, tooLarge } from './page-memory.ts';
import { FixedValues, KnownPlaces, type ValueReader } from './value-readers.ts';

const PLACE_BYTES = 8;
const LENGTH_BYTES = 4;

export interface PackedValues {
  readonly heap: Heap;
  /** [at, end): the bytes of the values. */
  readonly at: number;
  readonly end: number;
  /** No more than the page says it has. */
  readonly valuesMax: number;
  /** For what is unpacked. */
  readonly region: PageRegion;
  readonly broken: () => Failed;
}

/** DELTA_BINARY_PACKED. */
export function expandIntegers(packed: PackedValues, width: 4 | 8): ValueReader {
  const count = checkedCount(packed, packed.at);
  const target = take(packed, count * width);
  unpackDelta(packed, target, width);
  return new FixedValues(target, target + count * width, width, packed.broken);
}

/** DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes. */
export function expandLengths(packed: PackedValues): ValueReader {
  const { heap, end, broken } = packed;
  const count = checkedCount(packed, packed.at);
  const target = take(packed, count * (PLACE_BYTES + LENGTH_BYTES));
  const lengths = target + count * PLACE_BYTES;
  let at = unpackDelta(packed, lengths, LENGTH_BYTES);
  const { u32 } = heap;
  for (let index = 0; index < count; index++) {
    const bytes = u32[(lengths >>> 2) + index]!;
    if (bytes > end - at) throw broken();
    u32[(target >>> 2) + index * 2] = at;
    u32[(target >>> 2) + index * 2 + 1] = bytes;
    at += bytes;
  }
  return new KnownPlaces(target, target + count * PLACE_BYTES, broken);
}

/** DELTA_BYTE_ARRAY: each value is the beginning of the one before and a rest. Both parts come as lengths, then the rests. */
export function expandPrefixes(packed: PackedValues): ValueReader {
  const { heap, end, broken } = packed;
  const count = checkedCount(packed, packed.at);
  // The lengths come first, to know how long all values are.
  const lengthsAt = take(packed, count * 2 * LENGTH_BYTES);
  const restsAt = unpackDelta(packed, lengthsAt, LENGTH_BYTES);
  const rests = { ...packed, at: restsAt };
  if (deltaCount(rests) !== count) throw broken();
  const bytesAt = unpackDelta(rests, lengthsAt + count * LENGTH_BYTES, LENGTH_BYTES);
  const lengths = heap.u32.slice(lengthsAt >>> 2, (lengthsAt >>> 2) + count * 2);
  let bytes = 0;
  for (const length of lengths) bytes += length;
  const target = take(packed, count * PLACE_BYTES + bytes);
  const { u8, u32 } = heap;
  let from = bytesAt;
  let to = target + count * PLACE_BYTES;
  let before = { at: 0, bytes: 0 };
  for (let index = 0; index < count; index++) {
    const prefix = lengths[index]!;
    const rest = lengths[count + index]!;
    if (prefix > before.bytes || rest > end - from) throw broken();
    u8.copyWithin(to, before.at, before.at + prefix);
    u8.copyWithin(to + prefix, from, from + rest);
    before = { at: to, bytes: prefix + rest };
    u32[(target >>> 2) + index * 2] = to;
    u32[(target >>> 2) + index * 2 + 1] = before.bytes;
    from += rest;
    to += before.bytes;
  }
  return new KnownPlaces(target, target + count * PLACE_BYTES, broken);
}

/** BYTE_STREAM_SPLIT: the first bytes of all values, then the second bytes of all. */
export function expandStreams(packed: PackedValues, width: number): ValueReader {
  const { heap, at, end, valuesMax, broken } = packed;
  const count = Math.min(valuesMax, Math.floor((end - at) / width));
  if (count * width !== end - at) throw broken();
  const target = take(packed, count * width);
  const { u8 } = heap;
  for (let byte = 0; byte < width; byte++) {
    for (let index = 0; index < count; index++) u8[target + index * width + byte] = u8[at + byte * count + index]!;
  }
  return new FixedValues(target, target + count * width, width, broken);
}

function checkedCount(packed: PackedValues, at: number): number {
  const count = deltaCount({ ...packed, at } satisfies DeltaInput);
  if (count > packed.valuesMax) throw packed.broken();
  return count;
}

function take({ region }: PackedValues, bytes: number): number {
  if (bytes > PAGE_BYTES_MAX) throw tooLarge('page', bytes);
  return region.take(bytes);
}
