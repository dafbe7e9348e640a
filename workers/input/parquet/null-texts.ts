// The Template's `null_values`, which texts of a file are compared with.
import type { Heap } from '../../memory/heap.ts';

/** Texts of so many bytes or more share one bit of the mask. */
const LENGTH_BIT_MAX = 31;

export class NullTexts {
  readonly #texts: readonly Buffer[];
  /** A bit for each length that one of them has. */
  readonly #lengths: number;

  constructor(texts: readonly string[]) {
    this.#texts = texts.map((text) => Buffer.from(text));
    this.#lengths = this.#texts.reduce((mask, { length }) => mask | (1 << Math.min(length, LENGTH_BIT_MAX)), 0);
  }

  has({ u8 }: Heap, at: number, bytes: number): boolean {
    if ((this.#lengths & (1 << Math.min(bytes, LENGTH_BIT_MAX))) === 0) return false;
    return this.#texts.some((text) => {
      if (text.length !== bytes) return false;
      for (let index = 0; index < bytes; index++) if (u8[at + index] !== text[index]) return false;
      return true;
    });
  }
}
