// The shared strings of a workbook as bytes in the Run's memory, as far as the budget gives some; what comes behind that
// lies in a file. No string object is made for any.
import type { SpillFolder } from '../../execution/spill/spill-folder.ts';
import { ENTRY_BYTES, PAGE_SHIFT } from '../../kernel/layout/shared-strings.ts';
import type { Heap } from '../../memory/heap.ts';
import { Failed } from '../../protocol/failure.ts';
import { SHARED_STRING_BYTES_MAX, SHARED_STRINGS_MAX } from './limits.ts';
import { SpilledStrings } from './spilled-strings.ts';

/** Bytes of a block of texts: small workbooks need one. A longer text has a block of its own. */
const BLOCK_BYTES = 64 * 1024;

/** Texts whose places lie in one page. */
const PAGE_STRINGS = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE_STRINGS - 1;

/** Shorter texts are copied by a loop: a call into the runtime takes longer. */
const SHORT_BYTES_MAX = 32;

/** Addresses for the next texts and their entries, and those behind the last. */
export interface StringRoom {
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
  /** Next free address of the block, and the one behind it. */
  #at = 0;
  #limit = 0;
  #textBytes = 0;
  /** Texts in memory; those behind them are spilled. */
  #kept = 0;
  #spilled: SpilledStrings | null = null;
  /** Of the text that `find` found: its bytes stay where they are, or until the next is looked for. */
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

  /** Texts in memory: those with the lowest numbers. */
  get keptLength(): number {
    return this.#kept;
  }

  /** Places the addresses of all pages for a kernel; gives the address of the list. Throws MemoryWanted. */
  placePages(): number {
    const list = this.#heap.allocate(this.#pages.length * 4);
    this.#heap.u32.set(this.#pages, list >>> 2);
    return list;
  }

  /** Whether the budget refused memory for some of them. */
  get isSpilled(): boolean {
    return this.#spilled !== null;
  }

  /** Throws Failed. */
  add(bytes: Uint8Array, start: number, end: number): void {
    this.#count(end - start);
    if (this.length >= SHARED_STRINGS_MAX) {
      throw new Failed('FILE_TOO_LARGE', `The workbook has more than ${SHARED_STRINGS_MAX} shared strings.`);
    }
    if (this.#spilled === null && this.#hasRoom(end - start)) {
      this.#keep(bytes, start, end);
      return;
    }
    this.#spilled ??= new SpilledStrings(this.#heap, this.#spill);
    this.#spilled.add(bytes, start, end);
  }

  /** Where the next texts go that need no new region; false where there is none, or they no longer lie in memory. */
  lend(room: StringRoom): boolean {
    const page = this.#pages[this.#kept >>> PAGE_SHIFT];
    if (this.#spilled !== null || page === undefined) return false;
    room.textsAt = this.#at;
    room.textsEnd = this.#limit;
    room.entriesAt = page + (this.#kept & PAGE_MASK) * ENTRY_BYTES;
    room.entriesEnd = page + PAGE_STRINGS * ENTRY_BYTES;
    return true;
  }

  /** Takes over what was written where `lend` said, up to these addresses. Throws Failed. */
  takeBack(room: StringRoom, textsAt: number, entriesAt: number): void {
    this.#kept += (entriesAt - room.entriesAt) / ENTRY_BYTES;
    this.#at = textsAt;
    this.#count(textsAt - room.textsAt);
  }

  /** Sets `bytes`, `start` and `end`; false when there is no such text. */
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

  /** Gives the file back. */
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

  /** Of a page for the place and of a block for the text. */
  #hasRoom(length: number): boolean {
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
    // An empty text has an address too: 0 would be null.
    u32[entry] = at;
    u32[entry + 1] = length;
    this.#at += length;
    this.#kept++;
  }
}
