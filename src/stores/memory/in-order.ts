// What expires about in the order in which it ends, in stores that forget in this order: one is enough but where the clock
// was set back, behind which what is later would wait for what came before.

/** Ends that wait for the ledger come out of order by less than this. By more, on a clock that was set back. */
const DISORDER_MILLISECONDS_MAX = 60_000;

/** Forgets the first first. */
export interface OrderedStore {
  readonly size: number;
  /** Nothing is left of what it held. */
  readonly isEmpty: boolean;
  /** Forgets at most `max` of those whose time has come, and says how many. */
  sweep(now: number, max: number): number;
}

export class InOrder<Store extends OrderedStore> {
  readonly #make: () => Store;
  /** In the order in which they began; the last one takes what ends. */
  #stores: Store[];
  #latestExpiry = 0;

  constructor(make: () => Store) {
    this.#make = make;
    this.#stores = [make()];
  }

  /** All of them: what is looked for may be in any. */
  get stores(): readonly Store[] {
    return this.#stores;
  }

  get size(): number {
    return this.#stores.reduce((sum, { size }) => sum + size, 0);
  }

  /** The one that takes what expires then. */
  storeFor(expiresAt: number): Store {
    // Behind what ended while the clock was a day ahead, all that is later would be kept for a day.
    if (expiresAt < this.#latestExpiry - DISORDER_MILLISECONDS_MAX) this.#stores.push(this.#make());
    this.#latestExpiry = expiresAt;
    return this.#stores.at(-1)!;
  }

  /** As of each store. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (const store of this.#stores) forgotten += store.sweep(now, max - forgotten);
    if (this.#stores.length > 1)
      this.#stores = this.#stores.filter((store, at, { length }) => !store.isEmpty || at === length - 1);
    return forgotten;
  }
}
