// The cells of one column of a reference table by their key, in a file: for tables that the budget refuses and whose rows
// may be asked for at any time. In memory are a directory of the file's pages and the pages that were read last.
import type { OperatorContext } from '../../operations/operation.ts';
import { inSlices } from '../cells/slices.ts';
import { RowCodec } from '../spill/row-codec.ts';
import type { SpillFile } from '../spill/spill-file.ts';
import { BATCH_ROOM, SpillReader } from '../spill/spill-reader.ts';
import type { TableRows } from '../tables/table-rows.ts';
import { ENTRY_HEADER_BYTES, EntrySorter, entryBytes, readU32, VALUE_NULL } from './entry-sorter.ts';
import { rowsWithKeys, type TableIndex } from './table-index.ts';

/** A page ends with the first entry that begins behind so many bytes and has another hash than the one before. */
const PAGE_BYTES = 12_288;

/** Room of a page that is kept: a larger one is read anew each time. */
const KEPT_PAGE_BYTES = 16_384;

/** Pages that are kept, by the low bits of their number: a file mostly asks for the same few keys. 1 MiB. */
const PAGES_KEPT = 64;

/** Of the directory, for each page: its first hash (u32) and where it begins in the file (f64). */
const DIRECTORY_BYTES = 12;

export type DiskTableContext = Pick<OperatorContext, 'arena' | 'kernel' | 'spill'>;

/** For each page its first hash and where it begins in the file. */
interface Directory {
  readonly firsts: readonly number[];
  readonly starts: readonly number[];
}

export class DiskTable {
  /** Bytes of the longest key. */
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
   * Reads the whole table, yielding meanwhile.
   * @param index knows the key, and is not loaded
   * @param value the column that is asked for
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
   * The bytes of the cell of the first row with a key, valid until the next call; null for a null, undefined when the table
   * does not have the key. Allocates nothing in the Run's memory.
   *
   * @param hash the high half of the index's hash
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

  /** The last page whose first hash is not above the hash, -1 when there is none: no hash is on two pages. */
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

/** Gives the bytes of the longest key. */
function* addEntries(
  sorter: EntrySorter,
  { arena, kernel }: DiskTableContext,
  table: TableRows,
  index: TableIndex,
  value: number,
): Generator<void, number> {
  const { heap } = arena;
  const codec = new RowCodec(heap, kernel, new Array(table.columns.length).fill('text'));
  const reader = new SpillReader(arena, codec, BATCH_ROOM);
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
