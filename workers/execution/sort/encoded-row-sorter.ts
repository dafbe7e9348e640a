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

export class EncodedRowSorter {
  readonly #context: OperatorContext;
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #keyed: RowsWithKeys;
  readonly #merge: EntryMerge;
  readonly #blocks: GrowingBlocks;
  readonly #reached: number;
  readonly #counts: number;
  /** Addresses of the unsorted entries of the last rows, and of the spare array for sorting them. */
  #entries: number;
  #spare: number;
  #rows = 0;
  #rowsMax = CHUNK_ROWS_FIRST;
  #runs: PackedRun[] = [];
  #program = 0;
  #files: SpillFile[] = [];

  constructor(context: OperatorContext, ahead: RowsAhead, terms: readonly SortTerm[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#heap = heap;
    this.#ahead = ahead;
    this.#keyed = new RowsWithKeys(context, terms);
    this.#merge = new EntryMerge(context.arena, context.kernel);
    this.#blocks = new GrowingBlocks(heap);
    this.#reached = heap.allocate(8);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    this.#entries = heap.allocate(CHUNK_ROWS_FIRST * ENTRY_BYTES * 2);
    this.#spare = this.#entries + CHUNK_ROWS_FIRST * ENTRY_BYTES;
  }

  add(batch: Batch): Slices {
    return this.#keyed.add(batch, (rows, keys) => this.#store(rows, keys));
  }

  /** Emits the rows in order and yields from time to time. Rows that are not in a file are merged from memory. */
  *finish(): Steps {
    this.#sortChunk();
    const ways = this.#files.length > MERGE_WAYS ? this.#makeWay() : MERGE_WAYS;
    const readers = this.#files.slice(0, ways).map(() => new FileRun(this.#heap, this.#context.kernel));
    while (this.#files.length > ways) yield* this.#joinFiles(readers);
    const runs = [...this.#files.map((file, at) => readers[at]!.open(file)), ...this.#memoryRuns()];
    yield* this.#merge.merge(runs, (entries, count) => this.#ahead.write(this.#emitter(entries), count));
  }

  #store(batch: Batch, keys: number): void {
    const program = this.#ahead.load(batch);
    this.#program = program;
    for (let from = 0; ; ) {
      const blocks = this.#blocks;
      const end = this.#context.kernel.exports.finishRows(
        program,
        batch.selection,
        from,
        batch.live,
        keys,
        this.#entries + this.#rows * ENTRY_BYTES,
        this.#entries + this.#rowsMax * ENTRY_BYTES,
        blocks.next,
        blocks.limit,
        this.#reached,
      );
      blocks.next = end >>> 0;
      const reached = this.#heap.u32[this.#reached >>> 2]!;
      this.#rows += reached - from;
      from = reached;
      if (from === batch.live) return;
      if (this.#rows === this.#rowsMax) this.#nextChunk();
      else if (!blocks.advance()) this.#spill();
    }
  }

  #nextChunk(): void {
    this.#sortChunk();
    const entries = { at: this.#entries, count: this.#rows };
    const run = PackedRun.pack(this.#heap, this.#context.kernel, entries, this.#blocks);
    if (run === null) {
      this.#spill();
      return;
    }
    this.#runs.push(run);
    this.#rows = 0;
    if (this.#rowsMax < CHUNK_ROWS) this.#growChunk();
  }

  /** Enlarges an empty chunk to the size of later chunks, if the budget allows. */
  #growChunk(): void {
    const bytes = CHUNK_ROWS * ENTRY_BYTES;
    const at = this.#heap.tryAllocate(bytes * 2);
    if (at === 0) return;
    this.#heap.release(this.#entries, this.#rowsMax * ENTRY_BYTES * 2);
    this.#entries = at;
    this.#spare = at + bytes;
    this.#rowsMax = CHUNK_ROWS;
  }

  #sortChunk(): void {
    this.#context.kernel.exports.sortFinished(this.#entries, this.#spare, this.#rows, this.#counts);
  }

  #memoryRuns(): EntryRun[] {
    return [...this.#runs, memoryRun({ at: this.#entries, count: this.#rows })];
  }

  /** Writes all rows, sorted, to a new file. */
  #spill(): void {
    this.#sortChunk();
    const file = new SpillFile(this.#context.spill);
    this.#merge.write(this.#memoryRuns(), file);
    this.#files.push(file);
    this.#runs = [];
    this.#rows = 0;
    this.#blocks.restart();
  }

  /** Frees memory. Returns the number of files that can be merged at once after all rows have been written to files. */
  #makeWay(): number {
    if (this.#rows > 0 || this.#runs.length > 0) this.#spill();
    const ways = Math.floor(this.#blocks.release() / FILE_RUN_BYTES);
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
      const next = exports.gatherFinished(this.#program, entries, from, to, out, limit, this.#reached) >>> 0;
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
