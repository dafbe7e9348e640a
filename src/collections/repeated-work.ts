// Coalesces repeated requests for the same work: only one execution runs at a time, and all requests made during it
// share the next execution.
//
// States: idle → at work → idle, or at work → at work with one execution waiting → at work.

export class RepeatedWork<Result> {
  readonly #work: () => Promise<Result>;
  #current: Promise<Result> | null = null;
  #next: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  /** Resolves with the result of an execution that started after this call. */
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

  /** Resolves when no execution is running or waiting. */
  async ended(): Promise<void> {
    while (this.#current !== null) await (this.#next ?? this.#current).catch(() => undefined);
  }
}
