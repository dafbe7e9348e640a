// The gate to the node's one large-row arena (see LARGE_ROW_ARENA_BYTES): the Run whose row outgrew its window waits here
// until no other Run of the node, in whatever thread, is at such a row.

/** Milliseconds between two looks at the gate: large rows are rare and last tens of milliseconds. */
const LOOK_MILLISECONDS = 5;

export class LargeRowGate {
  readonly #flag: Int32Array;
  readonly #owner: number;
  #held = false;

  /**
   * @param flag one shared Int32: 0 = free, else the owner
   * @param owner a number unlike that of any other Run at work (its task's number plus one)
   */
  constructor(flag: Int32Array, owner: number) {
    this.#flag = flag;
    this.#owner = owner;
  }

  /** @param cancelled looked at between tries; the wait ends when it is true */
  async acquire(cancelled: () => boolean): Promise<void> {
    while (!this.#held && !cancelled()) {
      this.#held = Atomics.compareExchange(this.#flag, 0, 0, this.#owner) === 0;
      if (!this.#held) await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
    }
  }

  release(): void {
    if (this.#held) Atomics.compareExchange(this.#flag, 0, this.#owner, 0);
    this.#held = false;
  }
}
