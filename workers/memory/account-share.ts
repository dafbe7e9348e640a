// Limits how much of the node's memory budget one account may hold, so that enough remains for other accounts. The same
// rule applies to the reservations of its Runs (src/admission/run-memory.ts) and, with a stricter factor, to the memory
// that its operations borrow (this file).
import { NO_ACCOUNT } from '../protocol/messages.ts';
import {
  accountSlot,
  accountUnits,
  BUDGET_LIMIT,
  type BudgetCounters,
  type BudgetShare,
  heldUnits,
  threadSlot,
  unitsOf,
} from './budget.ts';

/**
 * An account may hold at most this multiple of the free memory. These are the dynamic thresholds of shared packet
 * buffers (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998), which work without knowing the number of
 * accounts. Growing state may take three quarters of the budget for a single account, and three sevenths per account if
 * two compete. Runs are still admitted up to eight ninths, and eight seventeenths.
 */
const FREE_TIMES_MAX = { state: 3, reservations: 8 } as const;

/** True if an account may hold `held` of the budget for `what` while `free` remains, both in the same unit. */
export function isWithinShare(what: keyof typeof FREE_TIMES_MAX, held: number, free: number): boolean {
  return held <= FREE_TIMES_MAX[what] * free;
}

/** Counts what a Run borrows through its thread for the Run's account as well. */
export class AccountShare implements BudgetShare {
  readonly #counters: BudgetCounters;
  readonly #row: number;
  readonly #slot: number;
  readonly #share: BudgetShare;
  #takenBytes = 0;

  /** @param share the thread's share */
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

  release(bytes: number): void {
    const given = Math.min(bytes, this.#takenBytes);
    this.#note(-given);
    this.#share.release(given);
  }

  /**
   * Ends the Run's part: the account no longer holds its memory. The thread may still hold it until the memory has been
   * garbage-collected.
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

/**
 * True if the account may hold `units` more. They are already counted for the account, but not yet taken from the free
 * memory.
 */
function mayHold(counters: BudgetCounters, row: number, units: number): boolean {
  if (row === NO_ACCOUNT) return true;
  const free = Atomics.load(counters, BUDGET_LIMIT) - heldUnits(counters) - units;
  return isWithinShare('state', accountUnits(counters, row), free);
}
