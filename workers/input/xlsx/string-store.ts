// The shared strings of a workbook as bytes in the Run's memory. Strings beyond the memory budget are in a file. No
// string object is created.

import { ENTRY_BYTES, PAGE_SHIFT } from '../../kernel/layout/shared-strings.ts';
import type { Heap } from '../../memory/heap.ts';
import type { SpillFolder } from '../../memory/spill-file.ts';
import { Failed } from '../../protocol/failure.ts';
import { SHARED_STRING_BYTES_MAX, SHARED_STRINGS_MAX } from './limits.ts';
import { SpilledStrings } from './spilled-strings.ts';

/** Size of a block of texts in bytes. Small workbooks need one block. A longer text gets its own block. */
const BLOCK_BYTES = 64 * 1024;

/** Number of strings whose entries are in one page. */
const PAGE_STRINGS = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE_STRINGS - 1;

/** Texts up to this length are copied in a loop, which is faster than a call into the runtime. */
const SHORT_BYTES_MAX = 32;

/** Addresses for the next texts and entries, and the ends of their regions. */
export interface StringSpace {
  textsAt: number;
  textsEnd: number;
  entriesAt: number;
  entriesEnd: number;
}

export class StringStore {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  /** Address of each page. */
  readonly #pages: number[] = [];
  /** Next free address of the block, and the address after the block. */
  #at = 0;
  #limit = 0;
  #textBytes = 0;
  /** Number of strings in memory. Strings with higher numbers are in the file. */
  #kept = 0;
  #spilled: SpilledStrings | null = null;
  /** Result of `find`. If `stays` is true, the bytes stay in place; otherwise they are valid until the next `find`. */
  stays = true;
  bytes: Uint8Array;
  start = 0;
  end = 0;

  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#spill = spill;
    this.bytes = heap.u8;
  }

  get length(): number {
    return this.#kept + (this.#spilled?.length ?? 0);
  }

  /** Number of strings in memory, which have the lowest numbers. */
  get keptLength(): number {
    return this.#kept;
  }

  /**
   * Writes the addresses of all pages into a list for a kernel, and returns the address of the list. Throws
   * MemoryWanted.
   */
  placePages(): number {
    const list = this.#heap.allocate(this.#pages.length * 4);
    this.#heap.u32.set(this.#pages, list >>> 2);
    return list;
  }

  /** True if the budget refused memory for some strings. */
  get isSpilled(): boolean {
    return this.#spilled !== null;
  }

  /** Throws Failed. */
  add(bytes: Uint8Array, start: number, end: number): void {
    this.#count(end - start);
    if (this.length >= SHARED_STRINGS_MAX) {
      throw new Failed('FILE_TOO_LARGE', `The workbook has more than ${SHARED_STRINGS_MAX} shared strings.`);
    }
    if (this.#spilled === null && this.#hasSpace(end - start)) {
      this.#keep(bytes, start, end);
      return;
    }
    this.#spilled ??= new SpilledStrings(this.#heap, this.#spill);
    this.#spilled.add(bytes, start, end);
  }

  /**
   * Sets `space` to the free space for the next texts. Returns false if there is no space without a new region, or if
   * strings are already spilled to the file.
   */
  lend(space: StringSpace): boolean {
    const page = this.#pages[this.#kept >>> PAGE_SHIFT];
    // Empty strings alone leave the store without a block of texts.
    const hasBlock = this.#limit > 0;
    if (this.#spilled !== null || page === undefined || !hasBlock) return false;
    space.textsAt = this.#at;
    space.textsEnd = this.#limit;
    space.entriesAt = page + (this.#kept & PAGE_MASK) * ENTRY_BYTES;
    space.entriesEnd = page + PAGE_STRINGS * ENTRY_BYTES;
    return true;
  }

  /** Takes over the strings that were written to the space from `lend`, up to these addresses. Throws Failed. */
  takeBack(space: StringSpace, textsAt: number, entriesAt: number): void {
    this.#kept += (entriesAt - space.entriesAt) / ENTRY_BYTES;
    this.#at = textsAt;
    this.#count(textsAt - space.textsAt);
  }

  /** Sets `bytes`, `start` and `end`. Returns false if the string does not exist. */
  find(index: number): boolean {
    if (!(index >= 0 && index < this.#kept)) return this.#findSpilled(index - this.#kept);
    const { u8, u32 } = this.#heap;
    const entry = (this.#pages[index >>> PAGE_SHIFT]! >>> 2) + (index & PAGE_MASK) * 2;
    this.bytes = u8;
    this.start = u32[entry]!;
    this.end = this.start + u32[entry + 1]!;
    this.stays = true;
    return true;
  }

  /** Releases the file. */
  close(): void {
    this.#spilled?.close();
  }

  #count(bytes: number): void {
    this.#textBytes += bytes;
    if (this.#textBytes <= SHARED_STRING_BYTES_MAX) return;
    throw new Failed(
      'FILE_TOO_LARGE',
      `The workbook's shared strings take more than ${SHARED_STRING_BYTES_MAX} bytes.`,
    );
  }

  #findSpilled(index: number): boolean {
    const spilled = this.#spilled;
    if (spilled === null || !spilled.find(index)) return false;
    this.bytes = this.#heap.u8;
    this.start = spilled.start;
    this.end = spilled.start + spilled.bytes;
    this.stays = false;
    return true;
  }

  /** True if there is space for the entry in a page and for the text in a block. */
  #hasSpace(length: number): boolean {
    if ((this.#kept & PAGE_MASK) === 0 && this.#kept >>> PAGE_SHIFT === this.#pages.length) {
      const page = this.#heap.tryAllocate(PAGE_STRINGS * ENTRY_BYTES);
      if (page === 0) return false;
      this.#pages.push(page);
    }
    if (this.#at + length <= this.#limit) return true;
    const bytes = Math.max(BLOCK_BYTES, length);
    const block = this.#heap.tryAllocate(bytes);
    if (block === 0) return false;
    this.#at = block;
    this.#limit = block + bytes;
    return true;
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const { u8, u32 } = this.#heap;
    const length = end - start;
    const at = this.#at;
    if (length < SHORT_BYTES_MAX) for (let byte = 0; byte < length; byte++) u8[at + byte] = bytes[start + byte]!;
    else u8.set(bytes.subarray(start, end), at);
    const entry = (this.#pages[this.#kept >>> PAGE_SHIFT]! >>> 2) + (this.#kept & PAGE_MASK) * 2;
    // An empty text also needs an address, because 0 means null.
    u32[entry] = at;
    u32[entry + 1] = length;
    this.#at += length;
    this.#kept++;
  }
}
