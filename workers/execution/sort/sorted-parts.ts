// Sorts the rows of a file that several threads process in parts. Each thread sorts the rows of each part and writes
// them, as encoded output bytes, to memory that all threads use, or to a file if the budget refuses memory: a segment. The
// segments are then merged by several threads (SortedRangeReader). Between two parts a thread holds no rows, so it can
// leave the Run after any part.
import type { Batch } from '../../batch/batch.ts';
import { SharedPages } from '../../batch/ordered-parts.ts';
import { PAGE_BYTES } from '../../kernel/bindings/kernel.ts';
import {
  ENTRY_BYTES,
  FLAG_GUARDED,
  LENGTH,
  RUN_STATE_BYTES,
  RUN_WORD,
  SORT_COUNTS_BYTES,
} from '../../kernel/layout/encoded-rows.ts';
import { GUARDED } from '../../kernel/layout/output-program.ts';
import type { BudgetShare } from '../../memory/budget.ts';
import { type Heap, REGION_PADDING_BYTES } from '../../memory/heap.ts';
import { type SpillBytes, SpillFile, SpillFolder } from '../../memory/spill-file.ts';
import type { RowsAhead } from '../../output/writer.ts';
import { Failed } from '../../protocol/failure.ts';
import type { KeysMemory } from '../../protocol/frame.ts';
import type { TaskRanges } from '../../protocol/messages.ts';
import type { Steps } from '../../scheduling/time-slices.ts';
import type { OperatorContext, SortedParts, SortedRanges } from '../../template/operation.ts';
import { EncodedRows, type RowRoom } from './encoded-row-sorter.ts';
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
  type SegmentBlocks,
  type SegmentHead,
  segmentHead,
  u32At,
} from './segment-index.ts';

// The files of one thread.

/**
 * Receives the sorted rows of one thread: a file with the index of its segments, memory for their rows, and a file for
 * the rows of segments for which there is no memory.
 */
export class SortedPartFiles implements SortedParts {
  readonly kind = 'collect';
  readonly #folder: SpillFolder;
  #rows: SpillFile | null = null;
  #index: SpillFile | null = null;
  readonly #shared: KeysMemory | null;
  #memory: SharedPages | null = null;
  #segments = 0;
  #sizeBytes = 0;
  /** Number of the current part. */
  part = 0;
  /** True if the steps of the thread end with sorted rows instead of an output. */
  isUsed = false;

  /**
   * @param folder for the files of all threads
   * @param shared memory of all threads
   */
  constructor(folder: string, firstPart: number, shared: KeysMemory | null) {
    this.#folder = new SpillFolder(folder, `${firstPart}-`);
    this.#shared = shared;
  }

  /** Names of the two files, and their content; null without rows. */
  get written(): { readonly names: readonly string[]; readonly segments: number; readonly sizeBytes: number } | null {
    if (this.#rows === null) return null;
    return { names: this.#folder.names, segments: this.#segments, sizeBytes: this.#sizeBytes };
  }

  memory(budget: BudgetShare): SharedPages {
    this.#memory ??= new SharedPages(this.#shared!, budget);
    return this.#memory;
  }

  rows(): SpillFile {
    this.#rows ??= new SpillFile(this.#folder);
    return this.#rows;
  }

  index(): SpillFile {
    // The file of rows is the first one, also if it stays empty.
    this.rows();
    this.#index ??= new SpillFile(this.#folder);
    return this.#index;
  }

  wrote(sizeBytes: number): void {
    this.#segments++;
    this.#sizeBytes += sizeBytes;
  }

  close(): void {
    this.#folder.closeFiles();
    this.#memory?.close();
  }
}

// The rows of one part, and how they become segments.

/** Number of rows sorted at once: few at first, for small files, later the rows of most parts. */
const ROWS_FIRST = 8192;
const ROWS_MAX = 24_576;

/** Approximate distance between two entries of the index. */
const BLOCK_BYTES = 4096;

const BUFFER_BYTES = 131_072;

const ENTRY_WORDS = ENTRY_BYTES >>> 2;

/** Maximum size of a row in a segment, in addition to the row itself (kernel/assembly/encoded-rows.ts). */
const STEP_BYTES_MAX = 13;

/** Receives the rows of a segment: the thread's file, or shared memory. */
interface SegmentBytes {
  /** Offset in the file or address in the memory. */
  readonly sizeBytes: number;
  append(bytes: Uint8Array): void;
}

const ENTRIES_ALIGNMENT_BYTES = 16;

/** Shared memory that one thread fills with segments. */
class SegmentMemory implements SegmentBytes {
  readonly #pages: SharedPages;
  #next = 0;
  #limit = 0;

  constructor(pages: SharedPages) {
    this.#pages = pages;
  }

  /** Address of the next byte. */
  get sizeBytes(): number {
    return this.#next;
  }

  /** Makes space for a segment. Returns false if there is no memory for it. */
  reserve(bytesMax: number): boolean {
    const bytes = bytesMax + REGION_PADDING_BYTES;
    if (this.#next + bytes <= this.#limit) return true;
    const pages = Math.ceil(bytes / PAGE_BYTES);
    const at = this.#pages.take(pages, false);
    if (at === 0) return false;
    if (at !== this.#limit) this.#next = at;
    this.#limit = at + pages * PAGE_BYTES;
    return true;
  }

  append(bytes: Uint8Array): void {
    this.#pages.u8.set(bytes, this.#next);
    this.#next += bytes.length;
  }

  /** Appends entries at the next suitable address, which it returns. */
  appendEntries(entries: Uint32Array): number {
    this.#next = Math.ceil(this.#next / ENTRIES_ALIGNMENT_BYTES) * ENTRIES_ALIGNMENT_BYTES;
    this.#pages.u32.set(entries, this.#next >>> 2);
    this.#next += entries.byteLength;
    return this.#next - entries.byteLength;
  }
}

/** Sorts the rows of each part and writes them to segments. */
export class SortedPartWriter {
  readonly #kernel: OperatorContext['kernel'];
  readonly #arena: OperatorContext['arena'];
  readonly #heap: Heap;
  readonly #files: SortedParts;
  readonly #memory: SegmentMemory;
  readonly #rows: EncodedRows;
  readonly #room: RowRoom = { moreEntries: () => this.#makeRoom(), moreBytes: () => this.endPart() };
  /** States of the kernels that pack rows and that list packed rows. */
  readonly #state: number;
  readonly #buffer: number;
  /** Number of rows of the segment that have entries in the shared memory. */
  #listed = 0;
  #blocks = new Uint32Array(1024 * BLOCK_WORDS);
  #rests = new Uint8Array(16_384);
  #restBytes = 0;

  /** Throws Failed if the budget refuses memory that other threads have used. */
  constructor(context: OperatorContext, ahead: RowsAhead, files: SortedParts) {
    const { heap } = context.arena;
    this.#kernel = context.kernel;
    this.#arena = context.arena;
    this.#heap = heap;
    this.#files = files;
    this.#memory = new SegmentMemory(files.memory(context.budget));
    this.#rows = new EncodedRows(context, ahead, ROWS_FIRST);
    this.#state = heap.allocate(RUN_STATE_BYTES * 2);
    this.#buffer = heap.allocate(BUFFER_BYTES);
  }

  /** @param keys see EncodedRows */
  add(batch: Batch, keys: number): void {
    this.#rows.add(batch, keys, this.#room);
  }

  /** Writes the rows since the last call, sorted. Also called within a part that has too many rows. */
  endPart(): void {
    if (this.#rows.count === 0) return;
    this.#rows.sort();
    const rowBytes = this.#rows.sizeBytes + this.#rows.count * STEP_BYTES_MAX;
    const isInMemory = this.#memory.reserve(rowBytes + ENTRIES_ALIGNMENT_BYTES + this.#rows.count * ENTRY_BYTES);
    this.#writeSegment(isInMemory ? this.#memory : this.#files.rows());
    this.#rows.restart();
  }

  /** Enlarges the array of entries if the budget allows, or empties it. */
  #makeRoom(): void {
    if (this.#rows.countMax === ROWS_MAX || !this.#rows.grow(ROWS_MAX)) this.endPart();
  }

  #writeSegment(bytes: SegmentBytes): void {
    const { packFinished } = this.#kernel.exports;
    const { entries, count: rows } = this.#rows;
    const at = bytes.sizeBytes;
    const stateWord = this.#state >>> 2;
    const bufferEnd = this.#buffer + BUFFER_BYTES;
    this.#heap.u32.fill(0, stateWord, stateWord + (RUN_STATE_BYTES >>> 2) * 2);
    this.#restBytes = 0;
    this.#listed = 0;
    let blocks = 0;
    let out = this.#buffer;
    for (let from = 0; from < rows; blocks++) {
      if (out + BLOCK_BYTES > bufferEnd) {
        this.#append(this.#buffer, out, bytes);
        out = this.#buffer;
      }
      this.#note(blocks, from, bytes.sizeBytes - at + out - this.#buffer);
      const end = packFinished(entries, from, rows, out, out + BLOCK_BYTES, this.#state) >>> 0;
      if (end === out) {
        this.#append(this.#buffer, out, bytes);
        out = this.#buffer;
        this.#appendLarge(from, bytes);
        from++;
      } else {
        from = this.#heap.u32[stateWord]!;
        out = end;
      }
    }
    this.#append(this.#buffer, out, bytes);
    const sizeBytes = bytes.sizeBytes - at;
    const { part } = this.#files;
    if (bytes === this.#memory) {
      const listed = this.#rows.spare >>> 2;
      const entriesAt = this.#memory.appendEntries(this.#heap.u32.subarray(listed, listed + rows * ENTRY_WORDS));
      this.#writeIndex({ part, isInMemory: true, at: entriesAt, sizeBytes, rows, blocks });
    } else this.#writeIndex({ part, isInMemory: false, at, sizeBytes, rows, blocks });
    this.#files.wrote(sizeBytes);
  }

  #writeIndex(segment: Omit<SegmentHead, 'restBytes'>): void {
    const restBytes = Math.ceil(this.#restBytes / REST_ALIGNMENT_BYTES) * REST_ALIGNMENT_BYTES;
    const index = this.#files.index();
    index.append(segmentHead({ ...segment, restBytes }));
    index.append(new Uint8Array(this.#blocks.buffer, 0, segment.blocks * BLOCK_WORDS * 4));
    index.append(this.#rests.subarray(0, restBytes));
  }

  /** Appends a row that is larger than a block. */
  #appendLarge(row: number, to: SegmentBytes): void {
    const { packFinished, packedBytes } = this.#kernel.exports;
    const { entries } = this.#rows;
    const mark = this.#arena.next;
    const bytes = packedBytes(entries + row * ENTRY_BYTES) >>> 0;
    const at = this.#arena.take(bytes);
    const end = packFinished(entries, row, row + 1, at, at + bytes, this.#state) >>> 0;
    this.#append(at, end, to);
    this.#arena.release(mark);
  }

  /** Appends packed rows. Those in memory also get entries, which take the place of the spare entries meanwhile. */
  #append(at: number, end: number, to: SegmentBytes): void {
    const moved = to.sizeBytes - at;
    to.append(this.#heap.u8.subarray(at, end));
    if (to !== this.#memory) return;
    const { count, spare } = this.#rows;
    const from = spare + this.#listed * ENTRY_BYTES;
    const state = this.#state + RUN_STATE_BYTES;
    this.#listed += this.#kernel.exports.listFinished(at, end, from, count - this.#listed, state);
    const { u32 } = this.#heap;
    const last = (spare + this.#listed * ENTRY_BYTES) >>> 2;
    for (let entry = from >>> 2; entry < last; entry += ENTRY_WORDS) u32[entry + 2]! += moved;
  }

  /** Adds a block that begins with a row to the index. */
  #note(block: number, row: number, offset: number): void {
    if ((block + 1) * BLOCK_WORDS > this.#blocks.length) {
      const larger = new Uint32Array(this.#blocks.length * 2);
      larger.set(this.#blocks);
      this.#blocks = larger;
    }
    const { u8, u32 } = this.#heap;
    const at = this.#rows.entries + row * ENTRY_BYTES;
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

/** The files and the memory of all threads. */
export class SortedRangeFiles implements SortedRanges {
  readonly kind = 'merge';
  readonly count: number;
  /** Number of the current range. */
  range = 0;
  readonly #folder: SpillFolder;
  readonly #names: readonly string[];
  readonly #shared: KeysMemory | null;
  #memory: SharedPages | null = null;

  /**
   * @param ranges names of files of rows, each followed by the name of its index, and the number of ranges
   * @param shared memory of all threads
   */
  constructor(folder: string, { names, count }: Pick<TaskRanges, 'names' | 'count'>, shared: KeysMemory | null) {
    this.#folder = new SpillFolder(folder);
    this.#names = names;
    this.count = count;
    this.#shared = shared;
  }

  memory(budget: BudgetShare): SharedPages {
    this.#memory ??= new SharedPages(this.#shared!, budget);
    return this.#memory;
  }

  open(): readonly { readonly rows: SpillFile; readonly index: SpillFile }[] {
    const files = this.#names.map((name) => new SpillFile(this.#folder, name));
    return files.flatMap((rows, at) => (at % 2 === 0 ? { rows, index: files[at + 1]! } : []));
  }

  close(): void {
    this.#folder.closeFiles();
    this.#memory?.close();
  }
}

/** Blocks of a segment that contain all of its rows in a range, and a few others. */
interface RangeBlocks extends SegmentBlocks {
  readonly segment: Segment;
  readonly number: number;
}

/** A region of the shared memory. */
interface Region {
  readonly at: number;
  readonly length: number;
}

/** Ranges differ in size. */
const RESERVED_FACTOR = 1.25;

/**
 * A range may have this many times the planned number of blocks. Only rows whose keys have the same beginning, longer than
 * the index keeps, make it larger: one thread would sort them without a pause.
 */
const RANGE_BLOCKS_FACTOR = 4;

/** Blocks of each segment that contain rows of a range and of its neighbours. */
const BORDER_BLOCKS = 2;

/** Number of bytes copied at once to the output. They stay in the cache of the core. */
const GATHERED_BYTES = 262_144;

/** Offsets of what the kernels need in a region of a thread. */
const STATE_AT = 0;
const PROGRAM_AT = 64;
const COUNTS_AT = 256;
const GATHERED_AT = COUNTS_AT + SORT_COUNTS_BYTES;
const FIXED_BYTES = GATHERED_AT + GATHERED_BYTES;

/** Writes the rows of one range after the other to the output. Its kernels work in the shared memory. */
export class SortedRangeReader {
  readonly #context: OperatorContext;
  readonly #ahead: RowsAhead;
  readonly #ranges: SortedRanges;
  readonly #pages: SharedPages;
  readonly #fixed: number;
  readonly #segments: readonly Segment[];
  readonly #boundaries: readonly Boundary[];
  readonly #rangeBlocksMax: number;
  /** Memory for rows from files, and for the entries of a range and a spare array. */
  #bytes: Region = { at: 0, length: 0 };
  #entries: Region = { at: 0, length: 0 };

  /** Throws Failed if the budget refuses memory. */
  constructor(context: OperatorContext, ahead: RowsAhead, ranges: SortedRanges) {
    this.#context = context;
    this.#ahead = ahead;
    this.#ranges = ranges;
    this.#pages = ranges.memory(context.budget);
    this.#fixed = this.#reserve({ at: 0, length: 0 }, FIXED_BYTES).at;
    this.#pages.u32.fill(0, (this.#fixed + PROGRAM_AT) >>> 2, (this.#fixed + COUNTS_AT) >>> 2);
    const opened = ranges.open();
    const indexBytes = opened.reduce((sum, { index }) => sum + index.sizeBytes, 0);
    if (!context.budget.take(indexBytes)) throw noMemory();
    this.#segments = readSegments(opened);
    this.#boundaries = boundariesOf(this.#segments, ranges.count);
    const blocks = this.#segments.reduce((sum, segment) => sum + segment.blocks, 0);
    const borderBlocks = this.#segments.length * BORDER_BLOCKS;
    this.#rangeBlocksMax = Math.ceil(blocks / ranges.count) * RANGE_BLOCKS_FACTOR + borderBlocks;
  }

  *emitRange(): Steps {
    this.#pages.pay();
    const { range } = this.#ranges;
    const lower = this.#boundaries[range - 1] ?? null;
    const upper = this.#boundaries[range] ?? null;
    const found = this.#blocksOf(lower, upper);
    const sum = (of: (blocks: RangeBlocks) => number): number => found.reduce((total, one) => total + of(one), 0);
    const rowsMax = sum(({ rows }) => rows);
    if (rowsMax === 0) return;
    this.#bytes = this.#reserve(
      this.#bytes,
      sum(({ sizeBytes }) => sizeBytes),
    );
    this.#entries = this.#reserve(this.#entries, rowsMax * ENTRY_BYTES * 2);
    const entries = this.#entries.at;
    let rows = 0;
    let space = this.#bytes.at;
    for (const blocks of found) {
      const at = entries + rows * ENTRY_BYTES;
      if (blocks.segment.file === null) this.#pages.u8.copyWithin(at, blocks.at, blocks.at + blocks.rows * ENTRY_BYTES);
      else this.#readRows(blocks, blocks.segment.file, space, at);
      space += blocks.sizeBytes;
      rows += this.#trim(blocks, at, lower, upper);
    }
    const counts = this.#fixed + COUNTS_AT;
    this.#pages.kernels.sortFinished(entries, entries + rowsMax * ENTRY_BYTES, rows, counts);
    yield* this.#write(entries, rows);
  }

  /** Throws Failed if the range has too many blocks. */
  #blocksOf(lower: Boundary | null, upper: Boundary | null): RangeBlocks[] {
    const found: RangeBlocks[] = [];
    let blocks = 0;
    for (const [number, segment] of this.#segments.entries()) {
      // The block before may contain rows from the boundary on.
      const from = lower === null ? 0 : Math.max(0, segment.blockAt(lower) - 1);
      const to = upper === null ? segment.blocks : segment.blockAt(upper);
      if (from >= to) continue;
      found.push({ ...segment.blocksAt(from, to), segment, number });
      blocks += to - from;
    }
    if (blocks > this.#rangeBlocksMax)
      throw new Failed('RUN_RESOURCE_LIMIT', 'Too many keys have the same long beginning.');
    return found;
  }

  /** Reads blocks from a file to an address, and lists their rows. */
  #readRows({ at: offset, sizeBytes, rows, before }: RangeBlocks, file: SpillBytes, at: number, entries: number): void {
    const { u8, u32, kernels } = this.#pages;
    file.read(u8.subarray(at, at + sizeBytes), offset);
    const state = this.#fixed + STATE_AT;
    u32.set(before, (state + RUN_WORD) >>> 2);
    const count = kernels.listFinished(at, at + sizeBytes, entries, rows, state);
    if (count !== rows) throw new Error('a segment does not have the rows of its index');
  }

  /** Keeps the entries of the rows between the boundaries, and returns their number. */
  #trim({ number, rows }: RangeBlocks, entries: number, lower: Boundary | null, upper: Boundary | null): number {
    let count = rows;
    if (upper !== null)
      while (count > 0 && !this.#isBefore(entries + (count - 1) * ENTRY_BYTES, number, upper)) count--;
    let skipped = 0;
    if (lower !== null)
      while (skipped < count && this.#isBefore(entries + skipped * ENTRY_BYTES, number, lower)) skipped++;
    const { u8 } = this.#pages;
    if (skipped > 0) u8.copyWithin(entries, entries + skipped * ENTRY_BYTES, entries + count * ENTRY_BYTES);
    return count - skipped;
  }

  #isBefore(entry: number, segment: number, boundary: Boundary): boolean {
    const { u8, u32 } = this.#pages;
    const order = u32[(entry >>> 2) + 1]! - boundary.high || u32[entry >>> 2]! - boundary.low;
    // Typed arrays are made only for equal words, because so many would soon be garbage.
    if (order !== 0) return order < 0;
    const [start, length] = restOf(u8, u32, entry);
    const rest = u8.subarray(start, start + Math.min(length, REST_BYTES_MAX));
    return (Buffer.compare(rest, boundary.rest) || segment - boundary.segment) < 0;
  }

  /** Returns memory of at least `bytes` bytes. Its content is lost. Throws Failed if the budget refuses it. */
  #reserve(held: Region, bytes: number): Region {
    if (bytes <= held.length) return held;
    const pages = Math.ceil((bytes * RESERVED_FACTOR + REGION_PADDING_BYTES) / PAGE_BYTES);
    const at = this.#pages.take(pages, true);
    if (at === 0) throw noMemory();
    return { at, length: pages * PAGE_BYTES - REGION_PADDING_BYTES };
  }

  *#write(entries: number, count: number): Steps {
    const { kernels, u8, u32 } = this.#pages;
    const state = this.#fixed + STATE_AT;
    const program = this.#fixed + PROGRAM_AT;
    const out = this.#fixed + GATHERED_AT;
    let bytes = 0;
    for (let entry = entries >>> 2, end = entry + count * ENTRY_WORDS; entry < end; entry += ENTRY_WORDS)
      bytes += u32[entry + 3]! & LENGTH;
    this.#ahead.announceRest(bytes);
    for (let from = 0; from < count; ) {
      const end = kernels.gatherFinished(program, entries, from, count, out, out + GATHERED_BYTES, state) >>> 0;
      const reached = u32[state >>> 2]!;
      if (reached > from) {
        this.#ahead.writeBytes(u8.subarray(out, end), reached - from);
        from = reached;
      } else this.#writeLarge((entries + from++ * ENTRY_BYTES) >>> 2);
      yield;
    }
    this.#addGuarded(u32[(program + GUARDED) >>> 2]!);
    u32[(program + GUARDED) >>> 2] = 0;
  }

  /** Writes a row that is larger than the space for gathered rows. */
  #writeLarge(entry: number): void {
    const { u8, u32 } = this.#pages;
    const at = u32[entry + 2]!;
    const flags = u32[entry + 3]!;
    const end = at + (flags & LENGTH);
    this.#ahead.writeBytes(u8.subarray(at, end), 1);
    if (flags & FLAG_GUARDED) this.#addGuarded(u32At(u8, end));
  }

  #addGuarded(count: number): void {
    if (count > 0) this.#context.arena.heap.u32[(this.#ahead.program + GUARDED) >>> 2]! += count;
  }
}

/** The file is then processed as a whole, which needs less memory. */
function noMemory(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has too little memory for a range of sorted rows.');
}
