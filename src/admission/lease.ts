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
  #released: Promise<void> | null = null;

  get released(): boolean {
    return this.#released !== null;
  }

  /**
   * Attaches a thing that was taken. On a lease that was already released it is given back at once, so that what was
   * taken during an await cannot be lost.
   */
  hold(giveBack: GiveBack): HeldThing {
    const thing = new Held(giveBack);
    if (this.#released === null) this.#held.push(thing);
    else this.#released = together([this.#released, later(thing)]);
    return thing;
  }

  /**
   * Gives everything back, last taken first. Idempotent: a second call waits for the first. Rejects with an
   * AggregateError when something could not be given back, after all the rest was.
   */
  release(): Promise<void> {
    this.#released ??= this.#giveAllBack();
    return this.#released;
  }

  async #giveAllBack(): Promise<void> {
    const faults: unknown[] = [];
    for (let thing = this.#held.pop(); thing !== undefined; thing = this.#held.pop()) {
      try {
        const underWay = thing.giveBack();
        if (underWay !== undefined) await underWay;
      } catch (fault) {
        faults.push(fault);
      }
    }
    rethrow(faults);
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

async function together(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  rethrow(results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
}

function rethrow(faults: readonly unknown[]): void {
  if (faults.length > 0) throw new AggregateError(faults, 'a lease could not give everything back');
}
