// Shutdown of the node: refuses new Runs, then sets a deadline for current work. Independent of signals and sockets.
// States:
// - open
// - announced: only /readyz reports it, so that balancers send no more requests
// - draining: until the deadline, or until no work is left
// - over: the deadline has passed

/** Deadline listener in a linked ring, which costs a small Run less than insertion into and removal from a Set. */
class Waiting {
  readonly listener: () => void;
  before: Waiting = this;
  after: Waiting = this;

  constructor(listener: () => void) {
    this.listener = listener;
  }

  /** Inserts this listener at the end of the ring. */
  enter(head: Waiting): void {
    this.before = head.before;
    this.after = head;
    head.before.after = this;
    head.before = this;
  }

  /** Removes this listener from its ring. Idempotent. */
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
  /** Head of the ring of listeners. */
  #waits = new Waiting(() => {});
  #idle: (() => void) | null = null;
  #underWay = 0;
  #over = false;

  /** Number of tasks for which the drain waits. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Registers a task until the returned function is called. */
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

  /** Calls back when the deadline passes. Returns a function that cancels the registration. */
  onDeadline(listener: () => void): () => void {
    if (this.#over) {
      listener();
      return () => {};
    }
    const waiting = new Waiting(listener);
    waiting.enter(this.#waits);
    return () => waiting.leave();
  }

  /** Resolves after the given time. Until then, new Runs are still accepted. */
  async announce(milliseconds: number): Promise<void> {
    this.announced = true;
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  /**
   * Refuses new Runs, and resolves when no task is left. At the deadline, the listeners are called so that their
   * tasks end.
   */
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
    // A listener may remove other listeners.
    for (let first = this.#waits.after; first !== this.#waits; first = this.#waits.after) {
      first.leave();
      first.listener();
    }
  }
}
