// Sorts the rows of a file that several threads process in parts. Each thread sorts the rows of each part and writes
// them, as encoded output bytes, to a file: a segment. The segments are then merged by several threads (SortedRangeReader).
// Between two parts a thread holds no rows, so it needs little memory and can leave the Run after any part.
import type { Batch } from '../../batch/batch.ts';
import { ENTRY_BYTES, RUN_STATE_BYTES, RUN_WORD, SORT_COUNTS_BYTES } from '../../kernel/layout/encoded-rows.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import type { Heap } from '../../memory/heap.ts';
import { SpillFile, SpillFolder } from '../../memory/spill-file.ts';
import type { RowEmitter } from '../../output/sink/output-sink.ts';
import type { RowsAhead } from '../../output/writer.ts';
import { Failed } from '../../protocol/failure.ts';
import type { Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext, SortedParts, SortedRanges } from '../../template/operation.ts';
import {
  BLOCK_WORDS,
  type Boundary,
  boundariesOf,
  REST_ALIGNMENT_BYTES,
  REST_BYTES_MAX,
  REST_CUT,
  readSegments,
  restOf,
  type Segment,
  type SegmentPiece,
  segmentHead,
} from './segment-index.ts';

// The files of one thread.

/** Receives the sorted rows of one thread: a file of rows, and a file with the index of the segments in it. */
export class SortedPartFiles implements SortedParts {
  readonly kind = 'collect';
  readonly #folder: SpillFolder;
  #rows: SpillFile | null = null;
  #index: SpillFile | null = null;
  #segments = 0;
  /** Number of the current part. */
  part = 0;
  /** True if the steps of the thread end with sorted rows instead of an output. */
  isUsed = false;

  /** @param folder for the files of all threads */
  constructor(folder: string, firstPart: number) {
    this.#folder = new SpillFolder(folder, `${firstPart}-`);
  }

  /** Names of the two files, and their content; null without rows. */
  get written(): { readonly names: readonly string[]; readonly segments: number; readonly sizeBytes: number } | null {
    if (this.#rows === null) return null;
    return { names: this.#folder.names, segments: this.#segments, sizeBytes: this.#rows.sizeBytes };
  }

  rows(): SpillFile {
    this.#rows ??= new SpillFile(this.#folder);
    return this.#rows;
  }

  index(): SpillFile {
    this.#index ??= new SpillFile(this.#folder);
    this.#segments++;
    return this.#index;
  }

  close(): void {
    this.#folder.closeFiles();
  }
}

// The rows of one part, and how they become segments.

/** Number of rows sorted at once: few at first, for small files, later the rows of most parts. */
const ROWS_FIRST = 8192;
const ROWS_MAX = 24_576;

/** Approximate distance between two entries of the index. */
const BLOCK_BYTES = 4096;

const BUFFER_BYTES = 131_072;

/** Sorts the rows of each part and writes them to the thread's files. */
export class SortedPartWriter {
  readonly #kernel: OperatorContext['kernel'];
  readonly #arena: OperatorContext['arena'];
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #files: SortedParts;
  readonly #rowBytes: GrowingBlocks;
  readonly #reached: number;
  readonly #counts: number;
  readonly #state: number;
  readonly #buffer: number;
  /** Addresses of the unsorted entries of the rows, and of the spare array for sorting them. */
  #entries: number;
  #spare: number;
  #rows = 0;
  #rowsMax = ROWS_FIRST;
  #blocks = new Uint32Array(1024 * BLOCK_WORDS);
  #rests = new Uint8Array(16_384);
  #restBytes = 0;

  constructor({ arena, kernel }: OperatorContext, ahead: RowsAhead, files: SortedParts) {
    const { heap } = arena;
    this.#kernel = kernel;
    this.#arena = arena;
    this.#heap = heap;
    this.#ahead = ahead;
    this.#files = files;
    this.#rowBytes = new GrowingBlocks(heap);
    this.#reached = heap.allocate(8);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    this.#state = heap.allocate(RUN_STATE_BYTES);
    this.#buffer = heap.allocate(BUFFER_BYTES);
    this.#entries = heap.allocate(ROWS_FIRST * ENTRY_BYTES * 2);
    this.#spare = this.#entries + ROWS_FIRST * ENTRY_BYTES;
  }

  /** @param keys views, by physical row, of keys of which none is a prefix of another */
  add(batch: Batch, keys: number): void {
    const program = this.#ahead.load(batch);
    for (let from = 0; ; ) {
      const rowBytes = this.#rowBytes;
      const end = this.#kernel.exports.finishRows(
        program,
        batch.selection,
        from,
        batch.live,
        keys,
        this.#entries + this.#rows * ENTRY_BYTES,
        this.#entries + this.#rowsMax * ENTRY_BYTES,
        rowBytes.next,
        rowBytes.limit,
        this.#reached,
      );
      rowBytes.next = end >>> 0;
      const reached = this.#heap.u32[this.#reached >>> 2]!;
      this.#rows += reached - from;
      from = reached;
      if (from === batch.live) return;
      if (this.#rows === this.#rowsMax) this.#makeRoom();
      else if (!rowBytes.advance()) this.endPart();
    }
  }

  /** Writes the rows since the last call, sorted. Also called within a part that has too many rows. */
  endPart(): void {
    if (this.#rows === 0) return;
    this.#kernel.exports.sortFinished(this.#entries, this.#spare, this.#rows, this.#counts);
    this.#writeSegment();
    this.#rows = 0;
    this.#rowBytes.restart();
  }

  /** Enlarges the array of entries if the budget allows, or empties it. */
  #makeRoom(): void {
    const bytes = ROWS_MAX * ENTRY_BYTES;
    const at = this.#rowsMax === ROWS_MAX ? 0 : this.#heap.tryAllocate(bytes * 2);
    if (at === 0) {
      this.endPart();
      return;
    }
    this.#heap.u8.copyWithin(at, this.#entries, this.#entries + this.#rows * ENTRY_BYTES);
    this.#heap.release(this.#entries, this.#rowsMax * ENTRY_BYTES * 2);
    this.#entries = at;
    this.#spare = at + bytes;
    this.#rowsMax = ROWS_MAX;
  }

  #writeSegment(): void {
    const { packFinished } = this.#kernel.exports;
    const file = this.#files.rows();
    const at = file.sizeBytes;
    const stateWord = this.#state >>> 2;
    const bufferEnd = this.#buffer + BUFFER_BYTES;
    this.#heap.u32.fill(0, stateWord, stateWord + (RUN_STATE_BYTES >>> 2));
    this.#restBytes = 0;
    let blocks = 0;
    let out = this.#buffer;
    for (let from = 0; from < this.#rows; blocks++) {
      if (out + BLOCK_BYTES > bufferEnd) {
        file.append(this.#heap.u8.subarray(this.#buffer, out));
        out = this.#buffer;
      }
      this.#note(blocks, from, file.sizeBytes - at + out - this.#buffer);
      const end = packFinished(this.#entries, from, this.#rows, out, out + BLOCK_BYTES, this.#state) >>> 0;
      if (end === out) {
        file.append(this.#heap.u8.subarray(this.#buffer, out));
        out = this.#buffer;
        this.#appendLarge(from, file);
        from++;
      } else {
        from = this.#heap.u32[stateWord]!;
        out = end;
      }
    }
    file.append(this.#heap.u8.subarray(this.#buffer, out));
    const restBytes = Math.ceil(this.#restBytes / REST_ALIGNMENT_BYTES) * REST_ALIGNMENT_BYTES;
    const index = this.#files.index();
    const sizeBytes = file.sizeBytes - at;
    index.append(segmentHead({ part: this.#files.part, at, sizeBytes, rows: this.#rows, blocks, restBytes }));
    index.append(new Uint8Array(this.#blocks.buffer, 0, blocks * BLOCK_WORDS * 4));
    index.append(this.#rests.subarray(0, restBytes));
  }

  /** Appends a row that is larger than a block. */
  #appendLarge(row: number, file: SpillFile): void {
    const { packFinished, packedBytes } = this.#kernel.exports;
    const mark = this.#arena.next;
    const bytes = packedBytes(this.#entries + row * ENTRY_BYTES) >>> 0;
    const at = this.#arena.take(bytes);
    const end = packFinished(this.#entries, row, row + 1, at, at + bytes, this.#state) >>> 0;
    file.append(this.#heap.u8.subarray(at, end));
    this.#arena.release(mark);
  }

  /** Adds a block that begins with a row to the index. */
  #note(block: number, row: number, offset: number): void {
    if ((block + 1) * BLOCK_WORDS > this.#blocks.length) {
      const larger = new Uint32Array(this.#blocks.length * 2);
      larger.set(this.#blocks);
      this.#blocks = larger;
    }
    const { u8, u32 } = this.#heap;
    const at = this.#entries + row * ENTRY_BYTES;
    const entry = at >>> 2;
    const last = (this.#state + RUN_WORD) >>> 2;
    const [start, length] = restOf(u8, u32, at);
    const kept = Math.min(length, REST_BYTES_MAX);
    const record = block * BLOCK_WORDS;
    this.#blocks.set([u32[entry + 1]!, u32[entry]!, u32[last + 1]!, u32[last]!, offset, row], record);
    this.#blocks[record + 6] = this.#restBytes;
    this.#blocks[record + 7] = kept + (length > REST_BYTES_MAX ? REST_CUT : 0);
    if (kept === 0) return;
    if (this.#restBytes + kept + REST_ALIGNMENT_BYTES > this.#rests.length) {
      const larger = new Uint8Array(this.#rests.length * 2);
      larger.set(this.#rests);
      this.#rests = larger;
    }
    this.#rests.set(u8.subarray(start, start + kept), this.#restBytes);
    this.#restBytes += kept;
  }
}

// The segments of all threads, merged in ranges.

/** The files of all threads. */
export class SortedRangeFiles implements SortedRanges {
  readonly kind = 'merge';
  readonly count: number;
  /** Number of the current range. */
  range = 0;
  readonly #folder: SpillFolder;
  readonly #names: readonly string[];

  /** @param names of files of rows, each followed by the name of its index */
  constructor(folder: string, names: readonly string[], count: number) {
    this.#folder = new SpillFolder(folder);
    this.#names = names;
    this.count = count;
  }

  open(): readonly { readonly rows: SpillFile; readonly index: SpillFile }[] {
    const files = this.#names.map((name) => new SpillFile(this.#folder, name));
    return files.flatMap((rows, at) => (at % 2 === 0 ? { rows, index: files[at + 1]! } : []));
  }

  close(): void {
    this.#folder.closeFiles();
  }
}

/** A piece of a segment that contains all of its rows in a range, and a few others. */
interface RangePiece extends SegmentPiece {
  readonly segment: Segment;
  readonly number: number;
}

/** Writes the rows of one range after the other to the output. */
export class SortedRangeReader {
  readonly #context: OperatorContext;
  readonly #heap: Heap;
  readonly #ahead: RowsAhead;
  readonly #files: SortedRanges;
  readonly #state: number;
  readonly #counts: number;
  readonly #segments: readonly Segment[];
  readonly #boundaries: readonly Boundary[];
  /** Memory for the rows of a range, and for their entries and a spare array. */
  #bytes = { at: 0, length: 0 };
  #entries = { at: 0, length: 0 };

  /** Throws Failed if the budget refuses the memory for the index. */
  constructor(context: OperatorContext, ahead: RowsAhead, files: SortedRanges) {
    const { heap } = context.arena;
    this.#context = context;
    this.#heap = heap;
    this.#ahead = ahead;
    this.#files = files;
    this.#state = heap.allocate(RUN_STATE_BYTES);
    this.#counts = heap.allocate(SORT_COUNTS_BYTES);
    const opened = files.open();
    const indexBytes = opened.reduce((sum, { index }) => sum + index.sizeBytes, 0);
    if (!context.budget.take(indexBytes)) throw noMemory();
    this.#segments = readSegments(opened);
    this.#boundaries = boundariesOf(this.#segments, files.count);
  }

  *emitRange(): Steps {
    const { range } = this.#files;
    const lower = this.#boundaries[range - 1] ?? null;
    const upper = this.#boundaries[range] ?? null;
    const pieces = this.#pieces(lower, upper);
    const sum = (of: (piece: RangePiece) => number): number => pieces.reduce((total, piece) => total + of(piece), 0);
    const rowsMax = sum(({ rows }) => rows);
    if (rowsMax === 0) return;
    this.#bytes = this.#reserve(
      this.#bytes,
      sum(({ sizeBytes }) => sizeBytes),
    );
    this.#entries = this.#reserve(this.#entries, rowsMax * ENTRY_BYTES * 2);
    const entries = this.#entries.at;
    let rows = 0;
    let at = this.#bytes.at;
    for (const piece of pieces) {
      rows += this.#load(piece, at, entries + rows * ENTRY_BYTES, lower, upper);
      at += piece.sizeBytes;
    }
    this.#context.kernel.exports.sortFinished(entries, entries + rowsMax * ENTRY_BYTES, rows, this.#counts);
    yield* this.#ahead.write(this.#emitter(entries), rows);
  }

  #pieces(lower: Boundary | null, upper: Boundary | null): RangePiece[] {
    const pieces: RangePiece[] = [];
    for (const [number, segment] of this.#segments.entries()) {
      // The block before may contain rows from the boundary on.
      const from = lower === null ? 0 : Math.max(0, segment.blockAt(lower) - 1);
      const to = upper === null ? segment.blocks : segment.blockAt(upper);
      if (from < to) pieces.push({ ...segment.piece(from, to), segment, number });
    }
    return pieces;
  }

  /** Reads a piece to an address, lists its rows between the boundaries, and returns their number. */
  #load(piece: RangePiece, at: number, entries: number, lower: Boundary | null, upper: Boundary | null): number {
    const { segment, number, sizeBytes, rows, before } = piece;
    const { u8, u32 } = this.#heap;
    segment.file.read(u8.subarray(at, at + sizeBytes), piece.at);
    u32.set(before, (this.#state + RUN_WORD) >>> 2);
    const { listFinished } = this.#context.kernel.exports;
    let count = listFinished(at, at + sizeBytes, entries, rows, this.#state);
    if (count !== rows) throw new Error('a segment does not have the rows of its index');
    if (upper !== null)
      while (count > 0 && !this.#isBefore(entries + (count - 1) * ENTRY_BYTES, number, upper)) count--;
    let skipped = 0;
    if (lower !== null)
      while (skipped < count && this.#isBefore(entries + skipped * ENTRY_BYTES, number, lower)) skipped++;
    if (skipped > 0) u8.copyWithin(entries, entries + skipped * ENTRY_BYTES, entries + count * ENTRY_BYTES);
    return count - skipped;
  }

  #isBefore(entry: number, segment: number, boundary: Boundary): boolean {
    const { u8, u32 } = this.#heap;
    const order = u32[(entry >>> 2) + 1]! - boundary.high || u32[entry >>> 2]! - boundary.low;
    // Typed arrays are made only for equal words, because so many would soon be garbage.
    if (order !== 0) return order < 0;
    const [start, length] = restOf(u8, u32, entry);
    const rest = u8.subarray(start, start + Math.min(length, REST_BYTES_MAX));
    return (Buffer.compare(rest, boundary.rest) || segment - boundary.segment) < 0;
  }

  /** Returns memory of at least `bytes` bytes. Its content is lost. Throws Failed if the budget refuses it. */
  #reserve(held: { readonly at: number; readonly length: number }, bytes: number): { at: number; length: number } {
    if (bytes <= held.length) return held;
    if (held.length > 0) this.#heap.release(held.at, held.length);
    const length = Math.ceil(bytes * RESERVED_FACTOR);
    const at = this.#heap.tryAllocate(length);
    if (at === 0) throw noMemory();
    return { at, length };
  }

  #emitter(entries: number): RowEmitter {
    const { arena, kernel } = this.#context;
    const { heap } = arena;
    const gather = (from: number, to: number, out: number, limit: number) => {
      const { program } = this.#ahead;
      const next = kernel.exports.gatherFinished(program, entries, from, to, out, limit, this.#state) >>> 0;
      return { rows: heap.u32[this.#state >>> 2]! - from, next };
    };
    return {
      emit: gather,
      *pieces(position) {
        const mark = arena.next;
        const bytes = kernel.exports.packedBytes(entries + position * ENTRY_BYTES) >>> 0;
        const out = arena.take(bytes);
        const { next } = gather(position, position + 1, out, out + bytes);
        yield heap.u8.subarray(out, next);
        arena.release(mark);
      },
    };
  }
}

/** Ranges differ in size. */
const RESERVED_FACTOR = 1.25;

/** The file is then processed as a whole, which needs less memory. */
function noMemory(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has too little memory for a range of sorted rows.');
}
