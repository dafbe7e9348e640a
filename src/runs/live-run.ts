// A Run of this node that is not over: what those who wait for it hold on to. It decides nothing; conduct.ts ends it.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { Refusal } from '../http/refusal.ts';
import type { RunRecord } from './run.ts';

/** `void`: it ended in an error before anybody was shown it, and no Run remains. */
export type RunOver =
  | { readonly kind: 'finished'; readonly run: RunRecord }
  | { readonly kind: 'void'; readonly refusal: Refusal };

export class LiveRun {
  /** While it runs. */
  readonly run: RunRecord;
  #ask: () => MaybePromise<boolean>;
  #promised = false;
  #over: RunOver | null = null;
  #listeners: ((over: RunOver) => void)[] = [];

  /** @param ask promises the Run to others; false: no Run remains */
  constructor(run: RunRecord, ask: () => MaybePromise<boolean>) {
    this.run = run;
    this.#ask = ask;
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
  promise(): MaybePromise<boolean> {
    if (this.#promised) return true;
    const asked = this.#ask();
    if (asked instanceof Promise) return asked.then((promised) => this.#note(promised));
    return this.#note(asked);
  }

  end(over: RunOver): void {
    this.#over = over;
    for (const tell of this.#listeners.splice(0)) tell(over);
  }

  #note(promised: boolean): boolean {
    this.#promised ||= promised;
    return promised;
  }
}
