// One object on which everything hangs that an admitted Run holds: slot, quota reservation, bytes, files.
// States: open (things may be attached) → released (everything was given back, in reverse order).

/** Gives one thing back. It may fail: that is a fault of ours, and the others are given back all the same. */
export type GiveBack = () => void | Promise<void>;

/** One thing on a lease. */
export interface HeldThing {
  /** Gives it back before the rest. Idempotent. A promise only where giving back takes time: most of it does not. */
  giveBack(): void | Promise<void>;
  /** Takes it off the lease without giving it back: somebody else owns it from now on. */
  forget(): void;
}

export class Lease {
  #held: Held[] = [];
  #released = false;
  /** What is still being given back after the release. */
  #underWay: Promise<void> | undefined;

  get released(): boolean {
    return this.#released;
  }

  /**
   * Attaches a thing that was taken. On a lease that was already released it is given back at once, so that what was
   * taken during an await cannot be lost.
   */
  hold(giveBack: GiveBack): HeldThing {
    const thing = new Held(giveBack);
    if (!this.#released) this.#held.push(thing);
    else this.#underWay = together([this.#underWay, later(thing)]);
    return thing;
  }

  /**
   * Gives everything back, last taken first; a promise only where that takes time. Idempotent: a second call waits for
   * the first. Rejects with an AggregateError when something could not be given back, after all the rest was.
   */
  release(): void | Promise<void> {
    if (!this.#released) {
      this.#released = true;
      this.#underWay = this.#giveAllBack([]);
    }
    return this.#underWay;
  }

  #giveAllBack(faults: unknown[]): Promise<void> | undefined {
    for (let thing = this.#held.pop(); thing !== undefined; thing = this.#held.pop()) {
      try {
        const underWay = thing.giveBack();
        if (underWay instanceof Promise) {
          return underWay.catch((fault) => void faults.push(fault)).then(() => this.#giveAllBack(faults));
        }
      } catch (fault) {
        faults.push(fault);
      }
    }
    return faults.length > 0 ? Promise.reject(aggregateOf(faults)) : undefined;
  }
}

class Held implements HeldThing {
  /** null: it was given back or forgotten. */
  #giveBack: GiveBack | null;

  constructor(giveBack: GiveBack) {
    this.#giveBack = giveBack;
  }

  giveBack(): void | Promise<void> {
    const giveBack = this.#giveBack;
    this.#giveBack = null;
    return giveBack?.();
  }

  forget(): void {
    this.#giveBack = null;
  }
}

async function later(thing: HeldThing): Promise<void> {
  await thing.giveBack();
}

async function together(works: readonly (Promise<void> | undefined)[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const faults = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (faults.length > 0) throw aggregateOf(faults);
}

function aggregateOf(faults: readonly unknown[]): AggregateError {
  return new AggregateError(faults, 'a lease could not give everything back');
}
