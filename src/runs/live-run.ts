// A Run that is not over: what those who wait for it hold on to. It decides nothing; conduct.ts ends it.
import type { Refusal } from '../http/refusal.ts';
import type { RunRecord } from './run.ts';

/** `void`: it ended in an error before anybody was shown it, and no Run remains. */
export type RunOver =
  | { readonly kind: 'finished'; readonly run: RunRecord }
  | { readonly kind: 'void'; readonly refusal: Refusal };

export class LiveRun {
  readonly run: RunRecord;
  readonly over: Promise<RunOver>;
  #promised = false;
  #void = false;
  #resolve: (over: RunOver) => void = () => {};

  constructor(run: RunRecord) {
    this.run = run;
    this.over = new Promise((resolve) => {
      this.#resolve = resolve;
    });
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
    this.#resolve(over);
  }
}
