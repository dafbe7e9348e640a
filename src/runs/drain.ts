// The end of the node's life: no new Runs, then a deadline for what is under way. It does not know signals or sockets.
// States: open → announced (only /readyz knows, so that balancers send nothing more) → draining (until the deadline, or until nothing is under way) → over (the deadline has passed).

/** One who is to be told of the deadline: in a ring, which costs a small Run less than its places in a Set. */
class Waiting {
  readonly listener: () => void;
  before: Waiting = this;
  after: Waiting = this;

  constructor(listener: () => void) {
    this.listener = listener;
  }

  /** Into a ring, as the last behind its head. */
  enter(head: Waiting): void {
    this.before = head.before;
    this.after = head;
    head.before.after = this;
    head.before = this;
  }

  /** Idempotent. */
  leave(): void {
    this.before.after = this.after;
    this.after.before = this.before;
    this.before = this;
    this.after = this;
  }
}

export class Drain {
  draining = false;
  announced = false;
  /** Head of the ring of all who wait. */
  #waits = new Waiting(() => {});
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
    const waiting = new Waiting(listener);
    waiting.enter(this.#waits);
    return () => waiting.leave();
  }

  /** Resolves after so long, in which everything is taken as before. */
  async announce(milliseconds: number): Promise<void> {
    this.announced = true;
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  /** Takes nothing new; resolves when nothing is under way, after the deadline at the latest when that ends it. */
  async run(milliseconds: number): Promise<void> {
    this.announced = true;
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
    // One that is informed may take others back.
    for (let first = this.#waits.after; first !== this.#waits; first = this.#waits.after) {
      first.leave();
      first.listener();
    }
  }
}
