// Lets the parts of one Run, in several threads, write one file in their order: a part learns where it begins once all
// parts before it have told their sizes. One such Run at a time for each pool, which owns the memory.

/** Slots of 64 bits: the part whose turn it is, and the byte of the file where it begins. */
const PART = 0;
const OFFSET = 1;

/** A part that waits for its turn looks this often whether its Run was cancelled. */
const LOOK_MILLISECONDS = 20;

export class OutputTurns {
  readonly #slots: BigInt64Array;

  /** @param shared TURNS_BYTES */
  constructor(shared: SharedArrayBuffer) {
    this.#slots = new BigInt64Array(shared);
  }

  /** Part 0 is next, at the beginning of a file. No other Run's parts may be at work. */
  begin(): void {
    Atomics.store(this.#slots, OFFSET, 0n);
    Atomics.store(this.#slots, PART, 0n);
  }

  isTurnOf(part: number): boolean {
    return Atomics.load(this.#slots, PART) === BigInt(part);
  }

  /** Resolves when the turn has passed on since `isTurnOf` was false for the part, or after a while. */
  async passed(part: number): Promise<void> {
    const now = Atomics.load(this.#slots, PART);
    if (now === BigInt(part)) return;
    const { value } = Atomics.waitAsync(this.#slots, PART, now, LOOK_MILLISECONDS);
    await value;
  }

  /** Where the part whose turn it is begins, in bytes. */
  get offset(): number {
    return Number(Atomics.load(this.#slots, OFFSET));
  }

  /** Takes the place of a part, whose turn it must be, and passes the turn on. Returns where the part begins, in bytes. */
  take(part: number, bytes: number): number {
    const offset = Atomics.load(this.#slots, OFFSET);
    Atomics.store(this.#slots, OFFSET, offset + BigInt(bytes));
    Atomics.store(this.#slots, PART, BigInt(part + 1));
    Atomics.notify(this.#slots, PART);
    return Number(offset);
  }
}
