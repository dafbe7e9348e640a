// A Run that is not over: what those who wait for it hold on to. It decides nothing; conduct.ts ends it.
import type { Refusal } from '../http/refusal.ts';
import type { RunRecord } from './run.ts';

/** `void`: it ended in an error before anybody was shown it, and no Run remains. */
export type RunOver =
  | { readonly kind: 'finished'; readonly run: RunRecord }
  | { readonly kind: 'void'; readonly refusal: Refusal };

export class LiveRun {
  readonly run: RunRecord;
  #promised = false;
  #void = false;
  #over: RunOver | null = null;
  #listeners: ((over: RunOver) => void)[] = [];

  constructor(run: RunRecord) {
    this.run = run;
  }

  /** Calls back when it is over; at once when it already is. A listener may not throw. */
  onOver(listener: (over: RunOver) => void): void {
    if (this.#over !== null) listener(this.#over);
    else this.#listeners.push(listener);
  }

  /** Its id was given to somebody, or will be asked for by its key: it ends as a Run, whatever happens. */
  get promised(): boolean {
    return this.#promised;
  }

  /** Promises the Run. False: it has just been decided that no Run remains. */
  promise(): boolean {
    if (!this.#void) this.#promised = true;
    return this.#promised;
  }

  /** Decides that no Run remains. False: it was promised. */
  drop(): boolean {
    if (!this.#promised) this.#void = true;
    return this.#void;
  }

  end(over: RunOver): void {
    this.#over = over;
    for (const tell of this.#listeners.splice(0)) tell(over);
  }
}
