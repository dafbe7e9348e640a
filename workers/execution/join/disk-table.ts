// Access to the cells of one column of a reference table by key: in memory if possible, otherwise through a key-value
// file.
import type { Heap } from '../../memory/heap.ts';
import { SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import type { PlacedText } from '../cells/text-chain.ts';
import { KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import { RowCodec } from '../spill/row-codec.ts';
import { BATCH_READER_SIZE, SpillReader } from '../spill/row-files.ts';
import type { TableRows } from '../tables/run-tables.ts';
import { rowsWithKeys, TableIndex, type TableKey } from './table-index.ts';

// Sorts entries (a key and its value) by the hash of the key, with files: partitions them by bits of the hash until a
// partition fits into the reserved memory, sorts it there, and writes the partitions one after the other. If keys are
// equal, the first entry is kept. It is used for tables that exceed the budget. So it works in one megabyte, whereas
// RowPartitions and RowSorter use as much memory as the budget allows.

/** Length of an entry's header: hash, key length, value length (u32 each). Key and value follow. */
const ENTRY_HEADER_BYTES = 12;

/** Value length that means that the value is null. */
const VALUE_NULL = 0xffffffff;

/** Number of partitions per level, and of hash bits per level. */
const PARTS = 16;
const PART_BITS = 4;
const LEVELS = 32 / PART_BITS;

/** Size of the write buffer of each partition and of the result. */
const WRITE_BYTES = 32_768;

/** Number of bytes sorted at once, and read at once when a partition is partitioned again. */
const SORTED_BYTES = 262_144;

/**
 * Cache of recent keys, by the low bits of their hashes: a repeated key is dropped at once, so that a key that occurs
 * on most rows is not written at each level. Longer keys are not cached. 256 KiB.
 */
const SEEN_KEYS = 1024;
const SEEN_KEY_BYTES = 256;

export interface Entry {
  readonly hash: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

/** Called for each entry of the result, with its offset in the file. */
export type Placed = (hash: number, position: number) => void;

export class EntrySorter {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  readonly #parts: readonly BufferedFile[];
  readonly #result: BufferedFile;
  readonly #header = new Uint8Array(ENTRY_HEADER_BYTES);
  readonly #words = new DataView(this.#header.buffer);
  readonly #sortBuffer: number;
  /** Length of each cached key, or -1. */
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
    this.#sortBuffer = heap.allocate(SORTED_BYTES);
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

  /** Returns the file with all entries in order. Yields in between. */
  *finish(): Generator<void, SpillFile> {
    yield* this.#placeAll(1);
    return this.#result.take() ?? new SpillFile(this.#spill);
  }

  /**
   * Sorts the partitions written last, one after the other. Once their files are taken, the buffers can be used again.
   */
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

  /** Returns true if the key is in the cache of recent keys. Otherwise adds it. */
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
    const bytes = this.#heap.u8.subarray(this.#sortBuffer, this.#sortBuffer + file.sizeBytes);
    file.read(bytes, 0);
    const entries: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += entryBytes(bytes, at)) {
      entries.push(bytes.subarray(at, at + entryBytes(bytes, at)));
    }
    // Array.prototype.sort is stable, so the first of equal keys stays first.
    entries.sort((a, b) => hashOf(a) - hashOf(b));
    for (const _ of this.#emitDifferent(entries));
  }

  /** Emits entries, which are ordered by hash, without duplicate keys. */
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
      // Distinct keys with the same hash are rare, so this list stays short.
      run.push(key.slice());
      this.#placed(hash, this.#result.sizeBytes);
      this.#result.append(entry);
    }
  }
}

function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

function entryBytes(bytes: Uint8Array, at: number): number {
  const value = readU32(bytes, at + 8);
  return ENTRY_HEADER_BYTES + readU32(bytes, at + 4) + (value === VALUE_NULL ? 0 : value);
}

function hashOf(entry: Uint8Array): number {
  return readU32(entry, 0);
}

function keyOf(entry: Uint8Array): Uint8Array {
  return entry.subarray(ENTRY_HEADER_BYTES, ENTRY_HEADER_BYTES + readU32(entry, 4));
}

/** Uses the highest bits first, so that consecutive partitions are ordered by hash. */
function partOf(hash: number, level: number): number {
  return (hash >>> (32 - (level + 1) * PART_BITS)) & (PARTS - 1);
}

function sameBytes(u8: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let index = 0; index < key.length; index++) if (u8[at + index] !== key[index]) return false;
  return true;
}

/** Iterates over the entries of a file. Each is valid until the next one. */
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
    // A single entry, with at most two cells, may be larger than the buffer.
    if (at === 0) buffer = Buffer.allocUnsafe(entryBytes(bytes, 0));
    position += at;
  }
}

/** A file with a write buffer in the Run's memory. Created when the first bytes are written. */
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

  /** Returns the complete file, or null if nothing was written. Later writes go to a new file. */
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

// A key-value file with the cells of one column of a reference table, for tables that exceed the budget and whose rows
// may be needed at any time. A directory of the file's pages and the most recently read pages are in memory.

/**
 * A page ends before the first entry that begins after this many bytes and has a different hash than the previous
 * entry.
 */
const PAGE_BYTES = 12_288;

/** Maximum size of a cached page. A larger page is read again each time. */
const KEPT_PAGE_BYTES = 16_384;

/** Number of cached pages, by the low bits of their number, as files mostly need the same few keys. 1 MiB. */
const PAGES_KEPT = 64;

/** Size of a directory entry: first hash of the page (u32) and its offset in the file (f64). */
const DIRECTORY_BYTES = 12;

type DiskTableContext = Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>;

/** First hash of each page, and its offset in the file. */
interface Directory {
  readonly firsts: readonly number[];
  readonly starts: readonly number[];
}

class DiskTable {
  /** Length of the longest key in bytes. */
  readonly longestKeyBytes: number;
  readonly #context: DiskTableContext;
  readonly #file: SpillFile;
  readonly #pages: number;
  /** Addresses in the Run's memory. */
  readonly #starts: number;
  readonly #hashes: number;
  readonly #kept: number;
  readonly #keptPages = new Int32Array(PAGES_KEPT).fill(-1);

  /**
   * Reads the whole table and yields in between.
   * @param index index with the key columns, not loaded
   * @param value column whose cells are stored
   */
  static *build(
    context: DiskTableContext,
    table: TableRows,
    index: TableIndex,
    value: number,
  ): Generator<void, DiskTable> {
    const firsts: number[] = [];
    const starts: number[] = [];
    let before = -1;
    const sorter = new EntrySorter(context.arena.heap, context.spill, (hash, position) => {
      const fits = starts.length > 0 && position - starts.at(-1)! < PAGE_BYTES;
      if (!fits && hash !== before) {
        firsts.push(hash);
        starts.push(position);
      }
      before = hash;
    });
    const longestKeyBytes = yield* addEntries(sorter, context, table, index, value);
    const file = yield* sorter.finish();
    return new DiskTable(context, file, { firsts, starts }, longestKeyBytes);
  }

  private constructor(context: DiskTableContext, file: SpillFile, { firsts, starts }: Directory, longest: number) {
    const { heap } = context.arena;
    this.#context = context;
    this.longestKeyBytes = longest;
    this.#file = file;
    this.#pages = starts.length;
    this.#starts = heap.allocate(this.#pages * DIRECTORY_BYTES);
    this.#hashes = this.#starts + this.#pages * 8;
    heap.f64.set(starts, this.#starts >>> 3);
    heap.u32.set(firsts, this.#hashes >>> 2);
    this.#kept = heap.allocate(PAGES_KEPT * KEPT_PAGE_BYTES);
  }

  /**
   * Returns the bytes of the cell in the first row with a key; null for a null cell; undefined if the table does not
   * contain the key. Valid until the next call. Allocates nothing in the Run's memory.
   *
   * @param hash high half of the index's hash
   */
  find(hash: number, keyAt: number, keyBytes: number): Uint8Array | null | undefined {
    const page = this.#pageOf(hash);
    if (page < 0) return undefined;
    const bytes = this.#read(page);
    const { u8 } = this.#context.arena.heap;
    for (let at = 0; at < bytes.length; at += entryBytes(bytes, at)) {
      const found = readU32(bytes, at);
      if (found > hash) return undefined;
      if (found !== hash || readU32(bytes, at + 4) !== keyBytes) continue;
      const key = at + ENTRY_HEADER_BYTES;
      let same = 0;
      while (same < keyBytes && bytes[key + same] === u8[keyAt + same]) same++;
      if (same < keyBytes) continue;
      const size = readU32(bytes, at + 8);
      return size === VALUE_NULL ? null : bytes.subarray(key + keyBytes, key + keyBytes + size);
    }
    return undefined;
  }

  /** Returns the last page whose first hash is not above the hash, or -1. No hash occurs on two pages. */
  #pageOf(hash: number): number {
    const { u32 } = this.#context.arena.heap;
    let [low, high] = [0, this.#pages];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (u32[(this.#hashes >>> 2) + middle]! <= hash) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #read(page: number): Uint8Array {
    const { u8, f64 } = this.#context.arena.heap;
    const start = f64[(this.#starts >>> 3) + page]!;
    const end = page + 1 < this.#pages ? f64[(this.#starts >>> 3) + page + 1]! : this.#file.sizeBytes;
    const size = end - start;
    if (size > KEPT_PAGE_BYTES) {
      const large = Buffer.allocUnsafe(size);
      this.#file.read(large, start);
      return large;
    }
    const place = page % PAGES_KEPT;
    const at = this.#kept + place * KEPT_PAGE_BYTES;
    const bytes = u8.subarray(at, at + size);
    if (this.#keptPages[place] !== page) {
      this.#file.read(bytes, start);
      this.#keptPages[place] = page;
    }
    return bytes;
  }
}

/** Returns the length of the longest key. */
function* addEntries(
  sorter: EntrySorter,
  { arena, kernel }: DiskTableContext,
  table: TableRows,
  index: TableIndex,
  value: number,
): Generator<void, number> {
  const { heap } = arena;
  const codec = new RowCodec(heap, kernel, new Array(table.columns.length).fill('text'));
  const reader = new SpillReader(arena, codec, BATCH_READER_SIZE);
  reader.open(table);
  let longest = 0;
  while (reader.advance() > 0) {
    const batch = reader.batch();
    const values = batch.views(value);
    inSlices(batch, (from, to) => {
      const keys = index.keyBatch(batch);
      const rows = arena.tryTake((to - from) * 4);
      const hashes = arena.tryTake((to - from) * 8);
      if (keys === null || rows === 0 || hashes === 0) return false;
      const count = rowsWithKeys(keys, from, to, rows);
      const views = index.keyViews(keys, rows, count);
      if (views === 0) return false;
      index.hash({ views, rows, count, hashes, ids: 0 });
      const { u8, u32 } = heap;
      const cell = (at: number): Uint8Array => u8.subarray(u32[at]!, u32[at]! + u32[at + 1]!);
      for (let i = 0; i < count; i++) {
        const row = u32[(rows >>> 2) + i]!;
        const made = (values >>> 2) + row * 2;
        const hash = u32[(hashes >>> 2) + i * 2 + 1]!;
        const key = cell((views >>> 2) + row * 2);
        longest = Math.max(longest, key.length);
        sorter.add({ hash, key, value: u32[made] === 0 ? null : cell(made) });
      }
      return true;
    });
    yield;
  }
  return longest;
}

// Access to the cells of one column of a reference table by one key, for operations that need any row at any time: from
// memory, or from a file if the table exceeds the budget.

/**
 * Maximum size of a table that is loaded even if the budget refuses it: a Run has few of them, and each is read for one
 * operation only.
 */
const TABLE_BYTES_FORCED = 1024 * 1024;

export class TableCells {
  readonly #context: DiskTableContext;
  readonly #index: TableIndex;
  readonly #value: number;
  readonly #table: TableRows;
  readonly #key: number;
  #disk: DiskTable | null = null;
  #isBuilt = false;
  /** Indexed by id: results for the keys that were last looked up in the file. */
  readonly #found: (PlacedText | null)[] = [];

  /** Has no cells until `build` has finished. */
  constructor(context: DiskTableContext, table: TableRows, key: TableKey, value: number) {
    this.#context = context;
    this.#value = value;
    this.#key = key.column;
    this.#table = table;
    this.#index = new TableIndex(context, table.columns.length, [key]);
  }

  /** Reads the table. Allocates memory and uses the arena, which may be emptied in between. */
  *build(): Iterable<void> {
    const table = this.#table;
    const inMemory = yield* this.#index.load(table, table.sizeBytes <= TABLE_BYTES_FORCED);
    if (!inMemory) this.#disk = yield* DiskTable.build(this.#context, table, this.#index, this.#value);
    this.#isBuilt = true;
  }

  /**
   * Length of the longest key that the table may contain: a longer key is certainly not found. Only for keys that are
   * compared as exact texts.
   */
  longestKeyBytes(): number {
    if (this.#disk !== null) return this.#disk.longestKeyBytes;
    const { u32 } = this.#context.arena.heap;
    const views = this.#index.views(this.#key) >>> 2;
    let longest = 0;
    for (let row = 0; row < this.#table.rows; row++) longest = Math.max(longest, u32[views + row * 2 + 1]!);
    return longest;
  }

  hash(list: KeyList): void {
    this.#index.hash(list);
  }

  /**
   * Sets the ids of the keys, KEY_ABSENT for keys that the table does not contain. Returns false if the arena is full.
   */
  find(list: KeyList): boolean {
    if (!this.#isBuilt) throw new Error('a table is queried before it is read');
    if (this.#disk === null) {
      this.#index.find(list);
      return true;
    }
    const { arena } = this.#context;
    const { u32 } = arena.heap;
    this.#found.length = 0;
    for (let i = 0; i < list.count; i++) {
      const cell = this.#ask(this.#disk, list, i);
      u32[(list.ids >>> 2) + i] = cell === undefined ? KEY_ABSENT : this.#found.length;
      if (cell === undefined) continue;
      const at = cell === null ? 0 : arena.tryTake(cell.length);
      if (cell !== null && at === 0) return false;
      if (cell !== null) arena.heap.u8.set(cell, at);
      this.#found.push(cell === null ? null : { at, bytes: cell.length });
    }
    return true;
  }

  /** Returns the cell of a key that `find` has found. */
  text(id: number): PlacedText | null {
    if (this.#disk !== null) return this.#found[id]!;
    const { u32 } = this.#context.arena.heap;
    const view = (this.#index.views(this.#value) >>> 2) + this.#index.first(id) * 2;
    return u32[view] === 0 ? null : { at: u32[view]!, bytes: u32[view + 1]! };
  }

  /** Returns the cell of the only key in a list, or null if it is not found. Allocates no memory. */
  single(list: KeyList): string | null {
    if (!this.#isBuilt) throw new Error('a table is queried before it is read');
    this.#index.hash(list);
    const { heap } = this.#context.arena;
    if (this.#disk !== null) {
      const cell = this.#ask(this.#disk, list, 0) ?? null;
      return cell === null ? null : Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString('utf8');
    }
    this.#index.find(list);
    const id = heap.u32[list.ids >>> 2]!;
    const cell = id === KEY_ABSENT ? null : this.text(id);
    return cell === null ? null : Buffer.from(heap.u8.buffer, cell.at, cell.bytes).toString('utf8');
  }

  #ask(disk: DiskTable, { views, rows, hashes }: KeyList, i: number): Uint8Array | null | undefined {
    const { u32 } = this.#context.arena.heap;
    const view = (views >>> 2) + u32[(rows >>> 2) + i]! * 2;
    if (u32[view] === 0) return undefined;
    return disk.find(u32[(hashes >>> 2) + i * 2 + 1]!, u32[view]!, u32[view + 1]!);
  }
}
