// Merges sorted runs of finished rows (kernel/assembly/encoded-rows.ts), from memory and from files, into one order; of
// equal rows those of the earlier run come first.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { ALL_ENTER, ENTRY_BYTES, PLAYER_BYTES, RUN_BYTES, RUN_STATE_BYTES } from '../../kernel/layout/encoded-rows.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import type { SpillBytes } from './spill-file.ts';

/** Entries that are handed on at once. */
const MERGED_ROWS = 4096;

/** Bytes that a run of a file lies with, and rows of it at once: more for a row that is larger. */
const FILE_BUFFER_BYTES = 65_536;
const FILE_ROWS = 1024;

/** What a run of a file takes, but for larger rows. */
export const FILE_RUN_BYTES = FILE_BUFFER_BYTES + FILE_ROWS * ENTRY_BYTES;

/** Bytes of records that go to a file at once. */
const PACK_BYTES = 65_536;

/** Some entries that lie one behind the other. */
export interface Entries {
  readonly at: number;
  readonly count: number;
}

/** A sorted run. */
export interface EntryRun {
  /** The entries that come next, valid until the next call; null: it is at its end. */
  next(): Entries | null;
}

/** All of it lies in memory. */
export function memoryRun(entries: Entries): EntryRun {
  let left: Entries | null = entries.count === 0 ? null : entries;
  return {
    next() {
      const given = left;
      left = null;
      return given;
    },
  };
}

/** Makes the state of who packs or lists a run that of its start. */
export function beginRun(heap: Heap, state: number): void {
  heap.u8.fill(0, state, state + RUN_STATE_BYTES);
}

export class EntryMerge {
  readonly #arena: Arena;
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  #runsMax = 0;
  #table = 0;
  #tree = 0;
  #merged = 0;
  #packed = 0;
  readonly #state: number;

  constructor(arena: Arena, kernel: Kernel) {
    this.#arena = arena;
    this.#heap = arena.heap;
    this.#kernel = kernel;
    this.#state = arena.heap.allocate(RUN_STATE_BYTES);
  }

  /** Calls `emit` with entries that are valid until it is done; yields after each. */
  *merge(runs: readonly EntryRun[], emit: (entries: number, count: number) => Slices): Steps {
    this.#makeRoom(runs.length);
    const sources: EntryRun[] = [];
    for (const run of runs) if (this.#place(run, sources.length)) sources.push(run);
    let entering: number = ALL_ENTER;
    while (sources.length > 0) {
      const count = this.#kernel.exports.mergeFinished(
        this.#table,
        sources.length,
        this.#tree,
        this.#merged,
        MERGED_ROWS,
        entering,
      );
      yield* emit(this.#merged, count);
      yield;
      const empty = this.#emptyRun(sources.length);
      entering = empty ?? sources.length;
      if (empty === null || this.#place(sources[empty]!, empty)) continue;
      entering = ALL_ENTER;
      const from = this.#table + (empty + 1) * RUN_BYTES;
      this.#heap.u8.copyWithin(from - RUN_BYTES, from, this.#table + sources.length * RUN_BYTES);
      sources.splice(empty, 1);
    }
  }

  /** Writes the merged runs to a file, from which a FileRun reads them. */
  write(runs: readonly EntryRun[], file: SpillBytes): void {
    if (this.#packed === 0) this.#packed = this.#heap.allocate(PACK_BYTES);
    beginRun(this.#heap, this.#state);
    const pack = (entries: number, count: number): Slices => {
      this.#pack(entries, count, file);
      return DONE;
    };
    for (const _ of this.merge(runs, pack));
  }

  #pack(entries: number, count: number, file: SpillBytes): void {
    const { packFinished, packedBytes } = this.#kernel.exports;
    for (let from = 0; from < count; ) {
      const limit = this.#packed + PACK_BYTES;
      const end = packFinished(entries, from, count, this.#packed, limit, this.#state) >>> 0;
      file.append(this.#heap.u8.subarray(this.#packed, end));
      from = this.#heap.u32[this.#state >>> 2]!;
      if (from === count || end > this.#packed) continue;
      const mark = this.#arena.next;
      const bytes = packedBytes(entries + from * ENTRY_BYTES) >>> 0;
      const room = this.#arena.take(bytes);
      const rowEnd = packFinished(entries, from, from + 1, room, room + bytes, this.#state) >>> 0;
      file.append(this.#heap.u8.subarray(room, rowEnd));
      this.#arena.release(mark);
      from++;
    }
  }

  #makeRoom(runs: number): void {
    if (this.#merged === 0) this.#merged = this.#heap.allocate(MERGED_ROWS * ENTRY_BYTES);
    if (runs <= this.#runsMax) return;
    this.#runsMax = runs * 2;
    this.#table = this.#heap.allocate(this.#runsMax * RUN_BYTES);
    this.#tree = this.#heap.allocate(this.#runsMax * PLAYER_BYTES);
  }

  /** Puts the run's next entries into the table; false when it is at its end. */
  #place(run: EntryRun, index: number): boolean {
    const entries = run.next();
    if (entries === null) return false;
    this.#heap.u32.set([entries.at, entries.at + entries.count * ENTRY_BYTES], (this.#table >>> 2) + index * 2);
    return true;
  }

  #emptyRun(runs: number): number | null {
    const { u32 } = this.#heap;
    for (let index = 0, slot = this.#table >>> 2; index < runs; index++, slot += 2) {
      if (u32[slot] === u32[slot + 1]) return index;
    }
    return null;
  }
}

/** Reads one file after the other, each a run. */
export class FileRun implements EntryRun {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #entries: number;
  readonly #state: number;
  #buffer: number;
  #bufferBytes = FILE_BUFFER_BYTES;
  #file: SpillBytes | null = null;
  #position = 0;
  #from = 0;
  #end = 0;

  constructor(heap: Heap, kernel: Kernel) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#entries = heap.allocate(FILE_ROWS * ENTRY_BYTES);
    this.#state = heap.allocate(RUN_STATE_BYTES);
    this.#buffer = heap.allocate(FILE_BUFFER_BYTES);
  }

  open(file: SpillBytes): this {
    this.#file = file;
    this.#position = 0;
    this.#from = this.#buffer;
    this.#end = this.#buffer;
    beginRun(this.#heap, this.#state);
    return this;
  }

  next(): Entries | null {
    for (;;) {
      const { listFinished } = this.#kernel.exports;
      const count = listFinished(this.#from, this.#end, this.#entries, FILE_ROWS, this.#state);
      this.#from = this.#heap.u32[this.#state >>> 2]!;
      if (count > 0) return { at: this.#entries, count };
      if (!this.#fill()) return null;
    }
  }

  /** False at the end of the file. */
  #fill(): boolean {
    const file = this.#file!;
    const left = this.#end - this.#from;
    if (this.#position === file.sizeBytes) {
      if (left > 0) throw new Error('a spill file ends within a row');
      return false;
    }
    if (left === this.#bufferBytes) {
      this.#bufferBytes *= 2;
      this.#buffer = this.#heap.allocate(this.#bufferBytes);
    }
    this.#heap.u8.copyWithin(this.#buffer, this.#from, this.#end);
    const start = this.#buffer + left;
    const got = file.read(this.#heap.u8.subarray(start, this.#buffer + this.#bufferBytes), this.#position);
    this.#position += got;
    this.#from = this.#buffer;
    this.#end = start + got;
    return true;
  }
}
