// Texts that stay as long as a dictionary does, in blocks of the Run's memory.
import type { Heap } from '../../memory/heap.ts';
import { allocateFor } from './page-memory.ts';

const BLOCK_BYTES = 65_536;

export class TextBlocks {
  readonly #heap: Heap;
  #blocks: { readonly at: number; readonly bytes: number }[] = [];
  #next = 0;
  #end = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Address of a text of ASCII. */
  write(text: string): number {
    const bytes = text.length;
    if (bytes > this.#end - this.#next) {
      const size = Math.max(bytes, BLOCK_BYTES);
      this.#next = allocateFor(this.#heap, size, 'dictionary');
      this.#end = this.#next + size;
      this.#blocks.push({ at: this.#next, bytes: size });
    }
    const at = this.#next;
    const { u8 } = this.#heap;
    for (let index = 0; index < bytes; index++) u8[at + index] = text.charCodeAt(index);
    this.#next += bytes;
    return at;
  }

  /** All are gone. */
  clear(): void {
    for (const { at, bytes } of this.#blocks) this.#heap.giveBack(at, bytes);
    this.#blocks = [];
    this.#next = 0;
    this.#end = 0;
  }
}
