// How long Runs have been in the pool, and how long they waited for a thread: figures for alerts, which decide nothing.

interface Followed<End> {
  begun(): void;
  ended(end: End): void;
}

export class RunTimes {
  /** When each was given to the pool, by task: a Map keeps the order, so that the first is the oldest. */
  #given = new Map<number, number>();
  #waitMilliseconds = 0;
  #begun = 0;

  /** What it returns is called in the place of `begun` and `ended`. */
  follow<End>(task: number, now: number, ended: (end: End) => void, begun?: () => void): Followed<End> {
    this.#given.set(task, now);
    return {
      begun: () => {
        this.#begun += 1;
        this.#waitMilliseconds += performance.now() - now;
        begun?.();
      },
      ended: (end) => {
        this.#given.delete(task);
        ended(end);
      },
    };
  }

  /** 0 where there is none. */
  oldestSeconds(now = performance.now()): number {
    for (const given of this.#given.values()) return (now - given) / 1000;
    return 0;
  }

  /** Of all Runs that a thread has begun since the start. */
  get waited(): { readonly seconds: number; readonly runs: number } {
    return { seconds: this.#waitMilliseconds / 1000, runs: this.#begun };
  }
}
