// What one account may hold of the node's memory budget: as much as leaves others their part. The rule is the same for the
// reservations of its Runs (src/admission/run-memory.ts) and, more strictly, for what their operations borrow, asked here.
import {
  accountSlot,
  accountUnits,
  BUDGET_LIMIT,
  type BudgetCounters,
  type BudgetShare,
  heldUnits,
  NO_ACCOUNT,
  threadSlot,
  unitsOf,
} from './budget.ts';

/**
 * An account may hold so many times what is free: the dynamic thresholds of shared packet buffers (Choudhury and Hahne,
 * IEEE/ACM Transactions on Networking 6, 1998), which need not know who else is there. State that grows may bring it to three
 * quarters of the budget while it is alone, and to three sevenths beside another that takes what it can get; its Runs are
 * still admitted up to eight ninths, and eight seventeenths.
 */
const FREE_TIMES_MAX = { state: 3, reservations: 8 } as const;

/** Whether an account may hold `held` of the budget for the sake of `what` when `free` is left, in the same unit. */
export function isWithinShare(what: keyof typeof FREE_TIMES_MAX, held: number, free: number): boolean {
  return held <= FREE_TIMES_MAX[what] * free;
}

/** What a Run borrows through its thread, noted for its account. */
export class AccountShare implements BudgetShare {
  readonly #counters: BudgetCounters;
  readonly #row: number;
  readonly #slot: number;
  readonly #share: BudgetShare;
  #takenBytes = 0;

  /** @param share the thread's */
  constructor(counters: BudgetCounters, thread: number, row: number, share: BudgetShare) {
    this.#counters = counters;
    this.#row = row;
    this.#slot = accountSlot(counters, row, threadSlot(thread));
    this.#share = share;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  take(bytes: number): boolean {
    const units = this.#note(bytes);
    if (mayHold(this.#counters, this.#row, units) && this.#share.take(bytes)) return true;
    this.#note(-bytes);
    return false;
  }

  force(bytes: number): void {
    this.#note(bytes);
    this.#share.force(bytes);
  }

  give(bytes: number): void {
    const given = Math.min(bytes, this.#takenBytes);
    this.#note(-given);
    this.#share.give(given);
  }

  /**
   * The Run is over: its account holds nothing of it any more. The thread may still hold it, where memory has to be
   * collected before it is free.
   */
  leave(): void {
    if (this.#takenBytes > 0) this.#note(-this.#takenBytes);
  }

  #note(bytes: number): number {
    const units = unitsOf(this.#takenBytes + bytes) - unitsOf(this.#takenBytes);
    this.#takenBytes += bytes;
    Atomics.add(this.#counters, this.#slot, units);
    return units;
  }
}

/** Whether it may have `units` more, which are noted for it already and not yet taken from what is free. */
function mayHold(counters: BudgetCounters, row: number, units: number): boolean {
  if (row === NO_ACCOUNT) return true;
  const free = Atomics.load(counters, BUDGET_LIMIT) - heldUnits(counters) - units;
  return isWithinShare('state', accountUnits(counters, row), free);
}
