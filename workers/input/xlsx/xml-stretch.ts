// A section of an XML part in the Run's memory, for kernels: a copy of a part of the current window.
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { FENCE_BYTES } from '../../kernel/layout/sheet.ts';
import type { Heap } from '../../memory/heap.ts';
import type { XmlTokens } from './xml-tokens.ts';

/** Size of a section in bytes: it stays in the processor's cache. The slow reader reads longer cells. */
const STRETCH_BYTES = 64 * 1024;

const LESS = 0x3c;

export class XmlStretch {
  readonly kernel: KernelExports;
  readonly heap: Heap;
  readonly #bytes: number;
  readonly #at: number;
  /** Range [from, to) of the window that was copied, the window, and the number of its fills at that time. */
  #from = 0;
  #to = 0;
  #window: object | null = null;
  #fill = 0;

  /** Throws MemoryWanted. */
  constructor(kernel: KernelExports, heap: Heap, bytes = STRETCH_BYTES) {
    this.kernel = kernel;
    this.heap = heap;
    this.#bytes = bytes;
    this.#at = heap.allocate(bytes + FENCE_BYTES);
  }

  /** Copies the bytes at the position of `tokens` unless they are already copied. Returns their address. */
  place(tokens: XmlTokens): number {
    const { window, at, bytes } = tokens;
    const isThere = this.#window === window && this.#fill === window.fills && at >= this.#from && at < this.#to;
    if (isThere) return this.#at + at - this.#from;
    this.#window = window;
    this.#fill = window.fills;
    this.#from = at;
    this.#to = Math.min(window.end, at + this.#bytes);
    const { u8 } = this.heap;
    u8.set(bytes.subarray(at, this.#to), this.#at);
    u8.fill(LESS, this.end, this.end + FENCE_BYTES);
    return this.#at;
  }

  /** Address after the section. */
  get end(): number {
    return this.#at + this.#to - this.#from;
  }

  /**
   * Moves `tokens` to the address that the kernel has reached. 'again': a new section from there contains the item that
   * the kernel could not read. 'more': the window contains no further bytes. 'left': the item is too long for any
   * section.
   */
  moveOn(tokens: XmlTokens, address: number): 'again' | 'more' | 'left' {
    this.moveTo(tokens, address);
    if (this.#to === tokens.window.end) return 'more';
    if (tokens.at === this.#from) return 'left';
    this.#window = null;
    return 'again';
  }

  moveTo(tokens: XmlTokens, address: number): void {
    tokens.at = address - this.#at + this.#from;
  }
}
