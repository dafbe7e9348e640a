// Turns at a place that may hang, such as a folder of another machine: a call that hangs there keeps a thread of the four that
// Node has for files, and the others must go on with the node's own disk.
import { SharedStoreUnavailableError } from '../stores/store-unavailable.ts';

export class PlaceTurns {
  readonly #what: string;
  readonly #turnsMax: number;
  /** How often somebody has waited in vain. */
  late = 0;
  #taken = 0;
  readonly #waiting = new Set<() => void>();
  /** Of those who wait no longer than they said. */
  readonly #limited = new Set<() => void>();
  #isHurried = false;

  /** @param what whose turns these are, for whoever waits in vain */
  constructor(what: string, turnsMax: number) {
    this.#what = what;
    this.#turnsMax = turnsMax;
  }

  /** Works as soon as it is its turn. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#turnsMax) this.#taken += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.#work(work);
  }

  /**
   * Rejects with SharedStoreUnavailableError where the turn or the work takes longer.
   * @param undo of work that is done too late; its trouble has nobody to tell
   */
  takeWithin<T>(milliseconds: number, work: () => Promise<T>, undo: (made: T) => Promise<void>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const begin = async (): Promise<void> => {
        try {
          const made = await this.#work(work);
          if (isLate) await undo(made).catch(() => {});
          else resolve(made);
        } catch (fault) {
          reject(fault);
        }
        clearTimeout(timer);
        this.#limited.delete(giveUp);
      };
      const giveUp = (): void => {
        isLate = true;
        this.late += 1;
        clearTimeout(timer);
        this.#limited.delete(giveUp);
        this.#waiting.delete(begin);
        reject(new SharedStoreUnavailableError(this.#what, new Error('it does not answer')));
      };
      const timer = setTimeout(giveUp, this.#isHurried ? 0 : milliseconds);
      this.#limited.add(giveUp);
      if (this.#taken >= this.#turnsMax) return void this.#waiting.add(begin);
      this.#taken += 1;
      void begin();
    });
  }

  /** Nobody waits any more, from now on. */
  hurry(): void {
    this.#isHurried = true;
    for (const giveUp of [...this.#limited]) giveUp();
  }

  /** The turn is taken; it goes to the next who waits. */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#taken -= 1;
      else {
        this.#waiting.delete(next);
        next();
      }
    }
  }
}
