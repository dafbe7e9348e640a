// The end of the node's life: no new Runs, then a deadline for what is under way. It does not know signals or sockets.
// States: open → draining (until the deadline, or until nothing is under way) → over (the deadline has passed).

/** One who is to be told of the deadline. */
interface Waiting {
  /** null: it was taken back, or told. */
  listener: (() => void) | null;
}

export class Drain {
  draining = false;
  #waits = new Set<Waiting>();
  #idle: (() => void) | null = null;
  #underWay = 0;
  #over = false;

  /** Things that the drain waits for. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Something is under way until the function that it returns is called. */
  enter(): () => void {
    this.#underWay += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    };
  }

  /** Calls back when the deadline passes; returns how to take that back. */
  onDeadline(listener: () => void): () => void {
    if (this.#over) {
      listener();
      return () => {};
    }
    const waiting: Waiting = { listener };
    this.#waits.add(waiting);
    return () => {
      // A set that grew old leaves its former tables to the collector of what is old, with all that was in them.
      waiting.listener = null;
      this.#waits.delete(waiting);
    };
  }

  /** Takes nothing new; resolves when nothing is under way, after the deadline at the latest when that ends it. */
  async run(milliseconds: number): Promise<void> {
    this.draining = true;
    if (this.#underWay === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const timer = setTimeout(() => this.#deadline(), milliseconds);
    await idle;
    clearTimeout(timer);
  }

  #deadline(): void {
    this.#over = true;
    const waiting = [...this.#waits];
    this.#waits.clear();
    for (const { listener } of waiting) listener?.();
  }
}
