// Ids of Runs: `run_` and 130 random bits. A call of the system's random generator for each id would cost a small Run
// more than formatting the id, and so would the conversion of bytes to a string. Both are therefore done for many ids
// at once. No random byte is used twice.
import { randomFillSync } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARACTERS = 26;
const RUN_ID = /^run_[a-z2-7]{26}$/;

/** Number of ids from one call of the generator. */
const IDS_PER_CALL = 128;

const ID_LENGTH = 'run_'.length + ID_CHARACTERS;

export class RunIds {
  #bytes = Buffer.alloc(IDS_PER_CALL * ID_LENGTH);
  /** Concatenated ids of the current batch. */
  #texts = '';
  #used = 0;

  next(): string {
    if (this.#used === this.#texts.length) this.#make();
    const start = this.#used;
    this.#used += ID_LENGTH;
    return this.#texts.slice(start, this.#used);
  }

  #make(): void {
    randomFillSync(this.#bytes);
    for (let at = 0; at < this.#bytes.length; at += 1) {
      this.#bytes[at] = BASE32.charCodeAt(this.#bytes[at]! & 31);
    }
    for (let start = 0; start < this.#bytes.length; start += ID_LENGTH) this.#bytes.write('run_', start);
    this.#texts = this.#bytes.toString('latin1');
    this.#used = 0;
  }
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
