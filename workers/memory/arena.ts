// The arena is the part of a Run's memory for cells computed during one batch (unescaped and edited cells). Addresses
// are handed out in ascending order, and the pipeline clears the arena before each batch. An operation that fills the
// arena emits its finished rows and then continues (see execution/cells/cell-operator.ts).
import type { Heap } from './heap.ts';
import { REGION_PADDING_BYTES } from './heap.ts';

/** Sufficient for the computed cells of a batch (512 KiB of input) if they double in size. */
export const ARENA_BYTES = 1_048_576;

/** Maximum length for which a loop over ASCII characters is faster than a call into the runtime. */
const SHORT_TEXT_LENGTH_MAX = 32;

/** V8 stores shorter texts in its own heap, which it collects in time (EXTERN_APEX of Node). */
const LONG_TEXT_BYTES = 1_031_913;

/**
 * The exact length of longer texts is computed before the arena grows: at three bytes per character, a text of 4 MiB
 * would take 12 MiB.
 */
const EXACT_LENGTH = 262_144;

const ENCODER = new TextEncoder();

export class Arena {
  readonly heap: Heap;
  /** First free address. Kernels receive it and return the new one. */
  next: number;
  /** First address after the arena. REGION_PADDING_BYTES after it are still writable. */
  limit: number;
  /** Number of batches that are being passed on in pieces, and whose last piece is still to come. */
  openBatches = 0;
  #start: number;
  /** Regions that the arena has outgrown since the last batch. They may still contain cells of that batch. */
  #outgrown: { readonly at: number; readonly bytes: number }[] = [];

  readonly #madeTexts: (cellBytes: number) => void;

  /** @param madeTexts called with the length in bytes of each long cell that is decoded as a text */
  constructor(heap: Heap, bytes: number = ARENA_BYTES, madeTexts: (cellBytes: number) => void = () => {}) {
    this.heap = heap;
    this.#madeTexts = madeTexts;
    this.#start = heap.allocate(bytes);
    this.next = this.#start;
    this.limit = this.#start + bytes;
  }

  /** Decodes the text of a cell. Long texts are reported, because they take memory outside this heap. */
  decode(start: number, length: number): string {
    if (length > LONG_TEXT_BYTES) this.#madeTexts(length);
    return Buffer.from(this.heap.u8.buffer, start, length).toString('utf8');
  }

  /** Reports a text that was made from a decoded cell. All such texts take memory until the next garbage collection. */
  reportText(text: string): void {
    if (text.length > LONG_TEXT_BYTES) this.#madeTexts(text.length);
  }

  get freeBytes(): number {
    return this.limit - this.next;
  }

  get capacityBytes(): number {
    return this.limit - this.#start;
  }

  /**
   * Frees everything after an earlier value of `next`. If the arena was enlarged since then, all content of the larger
   * region is newer than the mark, so the whole region is freed.
   */
  release(mark: number): void {
    this.next = mark >= this.#start && mark <= this.limit ? mark : this.#start;
  }

  /** Clears the arena for the next batch, and releases the regions that it has outgrown. */
  clear(): void {
    this.next = this.#start;
    if (this.#outgrown.length === 0) return;
    for (const { at, bytes } of this.#outgrown) this.heap.release(at, bytes);
    this.#outgrown = [];
  }

  /**
   * Makes space for a cell that is larger than the whole arena by switching to a larger region. Existing cells stay at
   * their addresses.
   */
  enlarge(bytes: number): void {
    const size = Math.max(bytes + REGION_PADDING_BYTES, this.capacityBytes * 2);
    // The arena outlives the readers whose regions are noted.
    const notes = this.heap.noteRegions(null);
    const start = this.heap.allocate(size);
    this.heap.noteRegions(notes);
    this.#outgrown.push({ at: this.#start, bytes: this.capacityBytes });
    this.#start = start;
    this.next = this.#start;
    this.limit = this.#start + size;
  }

  /** Address of `bytes` new bytes, 8-aligned, or 0 if they do not fit. */
  tryTake(bytes: number): number {
    const address = (this.next + 7) & ~7;
    if (address + bytes > this.limit) return 0;
    this.next = address + bytes;
    return address;
  }

  /** Like tryTake, but enlarges the arena if needed. */
  take(bytes: number): number {
    const address = this.tryTake(bytes);
    if (address !== 0) return address;
    this.enlarge(bytes + 8);
    return this.tryTake(bytes);
  }

  /** True if the text certainly fits: by its maximum encoded length, or for a long text by its exact length. */
  hasSpaceFor(text: string): boolean {
    if (this.freeBytes >= text.length * 3) return true;
    return text.length > EXACT_LENGTH && this.freeBytes >= Buffer.byteLength(text);
  }

  /**
   * Makes space for a text that the whole arena could not hold, by exactly what it takes. If it were refused instead, all
   * texts of its chain would be made again, beside those that are not collected yet. Returns false if
   * another text does not fit.
   */
  makeSpaceFor(text: string): boolean {
    if (this.hasSpaceFor(text)) return true;
    if (text.length <= LONG_TEXT_BYTES) return false;
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.capacityBytes) return false;
    this.enlarge(bytes);
    return true;
  }

  /** Writes a text as UTF-8 and returns its length in bytes. Its address is the value of `next` before the call. */
  write(text: string): number {
    const worstBytes = Math.min(text.length * 3, this.freeBytes);
    if (!this.hasSpaceFor(text)) {
      this.enlarge(text.length > EXACT_LENGTH ? Buffer.byteLength(text) : text.length * 3);
      return this.write(text);
    }
    if (text.length <= SHORT_TEXT_LENGTH_MAX && this.#writeAscii(text)) return text.length;
    const { written } = ENCODER.encodeInto(text, this.heap.u8.subarray(this.next, this.next + worstBytes));
    this.next += written;
    return written;
  }

  /** Writes a text as UTF-8 and returns where it is. */
  viewOf(text: string): readonly [start: number, length: number] {
    const length = this.write(text);
    return [this.next - length, length];
  }

  #writeAscii(text: string): boolean {
    const { u8 } = this.heap;
    const { length } = text;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) return false;
      u8[this.next + index] = code;
    }
    this.next += length;
    return true;
  }
}
