// Work that is asked for more often than it can be done: one at a time, and all who ask meanwhile share the next one.
// States: idle → at work → idle, or at work → one more waits → at work.

export class RepeatedWork<Result> {
  readonly #work: () => Promise<Result>;
  #current: Promise<Result> | null = null;
  #next: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  /** Resolves with the result of work that began after this was called. */
  run(): Promise<Result> {
    if (this.#current === null) {
      this.#current = this.#work().finally(() => {
        this.#current = null;
      });
      return this.#current;
    }
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.run();
      });
    return this.#next;
  }

  get isAtWork(): boolean {
    return this.#current !== null;
  }

  /** When nothing is under way and nothing waits. */
  async ended(): Promise<void> {
    while (this.#current !== null) await (this.#next ?? this.#current).catch(() => undefined);
  }
}
