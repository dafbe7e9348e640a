// A limit in time that is the same for all: how long a client waits, how long a Run may take. Thousands begin in a second and
// hardly any is reached, so that one timer runs for the first of them. It does not know what happens then.
import { Waiting } from './waiting.ts';

export class Countdown {
  #milliseconds: number;
  /** Head of the ring of all who wait: the first is due first. */
  #waits = new Waiting(() => {});
  #timer: NodeJS.Timeout | undefined;
  /** When the timer looks, on the clock of performance.now. */
  #looksAt = Number.POSITIVE_INFINITY;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /**
   * Calls back when the time is over, unless the one who waits has left.
   * @param startedAt when it began to count, in milliseconds since 1970
   */
  start(startedAt: number, listener: () => void): Waiting {
    const now = performance.now();
    const waiting = new Waiting(listener, now + Math.max(0, startedAt + this.#milliseconds - Date.now()));
    waiting.enter(this.#waits);
    if (waiting.at < this.#looksAt) this.#lookIn(waiting.at - now);
    return waiting;
  }

  #lookIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#looksAt = performance.now() + milliseconds;
    // The process is held by what they wait for.
    this.#timer = setTimeout(() => this.#look(), milliseconds).unref();
  }

  #look(): void {
    this.#looksAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    this.#waits.tell(now);
    const first = this.#waits.after;
    if (first.at < this.#looksAt) this.#lookIn(first.at - now);
  }
}
