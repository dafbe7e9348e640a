// Brings entries, a key with its value each, into the order of their keys' hashes by files: parted by the hash's bits until
// a part fits the memory that is set aside for it, sorted there, and written one part behind the other. Of equal keys the
// first is kept. It is for tables that the budget has refused, so that it works in a fixed megabyte: RowPartitions and RowSorter
// hold as many rows as the budget gives.
import type { Heap } from '../../memory/heap.ts';
import { SpillFile } from '../spill/spill-file.ts';
import type { SpillFolder } from '../spill/spill-folder.ts';

/** Of an entry: hash, bytes of the key, bytes of the value (u32 each); key and value follow. */
export const ENTRY_HEADER_BYTES = 12;

/** In place of a value's bytes: the value is null. */
export const VALUE_NULL = 0xffffffff;

/** Parts of a level, by so many bits of the hash. */
const PARTS = 16;
const PART_BITS = 4;
const LEVELS = 32 / PART_BITS;

/** Of each part that is written, and of the result. */
const WRITE_BYTES = 32_768;

/** What is sorted at once, and read at once when a part is parted again. */
const SORTED_BYTES = 262_144;

/**
 * Keys that came last, by the low bits of their hashes: one that comes again is left out at once, so that a key on most rows
 * is not written level by level. Longer keys are not kept. 256 KiB.
 */
const SEEN_KEYS = 1024;
const SEEN_KEY_BYTES = 256;

export interface Entry {
  readonly hash: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Hears of each entry of the result, at its position in the file. */
export type Placed = (hash: number, position: number) => void;

export class EntrySorter {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  readonly #parts: readonly BufferedFile[];
  readonly #result: BufferedFile;
  readonly #header = new Uint8Array(ENTRY_HEADER_BYTES);
  readonly #words = new DataView(this.#header.buffer);
  readonly #room: number;
  /** Bytes of each seen key, -1 for none. */
  readonly #seenBytes = new Int32Array(SEEN_KEYS).fill(-1);
  readonly #seenHashes = new Uint32Array(SEEN_KEYS);
  readonly #seen: number;
  readonly #placed: Placed;

  constructor(heap: Heap, spill: SpillFolder, placed: Placed) {
    this.#heap = heap;
    this.#spill = spill;
    this.#placed = placed;
    this.#parts = Array.from({ length: PARTS }, () => new BufferedFile(heap, spill));
    this.#result = new BufferedFile(heap, spill);
    this.#room = heap.allocate(SORTED_BYTES);
    this.#seen = heap.allocate(SEEN_KEYS * SEEN_KEY_BYTES);
  }

  add({ hash, key, value }: Entry): void {
    if (this.#wasSeen(hash, key)) return;
    this.#words.setUint32(0, hash, true);
    this.#words.setUint32(4, key.length, true);
    this.#words.setUint32(8, value === null ? VALUE_NULL : value.length, true);
    const part = this.#parts[partOf(hash, 0)]!;
    part.append(this.#header);
    part.append(key);
    if (value !== null) part.append(value);
  }

  /** The file with all entries in their order. Yields while it works. */
  *finish(): Generator<void, SpillFile> {
    yield* this.#placeAll(1);
    return this.#result.take() ?? new SpillFile(this.#spill);
  }

  /** What was parted last, part by part. The buffers are free again as soon as the files are taken. */
  *#placeAll(level: number): Iterable<void> {
    const files = this.#parts.map((part) => part.take());
    for (const file of files) {
      if (file === null) continue;
      yield;
      if (file.sizeBytes <= SORTED_BYTES) this.#sort(file);
      else if (level === LEVELS) yield* this.#emitDifferent(entriesOf(file, SORTED_BYTES));
      else {
        yield* this.#part(file, level);
        file.drop();
        yield* this.#placeAll(level + 1);
        continue;
      }
      file.drop();
    }
  }

  *#part(file: SpillFile, level: number): Iterable<void> {
    this.#seenBytes.fill(-1);
    let bytes = 0;
    for (const entry of entriesOf(file, SORTED_BYTES)) {
      if (!this.#wasSeen(hashOf(entry), keyOf(entry))) this.#parts[partOf(hashOf(entry), level)]!.append(entry);
      bytes += entry.length;
      if (bytes < SORTED_BYTES) continue;
      bytes = 0;
      yield;
    }
  }

  /** Whether this key is among those that came last; else it is from now on. */
  #wasSeen(hash: number, key: Uint8Array): boolean {
    if (key.length > SEEN_KEY_BYTES) return false;
    const place = hash & (SEEN_KEYS - 1);
    const at = this.#seen + place * SEEN_KEY_BYTES;
    const { u8 } = this.#heap;
    const isSame = this.#seenHashes[place] === hash && this.#seenBytes[place] === key.length;
    if (isSame && sameBytes(u8, at, key)) return true;
    u8.set(key, at);
    this.#seenHashes[place] = hash;
    this.#seenBytes[place] = key.length;
    return false;
  }

  #sort(file: SpillFile): void {
    const bytes = this.#heap.u8.subarray(this.#room, this.#room + file.sizeBytes);
    file.read(bytes, 0);
    const entries: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += entryBytes(bytes, at)) {
      entries.push(bytes.subarray(at, at + entryBytes(bytes, at)));
    }
    // Array.prototype.sort is stable: of equal keys the first stays the first.
    entries.sort((a, b) => hashOf(a) - hashOf(b));
    for (const _ of this.#emitDifferent(entries));
  }

  /** Entries in the order of their hashes. */
  *#emitDifferent(entries: Iterable<Uint8Array>): Iterable<void> {
    let bytes = 0;
    let run: Uint8Array[] = [];
    let runHash = -1;
    for (const entry of entries) {
      const hash = hashOf(entry);
      bytes += entry.length;
      if (bytes > SORTED_BYTES) {
        bytes = 0;
        yield;
      }
      if (hash !== runHash) run = [];
      runHash = hash;
      const key = keyOf(entry);
      if (run.some((other) => Buffer.compare(other, key) === 0)) continue;
      // Different keys of one hash are rare: this list stays short.
      run.push(key.slice());
      this.#placed(hash, this.#result.sizeBytes);
      this.#result.append(entry);
    }
  }
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

export function entryBytes(bytes: Uint8Array, at: number): number {
  const value = readU32(bytes, at + 8);
  return ENTRY_HEADER_BYTES + readU32(bytes, at + 4) + (value === VALUE_NULL ? 0 : value);
}

function hashOf(entry: Uint8Array): number {
  return readU32(entry, 0);
}

function keyOf(entry: Uint8Array): Uint8Array {
  return entry.subarray(ENTRY_HEADER_BYTES, ENTRY_HEADER_BYTES + readU32(entry, 4));
}

/** The highest bits first: parts, one behind the other, are in the order of the hashes. */
function partOf(hash: number, level: number): number {
  return (hash >>> (32 - (level + 1) * PART_BITS)) & (PARTS - 1);
}

function sameBytes(u8: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let index = 0; index < key.length; index++) if (u8[at + index] !== key[index]) return false;
  return true;
}

/** The entries of a file, each valid until the next one. */
function* entriesOf(file: SpillFile, bufferBytes: number): Iterable<Uint8Array> {
  let buffer = Buffer.allocUnsafe(bufferBytes);
  let position = 0;
  while (position < file.sizeBytes) {
    const bytes = buffer.subarray(0, file.read(buffer, position));
    let at = 0;
    while (at + ENTRY_HEADER_BYTES <= bytes.length && at + entryBytes(bytes, at) <= bytes.length) {
      const size = entryBytes(bytes, at);
      yield bytes.subarray(at, at + size);
      at += size;
    }
    // One entry, two cells at most, may be larger than all that is read at once.
    if (at === 0) buffer = Buffer.allocUnsafe(entryBytes(bytes, 0));
    position += at;
  }
}

/** A file that is written through a buffer in the Run's memory, and made with its first bytes. */
class BufferedFile {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  readonly #buffer: number;
  #held = 0;
  #file: SpillFile | null = null;

  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#spill = spill;
    this.#buffer = heap.allocate(WRITE_BYTES);
  }

  get sizeBytes(): number {
    return (this.#file?.sizeBytes ?? 0) + this.#held;
  }

  append(bytes: Uint8Array): void {
    this.#file ??= new SpillFile(this.#spill);
    if (this.#held + bytes.length > WRITE_BYTES) this.#flush();
    if (bytes.length > WRITE_BYTES) {
      this.#file.append(bytes);
      return;
    }
    this.#heap.u8.set(bytes, this.#buffer + this.#held);
    this.#held += bytes.length;
  }

  /** The file, written to its end; null when nothing came. What comes later goes to another one. */
  take(): SpillFile | null {
    this.#flush();
    const file = this.#file;
    this.#file = null;
    return file;
  }

  #flush(): void {
    if (this.#held > 0) this.#file!.append(this.#heap.u8.subarray(this.#buffer, this.#buffer + this.#held));
    this.#held = 0;
  }
}
