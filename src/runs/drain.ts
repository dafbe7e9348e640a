// The end of the node's life: no new Runs, then a deadline for what is under way. It does not know signals or sockets.
// States: open → draining (until the deadline, or until nothing is under way) → over (the deadline has passed).

export class Drain {
  draining = false;
  #overListeners = new Set<() => void>();
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
    this.#overListeners.add(listener);
    return () => this.#overListeners.delete(listener);
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
    const listeners = [...this.#overListeners];
    this.#overListeners.clear();
    for (const listener of listeners) listener();
  }
}
