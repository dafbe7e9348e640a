// Sorts rows that only the output processes afterwards. They are held as encoded output bytes, so that each row is
// encoded once and then only copied. In memory while the budget allows, otherwise in sorted files.
import type { Batch } from '../../batch/batch.ts';
import { ENTRY_BYTES, SORT_COUNTS_BYTES } from '../../kernel/layout/encoded-rows.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import type { Heap } from '../../memory/heap.ts';
import { SpillFile } from '../../memory/spill-file.ts';
import type { RowEmitter } from '../../output/sink/output-sink.ts';
import type { RowsAhead } from '../../output/writer.ts';
import type { Slices, Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { inSlices } from '../cells/cell-operator.ts';
import { EntryMerge, type EntryRun, FILE_RUN_BYTES, FileRun, memoryRun, PackedRun } from '../spill/entry-merge.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';

/**
 * Number of rows sorted at once: few at first, for small files, later as many as stay in the cache together with the
 * spare array.
 */
const CHUNK_ROWS_FIRST = 8192;
const CHUNK_ROWS = 65_536;

/** Number of files merged at once in addition to rows in memory: 1.3 MiB of buffers. */
const MERGE_WAYS = 16;

/**
 * Maximum number of files merged at once in the memory that rows occupied before. Writing all rows once more is far
 * slower than merging many files.
 */
const MERGE_WAYS_MOST = 128;

/** Makes the keys of rows that are then encoded. */
export class RowsWithKeys {
  readonly #context: OperatorContext;
  readonly #terms: readonly SortTerm[];
  readonly #keys: SortKeys;

  constructor(context: OperatorContext, terms: readonly SortTerm[]) {
    this.#context = context;
    this.#terms = terms;
    this.#keys = new SortKeys(context, terms);
  }

  /** @param store receives rows with the views of their keys, by physical row */
  *add(batch: Batch, store: (rows: Batch, keys: number) => void): Slices {
    // The rows are encoded from the original columns, because raw columns are the cheapest.
    const keyed = batch.withColumns(batch.columns);
    for (const { index } of this.#terms) if (keyed.columns[index]!.kind === 'raw') keyed.views(index);
    yield* this.#keys.editLong(keyed, this.#context.clock);
    inSlices(batch, (from, to) => {
      const keys = this.#keys.make(keyed.slice(from, to));
      if (keys === 0) return false;
      store(batch.slice(from, to), keys);
      return true;
    });
  }
}

/** Makes room for at least one more row. */
export interface RowRoom {
  /** Called if there is no entry for another row. */
  readonly moreEntries: () => void;
  /** Called if the budget refuses memory for the bytes of another row. The owner empties all rows. */
  readonly moreBytes: () => void;
}

/** Encoded rows in memory, with entries by which they are sorted. */
export class EncodedRows {
  readonly blocks: GrowingBlocks;
  /** Addresses of the entries, and of as many spare entries for sorting them. */
  entries: number;
  spare: number;
  count = 0;
  countMax: number;
  /** Total size of the rows and of their keys after the first 8 bytes, since `restart`. */
  sizeBytes = 0;
  /** Address of the program that has encoded the last rows. */
  program = 0;
  readonly #kernel: OperatorContext['kernel'];
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #reached: number;
  readonly #counts: number;

  constructor({ arena: { heap }, kernel }: OperatorContext, ahead: RowsAhead, countMax: number) {
    this.#kernel = kernel;
    this.#heap = heap;
    this.#ahead = ahead;
    this.blocks = new GrowingBlocks(heap);
    this.countMax = countMax;
    this.#reached = heap.allocate(8);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    this.entries = heap.allocate(countMax * ENTRY_BYTES * 2);
    this.spare = this.entries + countMax * ENTRY_BYTES;
  }

  /** @param keys views, by physical row, of keys of which none is a prefix of another */
  add(batch: Batch, keys: number, room: RowRoom): void {
    this.program = this.#ahead.load(batch);
    for (let from = 0; ; ) {
      const { blocks } = this;
      const start = blocks.next;
      const end = this.#kernel.exports.finishRows(
        this.program,
        batch.selection,
        from,
        batch.live,
        keys,
        this.entries + this.count * ENTRY_BYTES,
        this.entries + this.countMax * ENTRY_BYTES,
        start,
        blocks.limit,
        this.#reached,
      );
      blocks.next = end >>> 0;
      this.sizeBytes += blocks.next - start;
      const reached = this.#heap.u32[this.#reached >>> 2]!;
      this.count += reached - from;
      from = reached;
      if (from === batch.live) return;
      if (this.count === this.countMax) room.moreEntries();
      else if (!blocks.advance()) room.moreBytes();
    }
  }

  /** Enlarges the array of entries. Returns false if the budget refuses the memory. */
  grow(countMax: number): boolean {
    const bytes = countMax * ENTRY_BYTES;
    const at = this.#heap.tryAllocate(bytes * 2);
    if (at === 0) return false;
    this.#heap.u8.copyWithin(at, this.entries, this.entries + this.count * ENTRY_BYTES);
    this.#heap.release(this.entries, this.countMax * ENTRY_BYTES * 2);
    this.entries = at;
    this.spare = at + bytes;
    this.countMax = countMax;
    return true;
  }

  sort(): void {
    this.#kernel.exports.sortFinished(this.entries, this.spare, this.count, this.#counts);
  }

  /** Removes all rows. */
  restart(): void {
    this.count = 0;
    this.sizeBytes = 0;
    this.blocks.restart();
  }
}

export class EncodedRowSorter {
  readonly #context: OperatorContext;
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #keyed: RowsWithKeys;
  readonly #merge: EntryMerge;
  /** All rows in memory, and the entries of those that are not in `#runs` yet. */
  readonly #rows: EncodedRows;
  readonly #room: RowRoom = { moreEntries: () => this.#nextChunk(), moreBytes: () => this.#spill() };
  readonly #reached: number;
  #runs: PackedRun[] = [];
  #files: SpillFile[] = [];

  constructor(context: OperatorContext, ahead: RowsAhead, terms: readonly SortTerm[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#heap = heap;
    this.#ahead = ahead;
    this.#keyed = new RowsWithKeys(context, terms);
    this.#merge = new EntryMerge(context.arena, context.kernel);
    this.#rows = new EncodedRows(context, ahead, CHUNK_ROWS_FIRST);
    this.#reached = heap.allocate(8);
  }

  add(batch: Batch): Slices {
    return this.#keyed.add(batch, (rows, keys) => this.#rows.add(rows, keys, this.#room));
  }

  /** Emits the rows in order and yields from time to time. Rows that are not in a file are merged from memory. */
  *finish(): Steps {
    this.#rows.sort();
    const ways = this.#files.length > MERGE_WAYS ? this.#makeWay() : MERGE_WAYS;
    const readers = this.#files.slice(0, ways).map(() => new FileRun(this.#heap, this.#context.kernel));
    while (this.#files.length > ways) yield* this.#joinFiles(readers);
    const runs = [...this.#files.map((file, at) => readers[at]!.open(file)), ...this.#memoryRuns()];
    yield* this.#merge.merge(runs, (entries, count) => this.#ahead.write(this.#emitter(entries), count));
  }

  #nextChunk(): void {
    this.#rows.sort();
    const { entries: at, count, blocks } = this.#rows;
    const run = PackedRun.pack(this.#heap, this.#context.kernel, { at, count }, blocks);
    if (run === null) {
      this.#spill();
      return;
    }
    this.#runs.push(run);
    this.#rows.count = 0;
    if (this.#rows.countMax < CHUNK_ROWS) this.#rows.grow(CHUNK_ROWS);
  }

  #memoryRuns(): EntryRun[] {
    return [...this.#runs, memoryRun({ at: this.#rows.entries, count: this.#rows.count })];
  }

  /** Writes all rows, sorted, to a new file. */
  #spill(): void {
    this.#rows.sort();
    const file = new SpillFile(this.#context.spill);
    this.#merge.write(this.#memoryRuns(), file);
    this.#files.push(file);
    this.#runs = [];
    this.#rows.restart();
  }

  /** Frees memory. Returns the number of files that can be merged at once after all rows have been written to files. */
  #makeWay(): number {
    if (this.#rows.count > 0 || this.#runs.length > 0) this.#spill();
    const ways = Math.floor(this.#rows.blocks.release() / FILE_RUN_BYTES);
    return Math.min(Math.max(ways, MERGE_WAYS), MERGE_WAYS_MOST);
  }

  /** Merges adjacent files only, because the order of the files is the order of equal rows. */
  *#joinFiles(readers: readonly FileRun[]): Iterable<void> {
    const joined: SpillFile[] = [];
    for (let from = 0; from < this.#files.length; from += readers.length) {
      const some = this.#files.slice(from, from + readers.length);
      const file = new SpillFile(this.#context.spill);
      const runs = some.map((one, at) => readers[at]!.open(one));
      this.#merge.write(runs, file);
      for (const one of some) one.drop();
      joined.push(file);
      yield;
    }
    this.#files = joined;
  }

  #emitter(entries: number): RowEmitter {
    const { arena, kernel } = this.#context;
    const { heap } = arena;
    const { exports } = kernel;
    const gather = (from: number, to: number, out: number, limit: number) => {
      const next = exports.gatherFinished(this.#rows.program, entries, from, to, out, limit, this.#reached) >>> 0;
      return { rows: heap.u32[this.#reached >>> 2]! - from, next };
    };
    return {
      emit: gather,
      *pieces(position) {
        const mark = arena.next;
        const bytes = exports.packedBytes(entries + position * ENTRY_BYTES) >>> 0;
        const out = arena.take(bytes);
        const { next } = gather(position, position + 1, out, out + bytes);
        yield heap.u8.subarray(out, next);
        arena.release(mark);
      },
    };
  }
}
