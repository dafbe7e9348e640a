// The Runs of one thread that pause take turns: one slice of one Run between two looks at what has arrived, so that a
// small Run that comes waits for one slice, however many large ones are at work.

export class ThreadTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#pass);
    });
  }

  readonly #pass = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#pass);
  };
}
