// Merges sorted runs of encoded rows from memory and files, and packs the entries of runs in memory.
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { ALL_ENTER, ENTRY_BYTES, PLAYER_BYTES, RUN_BYTES, RUN_STATE_BYTES } from '../../kernel/layout/encoded-rows.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Heap } from '../../memory/heap.ts';
import type { SpillBytes } from '../../memory/spill-file.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';

// Merges sorted runs of encoded rows (kernel/assembly/encoded-rows.ts) from memory and files into one order. If rows
// are equal, those of the earlier run come first.

/** Number of entries emitted at once. */
const MERGED_ROWS = 4096;

/** Buffer of a run in a file, and number of its rows read at once. A larger row gets a larger buffer. */
const FILE_BUFFER_BYTES = 65_536;
const FILE_ROWS = 1024;

/** Memory of a run in a file, except for larger rows. */
export const FILE_RUN_BYTES = FILE_BUFFER_BYTES + FILE_ROWS * ENTRY_BYTES;

/** Number of record bytes written to a file at once. */
const PACK_BYTES = 65_536;

/** Consecutive entries. */
interface Entries {
  readonly at: number;
  readonly count: number;
}

/** A sorted run. */
export interface EntryRun {
  /** Returns the next entries, valid until the next call, or null at the end. */
  next(): Entries | null;
}

/** A run that is completely in memory. */
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

/** Resets the state of a kernel that packs or lists a run. */
function beginRun(heap: Heap, state: number): void {
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

  /** Calls `emit` with entries that are valid until it has finished. Yields after each call. */
  *merge(runs: readonly EntryRun[], emit: (entries: number, count: number) => Slices): Steps {
    this.#reserve(runs.length);
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

  /** Writes the merged runs to a file that a FileRun can read. */
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
      const buffer = this.#arena.take(bytes);
      const rowEnd = packFinished(entries, from, from + 1, buffer, buffer + bytes, this.#state) >>> 0;
      file.append(this.#heap.u8.subarray(buffer, rowEnd));
      this.#arena.release(mark);
      from++;
    }
  }

  #reserve(runs: number): void {
    if (this.#merged === 0) this.#merged = this.#heap.allocate(MERGED_ROWS * ENTRY_BYTES);
    if (runs <= this.#runsMax) return;
    this.#runsMax = runs * 2;
    this.#table = this.#heap.allocate(this.#runsMax * RUN_BYTES);
    this.#tree = this.#heap.allocate(this.#runsMax * PLAYER_BYTES);
  }

  /** Writes the run's next entries into the table. Returns false at the end of the run. */
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

/** Reads several files, one after the other, each as a run. */
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

  /** Returns false at the end of the file. */
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

// A sorted run of encoded rows whose entries are packed in memory (kernel/assembly/encoded-rows.ts).

/** Number of entries listed at once. */
const LISTED_ROWS = 512;

/** Space for consecutive records. */
export interface PackedSpace {
  next: number;
  readonly limit: number;
  /** Moves to a place with more space. Returns false if there is no such place. */
  advance(): boolean;
  /** Allocates bytes at a multiple of 16. Returns 0 if there is no space. */
  take(bytes: number): number;
}

interface Piece {
  readonly from: number;
  readonly end: number;
}

export class PackedRun implements EntryRun {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #state: number;
  readonly #pieces: readonly Piece[];
  #piece = 0;
  #from = 0;

  private constructor(heap: Heap, kernel: Kernel, state: number, pieces: readonly Piece[]) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#state = state;
    this.#pieces = pieces;
    beginRun(heap, state);
  }

  /** Returns null if there is no space for the whole run. */
  static pack(heap: Heap, kernel: Kernel, { at, count }: Entries, space: PackedSpace): PackedRun | null {
    const state = space.take(RUN_STATE_BYTES + LISTED_ROWS * ENTRY_BYTES);
    if (state === 0) return null;
    beginRun(heap, state);
    const pieces: Piece[] = [];
    for (let packed = 0; packed < count; ) {
      const from = space.next;
      const end = kernel.exports.packEntries(at, packed, count, from, space.limit, state) >>> 0;
      packed = heap.u32[state >>> 2]!;
      pieces.push({ from, end });
      space.next = end;
      if (packed < count && !space.advance()) return null;
    }
    return new PackedRun(heap, kernel, state, pieces);
  }

  next(): Entries | null {
    for (; this.#piece < this.#pieces.length; this.#piece++) {
      const { from, end } = this.#pieces[this.#piece]!;
      const at = this.#state + RUN_STATE_BYTES;
      const start = Math.max(this.#from, from);
      const count = this.#kernel.exports.listEntries(start, end, at, LISTED_ROWS, this.#state);
      this.#from = this.#heap.u32[this.#state >>> 2]!;
      if (count > 0) return { at, count };
      this.#from = 0;
    }
    return null;
  }
}
