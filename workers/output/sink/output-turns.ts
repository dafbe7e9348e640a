// Lets the parts of one Run, in several threads, write to one file in order. A part learns its offset once all
// earlier parts have reported their sizes. The memory belongs to the pool, which supports one such Run at a time.

/** 64-bit slots: the part whose turn it is, and its offset in the file. */
const PART = 0;
const OFFSET = 1;

/** Interval at which a waiting part checks whether its Run was cancelled, in milliseconds. */
const LOOK_MILLISECONDS = 20;

export class OutputTurns {
  readonly #slots: BigInt64Array;

  /** @param shared TURNS_BYTES of shared memory */
  constructor(shared: SharedArrayBuffer) {
    this.#slots = new BigInt64Array(shared);
  }

  /** Resets to part 0 at the start of a file. No parts of another Run may be active. */
  begin(): void {
    Atomics.store(this.#slots, OFFSET, 0n);
    Atomics.store(this.#slots, PART, 0n);
  }

  isTurnOf(part: number): boolean {
    return Atomics.load(this.#slots, PART) === BigInt(part);
  }

  /** Resolves when the turn has changed since `isTurnOf` returned false for the part, or after LOOK_MILLISECONDS. */
  async passed(part: number): Promise<void> {
    const now = Atomics.load(this.#slots, PART);
    if (now === BigInt(part)) return;
    const { value } = Atomics.waitAsync(this.#slots, PART, now, LOOK_MILLISECONDS);
    await value;
  }

  /** Offset of the part whose turn it is, in bytes. */
  get offset(): number {
    return Number(Atomics.load(this.#slots, OFFSET));
  }

  /**
   * Reserves the range of a part, whose turn it must be, and passes the turn on. Returns the offset of the part, in
   * bytes.
   */
  take(part: number, bytes: number): number {
    const offset = Atomics.load(this.#slots, OFFSET);
    Atomics.store(this.#slots, OFFSET, offset + BigInt(bytes));
    Atomics.store(this.#slots, PART, BigInt(part + 1));
    Atomics.notify(this.#slots, PART);
    return Number(offset);
  }
}
