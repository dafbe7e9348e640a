// Sorts rows: in memory while the budget allows, otherwise in sorted files that are merged.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import { ENTRY_BYTES, ENTRY_RECORD, SORT_COUNTS_BYTES } from '../../kernel/layout/records.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import { PAUSE, type Pauses, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import { byKey, mergeFiles } from '../spill/ordered-merge.ts';
import { RowCodec, targetBatch } from '../spill/row-codec.ts';

/**
 * Size of a new block of records relative to the existing ones. Small, because several sorters may exist at the same
 * time.
 */
const BLOCK_PART = 1 / 4;

/** Initial number of entries: two batches of rows. */
const ENTRIES_FIRST = 8192;
const ENTRIES_GROWTH = 1.5;

/** Number of rows in a sorted batch, and number of record bytes written at once. */
const SORTED_ROWS = 2048;
const GATHER_BYTES = 65_536;

/** Computes the bytes by which rows are sorted. */
export interface RowOrder {
  /** Creates what outlives a piece of the batch. */
  prepare(batch: Batch): void;
  /** Does long work of `make` with pauses, in a batch whose columns are typed or have views. */
  editLong?(batch: Batch, clock: Pauses): Slices;
  /** Returns views, by physical row, of the non-null keys of all live rows, or 0 if the arena is full. */
  make(batch: Batch): number;
}

/** The rows that are needed. The sorter may drop all others. */
export interface WantedRows {
  /** Number of rows from the beginning of the order. */
  readonly first: number;
  /**
   * If set, that number applies to each group. The value is the number of leading key columns (RowKeys) that form the
   * group. null for a limit over all rows.
   */
  readonly groups: number | null;
}

type BatchCut = (batch: Batch, isLast: boolean) => number;

const ALL_ROWS: WantedRows = { first: Number.POSITIVE_INFINITY, groups: null };

/** If dropping rows has little effect, the next attempt is made when the number of rows has grown by this factor. */
const RARE_CUTS = 4;

/** What a sorter needs of an operator's context. */
export type SorterContext = Pick<OperatorContext, 'arena' | 'clock' | 'kernel' | 'spill'>;

export class RowSorter {
  readonly #context: SorterContext;
  readonly #types: readonly StoredType[];
  readonly #codec: RowCodec;
  readonly #order: RowOrder;
  readonly #counts: number;
  readonly #wanted: WantedRows;
  /** Blocks with the records of the rows. */
  #blocks: GrowingBlocks;
  /** Empty blocks that remain since the kept rows were compacted, or null. */
  #emptied: GrowingBlocks | null = null;
  /** Address of the record of the last row that is needed. 0 while all rows are needed, and for limits per group. */
  #last = 0;
  /** Number of rows at which unneeded rows are dropped. */
  #cutAt: number;
  readonly #runs: SpillFile[] = [];
  #entries: number;
  #entriesMax = ENTRIES_FIRST;
  #count = 0;
  #taken = 0;

  /** @param types column types of the batches that will be added */
  constructor(context: SorterContext, types: readonly StoredType[], order: RowOrder, wanted: WantedRows = ALL_ROWS) {
    this.#wanted = wanted;
    this.#cutAt = this.#cutAfter(wanted.groups === null ? wanted.first : 0);
    const { heap } = context.arena;
    this.#context = context;
    this.#types = ['text', ...types];
    this.#order = order;
    this.#codec = new RowCodec(heap, context.kernel, this.#types);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    this.#entries = heap.allocate(ENTRIES_FIRST * ENTRY_BYTES * 2);
    this.#blocks = new GrowingBlocks(heap, BLOCK_PART);
  }

  /** Makes `add` of the same batch short, whatever the length of its texts. */
  *editLong(batch: Batch): Slices {
    if (this.#order.editLong === undefined) return;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    yield* this.#order.editLong(batch, this.#context.clock);
  }

  add(batch: Batch): void {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    this.#order.prepare(batch);
    inSlices(batch, (from, to) => {
      const piece = batch.slice(from, to);
      const { arena } = batch;
      const keys = this.#order.make(piece);
      const orders = arena.tryTake(piece.live * 8);
      if (keys === 0 || orders === 0) return false;
      const wanted = this.#last === 0 ? piece : this.#beforeLast(piece, keys);
      if (wanted === null) return false;
      for (let i = 0; i < wanted.live; i++) arena.heap.f64[(orders >>> 3) + i] = this.#taken + i;
      this.#taken += piece.live;
      this.#store(wanted.withColumns([{ kind: 'views', at: keys }, ...piece.columns]), orders);
      if (this.#count >= this.#cutAt) this.#cut();
      return true;
    });
  }

  /**
   * Emits the rows in order, in batches that are valid until `next` has finished with them. Their first column is the
   * key, followed by the added columns. It ends early once `wanted` returns 0. `cut` may shorten a batch whose rows are
   * in memory: it returns how many rows to emit, at least one, and the others are part of the next batch.
   */
  *finish(next: Next, wanted: () => number = () => 1, cut: BatchCut = ({ live }) => live): Steps {
    const { arena, kernel, spill } = this.#context;
    if (this.#runs.length === 0) yield* this.#emitSorted(next, wanted, cut);
    else this.#spill();
    this.#release();
    if (this.#runs.length === 0) return;
    const tools = { arena, kernel, spill, types: this.#types };
    for (const step of mergeFiles(tools, this.#runs, byKey(arena), next)) {
      yield step;
      if (step !== PAUSE && wanted() === 0) return;
    }
  }

  /** Releases the memory of the rows, which are in files or have been emitted, so that later sorters can use it. */
  #release(): void {
    const { heap } = this.#context.arena;
    heap.release(this.#entries, this.#entriesMax * ENTRY_BYTES * 2);
    this.#blocks.release();
    this.#emptied?.release();
  }

  /**
   * Selects the rows that sort before the last needed row. An equal row sorts after it. Returns null if the arena is
   * full.
   */
  #beforeLast(piece: Batch, keys: number): Batch | null {
    const { arena, kernel } = this.#context;
    const kept = arena.tryTake(piece.live * 4);
    if (kept === 0) return null;
    const live = kernel.exports.keepBefore(keys, piece.selection, piece.live, this.#last, kept);
    return piece.withSelection(kept, live);
  }

  /** Drops the rows that are not needed, and compacts the others if they are fewer than half. */
  #cut(): void {
    const { heap } = this.#context.arena;
    const before = this.#count;
    const entries = this.#sortWanted();
    if (this.#count * 2 < before) {
      this.#moveTogether(entries);
      this.#cutAt = this.#cutAfter(this.#count);
    } else {
      this.#context.kernel.exports.reloadEntries(entries, this.#count);
      this.#cutAt = before * RARE_CUTS;
    }
    if (entries !== this.#entries) heap.u8.copyWithin(this.#entries, entries, entries + this.#count * ENTRY_BYTES);
    if (this.#wanted.groups === null) {
      this.#last = heap.u32[(this.#entries + (this.#count - 1) * ENTRY_BYTES + ENTRY_RECORD) >>> 2]!;
    }
  }

  /**
   * Number of rows at which to drop rows again, if `rows` rows are kept: twice as many, but at least a batch or two
   * more.
   */
  #cutAfter(rows: number): number {
    return rows * 2 + ENTRIES_FIRST;
  }

  /** Sorts the rows and counts only the needed ones, which come first. */
  #sortWanted(): number {
    const { first, groups } = this.#wanted;
    const entries = this.#sort();
    const { keepOfGroups } = this.#context.kernel.exports;
    if (groups === null) this.#count = Math.min(this.#count, first);
    else this.#count = keepOfGroups(entries, this.#count, groups, first);
    return entries;
  }

  #moveTogether(entries: number): void {
    const { heap } = this.#context.arena;
    const old = this.#blocks;
    this.#emptied?.restart();
    this.#blocks = this.#emptied ?? new GrowingBlocks(heap, BLOCK_PART);
    if (this.#moveRecords(entries)) this.#emptied = old;
    else {
      // There was no memory for all records. Records that were already moved are not moved back.
      this.#context.kernel.exports.reloadEntries(entries, this.#count);
      this.#emptied = null;
      this.#blocks.absorb(old);
    }
  }

  /** Copies the records of the entries to the blocks without gaps. Returns false if the budget refused a block. */
  #moveRecords(entries: number): boolean {
    const { arena, kernel } = this.#context;
    const blocks = this.#blocks;
    const mark = arena.next;
    const reached = arena.take(8);
    let from = 0;
    do {
      const at = blocks.next;
      const end = kernel.exports.gatherRecords(entries, from, this.#count, at, blocks.limit, reached) >>> 0;
      kernel.exports.listRecords(at, end, entries + from * ENTRY_BYTES);
      from = arena.heap.u32[reached >>> 2]!;
      blocks.next = end;
    } while (from < this.#count && blocks.advance());
    arena.release(mark);
    return from === this.#count;
  }

  #store(batch: Batch, orders: number): void {
    if (!this.#growEntries(batch.live)) this.#spill();
    for (let from = 0; from < batch.live; ) {
      const at = this.#blocks.next;
      const list = { rows: batch.selection, from, count: batch.live, orders };
      const { next, reached } = this.#codec.encode(batch, list, at, this.#blocks.limit);
      const entries = this.#entries + this.#count * ENTRY_BYTES;
      this.#count += this.#context.kernel.exports.listRecords(at, next, entries);
      this.#blocks.next = next;
      from = reached;
      if (from < batch.live && !this.#blocks.advance()) this.#spill();
    }
  }

  #growEntries(rows: number): boolean {
    if (this.#count + rows <= this.#entriesMax) return true;
    const { heap } = this.#context.arena;
    const entriesMax = Math.max(Math.floor(this.#entriesMax * ENTRIES_GROWTH), rows * 2, this.#count + rows);
    const at = heap.tryAllocate(entriesMax * ENTRY_BYTES * 2, rows > this.#entriesMax);
    if (at === 0) return false;
    heap.u8.copyWithin(at, this.#entries, this.#entries + this.#count * ENTRY_BYTES);
    // The outgrown region is used for records.
    this.#blocks.adopt(this.#entries, this.#entriesMax * ENTRY_BYTES * 2);
    this.#entries = at;
    this.#entriesMax = entriesMax;
    return true;
  }

  /** Writes all rows, sorted, to a new file. */
  #spill(): void {
    const { arena, kernel, spill } = this.#context;
    const file = new SpillFile(spill);
    const entries = this.#sortWanted();
    const count = this.#count;
    const mark = arena.next;
    const reached = arena.take(8);
    const buffer = arena.take(GATHER_BYTES);
    for (let from = 0; from < count; ) {
      const end = kernel.exports.gatherRecords(entries, from, count, buffer, buffer + GATHER_BYTES - 64, reached) >>> 0;
      file.append(arena.heap.u8.subarray(buffer, end));
      from = arena.heap.u32[reached >>> 2]!;
      if (end > buffer) continue;
      const record = arena.heap.u32[(entries + from * ENTRY_BYTES + ENTRY_RECORD) >>> 2]!;
      const bytes = Buffer.from(arena.heap.u8.buffer, record, 4).readUInt32LE(0);
      file.append(arena.heap.u8.subarray(record, record + bytes));
      from++;
    }
    arena.release(mark);
    this.#runs.push(file);
    this.#last = 0;
    this.#count = 0;
    this.#blocks.restart();
  }

  #sort(): number {
    const spare = this.#entries + this.#entriesMax * ENTRY_BYTES;
    return this.#context.kernel.exports.sortEntries(this.#entries, spare, this.#count, this.#counts) >>> 0;
  }

  *#emitSorted(next: Next, wanted: () => number, cut: BatchCut): Steps {
    const { arena } = this.#context;
    const rowsMax = this.#codec.rowsWithin(SORTED_ROWS);
    const target = this.#codec.target(rowsMax);
    const selection = arena.heap.allocate(rowsMax * 4);
    for (let row = 0; row < rowsMax; row++) arena.heap.u32[(selection >>> 2) + row] = row;
    const entries = this.#sortWanted();
    for (let from = 0; from < this.#count && wanted() > 0; ) {
      const rows = Math.min(rowsMax, this.#count - from);
      this.#codec.decodeEntries(target, entries + from * ENTRY_BYTES, rows);
      const columns = this.#codec.columns(target, rows);
      const mark = arena.next;
      const batch = targetBatch({ arena, columns, rows, selection, sources: target.sources });
      const emitted = cut(batch, from + rows === this.#count);
      yield* next(batch.slice(0, emitted));
      arena.release(mark);
      from += emitted;
      yield;
    }
  }
}
