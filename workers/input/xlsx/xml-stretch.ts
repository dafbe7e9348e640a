// A stretch of an XML part in the Run's memory, where kernels read it: a copy of a part of the window at hand.
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { FENCE_BYTES } from '../../kernel/layout/xml.ts';
import type { Heap } from '../../memory/heap.ts';
import type { XmlTokens } from './xml-tokens.ts';

/** Bytes that a kernel is given at a time: they stay in the processor's cache. A longer cell is the other reader's. */
const STRETCH_BYTES = 64 * 1024;

const LESS = 0x3c;

export class XmlStretch {
  readonly kernel: KernelExports;
  readonly heap: Heap;
  readonly #bytes: number;
  readonly #at: number;
  /** What it is a copy of: [from, to) of a window as it was filled for the `fill`th time. */
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

  /** Copies what stands at the tokens' place, unless it is there; gives its address. */
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

  /** The address behind it. */
  get end(): number {
    return this.#at + this.#to - this.#from;
  }

  /**
   * The kernel came to this address. What it could not read there is whole in a stretch that begins there ('again'), or nothing
   * more is in the window ('more'), or it is too long for any stretch ('left').
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
