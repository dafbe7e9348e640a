// Counts what the pages of a file inflate to, against the plan's ceiling.
import { Failed } from '../../protocol/failure.ts';

export class InflatedBytes {
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax null: none */
  constructor(bytesMax: number | null) {
    this.#bytesMax = bytesMax ?? Number.POSITIVE_INFINITY;
  }

  /** Throws Failed. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax)
      throw new Failed('FILE_TOO_LARGE', `The file inflates to more than ${this.#bytesMax} bytes.`);
  }
}
