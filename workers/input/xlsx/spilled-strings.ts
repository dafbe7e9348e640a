// Shared strings for which there is no memory: their bytes are in one file, their offsets in another, and the most
// recently read pages of both are in the Run's memory. Sheets mostly refer to strings in the order of first use, so a
// few pages serve many cells.

import type { Heap } from '../../memory/heap.ts';
import { SpillFile, type SpillFolder } from '../../memory/spill-file.ts';

/** Size of a page in bytes, and number of cached pages per file: 256 KiB per file. */
const PAGE_BYTES = 8_192;
const PAGE_SHIFT = 13;
const PAGES = 32;

/** Bytes written at a time. */
const WRITTEN_BYTES = 65_536;

/** u32 offset and u32 length. */
const ENTRY_BYTES = 8;

export class SpilledStrings {
  readonly #heap: Heap;
  readonly #texts: PagedFile;
  readonly #places: PagedFile;
  /** Region for texts that span several pages. */
  #long = { at: 0, bytes: 0 };
  length = 0;
  /** Address and length of the text that `find` found. Valid until the next call. */
  start = 0;
  bytes = 0;

  /** Throws Failed, MemoryWanted. */
  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#texts = new PagedFile(heap, spill);
    this.#places = new PagedFile(heap, spill);
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const place = this.#texts.sizeBytes;
    this.#texts.append(bytes.subarray(start, end));
    const entry = Uint32Array.of(place, end - start);
    this.#places.append(new Uint8Array(entry.buffer));
    this.length++;
  }

  find(index: number): boolean {
    if (!(index >= 0 && index < this.length)) return false;
    const entry = this.#places.page((index * ENTRY_BYTES) / PAGE_BYTES) + ((index * ENTRY_BYTES) % PAGE_BYTES);
    const { u32 } = this.#heap;
    const place = u32[entry >>> 2]!;
    const length = u32[(entry >>> 2) + 1]!;
    const within = place % PAGE_BYTES;
    this.start =
      within + length <= PAGE_BYTES ? this.#texts.page(place / PAGE_BYTES) + within : this.#readLong(place, length);
    this.bytes = length;
    return true;
  }

  close(): void {
    this.#texts.close();
    this.#places.close();
  }

  #readLong(place: number, length: number): number {
    if (this.#long.bytes < length) {
      if (this.#long.at !== 0) this.#heap.release(this.#long.at, this.#long.bytes);
      this.#long = { at: this.#heap.allocate(length), bytes: length };
    }
    this.#texts.read(this.#heap.u8.subarray(this.#long.at, this.#long.at + length), place);
    return this.#long.at;
  }
}

/** A file that is written sequentially and then read in pages. */
class PagedFile {
  readonly #heap: Heap;
  readonly #file: SpillFile;
  readonly #at: number;
  /** For each slot, the page that it holds, or -1. */
  readonly #held = new Int32Array(PAGES).fill(-1);
  /**
   * Number of bytes that are not written yet. They are in the memory of the pages, which is unused while the file is
   * written.
   */
  #waiting = 0;
  #written = 0;

  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#at = heap.allocate(PAGES << PAGE_SHIFT);
    this.#file = new SpillFile(spill);
  }

  get sizeBytes(): number {
    return this.#written + this.#waiting;
  }

  append(bytes: Uint8Array): void {
    if (this.#waiting + bytes.length > WRITTEN_BYTES) this.#flush();
    if (bytes.length > WRITTEN_BYTES) {
      this.#file.append(bytes);
      this.#written += bytes.length;
      return;
    }
    this.#heap.u8.set(bytes, this.#at + this.#waiting);
    this.#waiting += bytes.length;
  }

  /**
   * Returns the address of a page.
   * @param number page number, rounded down
   */
  page(number: number): number {
    const page = Math.floor(number);
    const slot = page % PAGES;
    const at = this.#at + (slot << PAGE_SHIFT);
    if (this.#held[slot] !== page) {
      this.read(this.#heap.u8.subarray(at, at + PAGE_BYTES), page * PAGE_BYTES);
      this.#held[slot] = page;
    }
    return at;
  }

  read(target: Uint8Array, position: number): void {
    this.#flush();
    this.#file.read(target, position);
  }

  close(): void {
    this.#file.drop();
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#file.append(this.#heap.u8.subarray(this.#at, this.#at + this.#waiting));
    this.#written += this.#waiting;
    this.#waiting = 0;
  }
}
