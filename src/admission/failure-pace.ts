// How fast requests without a valid key are answered, by the network that they come from: some at once, then at a steady
// pace. It only says how long to wait; valid keys never ask it. One leaky bucket a network, in its GCRA form.

/** So many are answered at once: a deployment that starts with an old key, and a person who tries. */
const AT_ONCE = 200;

/** Then one each so many milliseconds. A balancer is one network for all behind it, and their wrong keys share this. */
const PACE_MILLISECONDS = 50;

/** The longest wait: clients give up after tens of seconds, and a waiting request costs some KiB. */
const WAIT_MILLISECONDS_MAX = 5_000;

/** Answers that wait at the same time, over all networks; beyond it they are given at once. 4 KiB each. */
const WAITING_MAX = 1024;

/** Networks that are remembered; the one that failed longest ago is forgotten. 100 bytes each. */
const NETWORKS_MAX = 4096;

export class FailurePace {
  /** When the bucket of a network has run empty, in the caller's milliseconds; the one that failed last stands last. */
  #emptyAt = new Map<string, number>();
  #waiting = 0;

  /** Networks that are remembered. */
  get size(): number {
    return this.#emptyAt.size;
  }

  /**
   * Notes a failure and calls `answer`, at once or when its turn comes.
   * @param now milliseconds on a clock that does not go back
   * @param onGone calls back when nobody waits for the answer any more
   */
  pace(network: string, now: number, answer: () => void, onGone: (listener: () => void) => void): 'at once' | 'later' {
    const wait = this.#note(network, now);
    if (wait <= 0 || this.#waiting === WAITING_MAX) {
      answer();
      return 'at once';
    }
    this.#waiting += 1;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      this.#waiting -= 1;
      clearTimeout(timer);
    };
    const timer = setTimeout(() => {
      finish();
      answer();
    }, wait);
    onGone(finish);
    return 'later';
  }

  /** How long its answer must wait, in milliseconds. */
  #note(network: string, now: number): number {
    const before = Math.max(this.#emptyAt.get(network) ?? 0, now);
    // What has to wait the longest fills no more: who goes on failing is slow, not locked out for hours.
    const fullest = now + AT_ONCE * PACE_MILLISECONDS + WAIT_MILLISECONDS_MAX;
    const emptyAt = Math.min(before + PACE_MILLISECONDS, fullest);
    this.#emptyAt.delete(network);
    if (this.#emptyAt.size === NETWORKS_MAX) this.#emptyAt.delete(this.#emptyAt.keys().next().value as string);
    this.#emptyAt.set(network, emptyAt);
    return emptyAt - now - AT_ONCE * PACE_MILLISECONDS;
  }
}
