// Sorts rows that nothing but the output sees afterwards: they are held as the bytes that they become there, so that each is
// written while it is at hand and only copied to its place. In memory while the budget allows, else in sorted files.
import type { Batch } from '../../batch/batch.ts';
import { ENTRY_BYTES, SORT_COUNTS_BYTES } from '../../kernel/layout/encoded-rows.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import type { Heap } from '../../memory/heap.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { RowEmitter } from '../../output/sink/output-buffer.ts';
import type { RowsAhead } from '../../output/writer.ts';
import type { Steps } from '../../run/time-slices.ts';
import { inSlices } from '../cells/slices.ts';
import { EntryMerge, type EntryRun, FILE_RUN_BYTES, FileRun, memoryRun } from '../spill/entry-merge.ts';
import { PackedRun } from '../spill/packed-run.ts';
import { SpillFile } from '../spill/spill-file.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';

/** Rows that are sorted at once: the first few for small files, later as many as stay in the cache with their spare array. */
const CHUNK_ROWS_FIRST = 8192;
const CHUNK_ROWS = 65_536;

/** Files read at once beside rows in memory: 1.3 MiB of buffers. */
const MERGE_WAYS = 16;

/** Files read at once where rows lay before: to write all rows once more costs far more than to merge from many files. */
const MERGE_WAYS_MOST = 128;

export class EncodedRowSorter {
  readonly #context: OperatorContext;
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #terms: readonly SortTerm[];
  readonly #keys: SortKeys;
  readonly #merge: EntryMerge;
  readonly #blocks: GrowingBlocks;
  readonly #reached: number;
  readonly #counts: number;
  /** Entries of the last rows, which are not sorted yet, room for them, and as much spare room to sort them. */
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
    this.#terms = terms;
    this.#keys = new SortKeys(context, terms);
    this.#merge = new EntryMerge(context.arena, context.kernel);
    this.#blocks = new GrowingBlocks(heap);
    this.#reached = heap.allocate(8);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    this.#entries = heap.allocate(CHUNK_ROWS_FIRST * ENTRY_BYTES * 2);
    this.#spare = this.#entries + CHUNK_ROWS_FIRST * ENTRY_BYTES;
  }

  add(batch: Batch): void {
    // The rows are written from the columns as they are: raw ones cost least.
    const keyed = batch.withColumns(batch.columns);
    for (const { index } of this.#terms) if (keyed.columns[index]!.kind === 'raw') keyed.views(index);
    inSlices(batch, (from, to) => {
      const keys = this.#keys.make(keyed.slice(from, to));
      if (keys === 0) return false;
      this.#store(batch.slice(from, to), keys);
      return true;
    });
  }

  /** Hands the rows on in their order; yields now and then. What did not go to a file is merged from where it lies. */
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

  /** An empty chunk becomes as large as later ones are, if the budget allows it. */
  #growChunk(): void {
    const bytes = CHUNK_ROWS * ENTRY_BYTES;
    const at = this.#heap.tryAllocate(bytes * 2);
    if (at === 0) return;
    this.#heap.giveBack(this.#entries, this.#rowsMax * ENTRY_BYTES * 2);
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

  /** Gives how many files can be read at once once all rows are in files. */
  #makeWay(): number {
    if (this.#rows > 0 || this.#runs.length > 0) this.#spill();
    const ways = Math.floor(this.#blocks.giveBack() / FILE_RUN_BYTES);
    return Math.min(Math.max(ways, MERGE_WAYS), MERGE_WAYS_MOST);
  }

  /** Neighbours become one: the order of the files is that of equal rows. */
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
