// The ids of Runs: `run_` and 130 random bits. Asking the system's generator for each id costs a small Run more than making
// the id, so it is asked for many at once; no byte of it is used twice.
import { randomFillSync } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARACTERS = 26;
const RUN_ID = /^run_[a-z2-7]{26}$/;

/** Ids that one call of the generator is for. */
const IDS_PER_CALL = 128;

export class RunIds {
  #random = Buffer.alloc(IDS_PER_CALL * ID_CHARACTERS);
  #used = IDS_PER_CALL * ID_CHARACTERS;
  /** Not letter by letter: such a string is a chain of pieces as long as it lives. */
  #text = Buffer.from(`run_${' '.repeat(ID_CHARACTERS)}`);

  next(): string {
    if (this.#used === this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    for (let at = 'run_'.length; at < this.#text.length; at += 1) {
      this.#text[at] = BASE32.charCodeAt((this.#random[this.#used++] as number) & 31);
    }
    return this.#text.toString('latin1');
  }
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
