// Entries that expire in the order of insertion, and the memory that each account's entries hold.
import type { MemoryBudget } from '../../admission/memory-budget.ts';

// A list of stores whose entries expire roughly in the order of insertion, and are removed in that order. One store
// is enough unless the clock is set back: entries added after that expire earlier, but would have to wait for the
// entries before them.

/**
 * Runs that wait for the ledger end out of order by less than this. A larger difference means that the clock was set
 * back.
 */
const DISORDER_MILLISECONDS_MAX = 60_000;

/** A store that removes its entries in insertion order. */
export interface OrderedStore {
  readonly size: number;
  /** True if no entries are left. */
  readonly isEmpty: boolean;
  /** Removes at most `max` expired entries and returns the number removed. */
  sweep(now: number, max: number): number;
}

export class InOrder<Store extends OrderedStore> {
  readonly #make: () => Store;
  /** In order of creation; the last store receives new entries. */
  #stores: Store[];
  #latestExpiry = 0;

  constructor(make: () => Store) {
    this.#make = make;
    this.#stores = [make()];
  }

  /** All stores, because a searched entry may be in any of them. */
  get stores(): readonly Store[] {
    return this.#stores;
  }

  get size(): number {
    return this.#stores.reduce((sum, { size }) => sum + size, 0);
  }

  /** The store for an entry with this expiry time. */
  storeFor(expiresAt: number): Store {
    // If the clock was a day ahead for a while, later entries in the same store would be kept a day too long.
    if (expiresAt < this.#latestExpiry - DISORDER_MILLISECONDS_MAX) this.#stores.push(this.#make());
    this.#latestExpiry = expiresAt;
    return this.#stores.at(-1)!;
  }

  /** Same contract as in each store. */
  sweep(now: number, max: number): number {
    let forgotten = 0;
    for (const store of this.#stores) forgotten += store.sweep(now, max - forgotten);
    if (this.#stores.length > 1)
      this.#stores = this.#stores.filter((store, at, { length }) => !store.isEmpty || at === length - 1);
    return forgotten;
  }
}

// Memory that the ended Runs of each account (their records and keys) hold until they expire. An account that has
// used up its share gets no new Runs until some of its ended Runs expire; other accounts are not affected.

/** Maximum part of the budget for the ended Runs of all accounts. The rest is for Runs in progress. */
const BUDGET_SHARE = 3 / 4;

/**
 * An account may hold this multiple of the memory that is still free in the shared part (as in
 * workers/memory/account-share.ts). A single account can hold half of the budget, and n accounts at their limits
 * together less than three quarters.
 */
const FREE_TIMES_MAX = 2;

export class KeptMemory {
  readonly #budget: MemoryBudget;
  readonly #bytesByAccount = new Map<string, number>();
  #totalBytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Adds bytes to the memory held by the account; a negative number releases them. */
  charge(bytes: number, account: string): void {
    if (bytes > 0) this.#budget.charge(bytes, 'records');
    else this.#budget.release(-bytes, 'records');
    this.#totalBytes += bytes;
    const held = this.bytesOf(account) + bytes;
    if (held === 0) this.#bytesByAccount.delete(account);
    else this.#bytesByAccount.set(account, held);
  }

  bytesOf(account: string): number {
    return this.#bytesByAccount.get(account) ?? 0;
  }

  /** True if the account may keep another Run. */
  hasShare(account: string): boolean {
    const freeBytes = this.#budget.limitBytes * BUDGET_SHARE - this.#totalBytes;
    const heldBytes = this.bytesOf(account);
    return heldBytes === 0 || heldBytes <= FREE_TIMES_MAX * freeBytes;
  }
}
