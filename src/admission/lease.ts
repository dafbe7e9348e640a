// One object on which everything hangs that an admitted Run holds: slot, quota reservation, bytes, files.
// States: open (things may be attached) → released (everything was given back, in reverse order).

/** Gives one thing back. It may fail: that is a fault of ours, and the others are given back all the same. */
export type GiveBack = () => void | Promise<void>;

/** One thing on a lease. */
export interface HeldThing {
  /** Gives it back before the rest. Idempotent. */
  giveBack(): Promise<void>;
  /** Takes it off the lease without giving it back: somebody else owns it from now on. */
  forget(): void;
}

export class Lease {
  #held = new Map<symbol, GiveBack>();
  #released: Promise<void> | null = null;

  get released(): boolean {
    return this.#released !== null;
  }

  /**
   * Attaches a thing that was taken. On a lease that was already released it is given back at once, so that what was
   * taken during an await cannot be lost.
   */
  hold(giveBack: GiveBack): HeldThing {
    const key = Symbol();
    this.#held.set(key, giveBack);
    const thing: HeldThing = {
      giveBack: () => this.#giveBack(key),
      forget: () => {
        this.#held.delete(key);
      },
    };
    if (this.#released !== null) this.#released = together([this.#released, thing.giveBack()]);
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
    for (const key of [...this.#held.keys()].reverse()) {
      await this.#giveBack(key).catch((fault: unknown) => faults.push(fault));
    }
    rethrow(faults);
  }

  async #giveBack(key: symbol): Promise<void> {
    const giveBack = this.#held.get(key);
    if (this.#held.delete(key)) await giveBack?.();
  }
}

async function together(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  rethrow(results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])));
}

function rethrow(faults: readonly unknown[]): void {
  if (faults.length > 0) throw new AggregateError(faults, 'a lease could not give everything back');
}
