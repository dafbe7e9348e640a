// The main thread's side of the node's one memory budget: reservations of Runs, named charges for what is kept, and
// what a dead thread had borrowed. The threads' own side, and the shared layout, are in workers/memory/budget.ts.
import {
  accountSlot,
  accountUnits,
  BUDGET_KEPT,
  BUDGET_LIMIT,
  BUDGET_MAIN,
  BUDGET_UNIT_BYTES,
  budgetSlots,
  forgetThreadUnits,
  heldUnits,
  LARGE_ROW_ARENA_BYTES,
  RUN_RESERVATION_BYTES,
  tryHold,
  unitsOf,
} from '../../workers/memory/budget.ts';

/** What the main thread holds, by name: each grows with load and has a gauge of its own. */
export const BUDGET_CHARGES = ['reservations', 'bodies', 'records', 'outputs', 'reports'] as const;
export type BudgetCharge = (typeof BUDGET_CHARGES)[number];

/** Below this nothing can be admitted: one reservation and the large-row arena, in bytes. */
export const MEMORY_BUDGET_BYTES_MIN = RUN_RESERVATION_BYTES + LARGE_ROW_ARENA_BYTES;

/** The counters are Int32 of KiB. */
export const MEMORY_BUDGET_BYTES_MAX = 0x7fffffff * BUDGET_UNIT_BYTES;

/**
 * What a service's threads leave free for the next Runs, whatever state they hold: one part in so many of the budget, and at
 * most what admits sixteen Runs, in bytes. With the smallest budget that is one Run with operations that spill.
 */
const KEPT_SHARE = 4;
const KEPT_BYTES_MAX = 16 * RUN_RESERVATION_BYTES;

/** How often a refusal is asked again: two that ask in the same instant may refuse each other once. */
const ATTEMPTS_MAX = 3;

/** A command admits its Runs at once: nothing has to be kept for others. */
export type BudgetUse = 'service' | 'command';

export class MemoryBudget {
  /** For `ThreadStart.budget`: every worker thread sees the same counters. */
  readonly buffer: SharedArrayBuffer;
  readonly limitBytes: number;
  #counters: Int32Array;
  #charges: Record<BudgetCharge, number> = { reservations: 0, bodies: 0, records: 0, outputs: 0, reports: 0 };
  #heldBytes = 0;

  /**
   * @param limitBytes the whole budget; throws a RangeError outside MEMORY_BUDGET_BYTES_MIN to _MAX
   * @param threads number of worker threads: thread numbers are 0 to threads - 1
   * @param use in a service the threads are refused what is kept for admission
   */
  constructor(limitBytes: number, threads: number, use: BudgetUse = 'command') {
    if (!(limitBytes >= MEMORY_BUDGET_BYTES_MIN && limitBytes <= MEMORY_BUDGET_BYTES_MAX)) {
      throw new RangeError(
        `a memory budget of ${limitBytes} bytes is not between ${MEMORY_BUDGET_BYTES_MIN} and ${MEMORY_BUDGET_BYTES_MAX}`,
      );
    }
    this.limitBytes = limitBytes;
    this.buffer = new SharedArrayBuffer(budgetSlots(threads) * Int32Array.BYTES_PER_ELEMENT);
    this.#counters = new Int32Array(this.buffer);
    Atomics.store(this.#counters, BUDGET_LIMIT, Math.floor(limitBytes / BUDGET_UNIT_BYTES));
    const keptBytes = use === 'service' ? Math.min(Math.floor(limitBytes / KEPT_SHARE), KEPT_BYTES_MAX) : 0;
    Atomics.store(this.#counters, BUDGET_KEPT, unitsOf(keptBytes));
  }

  /** Takes the bytes if they are free. A Run is admitted with `tryReserve(RUN_RESERVATION_BYTES, 'reservations')`. */
  tryReserve(bytes: number, charge: BudgetCharge): boolean {
    const units = unitsOf(this.#heldBytes + bytes) - unitsOf(this.#heldBytes);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (!tryHold(this.#counters, BUDGET_MAIN, units)) continue;
      this.#note(bytes, charge);
      return true;
    }
    return false;
  }

  /** Takes what cannot be refused because it belongs to an admitted Run: its record, report, output in memory. */
  charge(bytes: number, charge: BudgetCharge): void {
    this.#hold(bytes);
    this.#note(bytes, charge);
  }

  /** Gives back what tryReserve or charge took under this name. Throws when it is more than that: a fault of ours. */
  release(bytes: number, charge: BudgetCharge): void {
    if (bytes > this.usedBytes(charge)) throw new Error(`the budget's ${charge} would become negative`);
    this.#hold(-bytes);
    this.#note(-bytes, charge);
  }

  /** Bytes held under one name. */
  usedBytes(charge: BudgetCharge): number {
    return this.#charges[charge];
  }

  /** Notes that so many bytes more (or less) of what the main thread holds are an account's; whole units only. */
  noteAccount(row: number, bytes: number): void {
    Atomics.add(this.#counters, accountSlot(this.#counters, row, BUDGET_MAIN), bytes / BUDGET_UNIT_BYTES);
  }

  /** Bytes that the account of that row holds, its Runs' threads included. */
  accountBytes(row: number): number {
    return accountUnits(this.#counters, row) * BUDGET_UNIT_BYTES;
  }

  /** Bytes that the worker threads hold beyond reservations. */
  borrowedBytes(): number {
    return (heldUnits(this.#counters) - Atomics.load(this.#counters, BUDGET_MAIN)) * BUDGET_UNIT_BYTES;
  }

  /** Bytes that are free now, never negative. */
  availableBytes(): number {
    const limit = Atomics.load(this.#counters, BUDGET_LIMIT);
    return Math.max(0, limit - heldUnits(this.#counters)) * BUDGET_UNIT_BYTES;
  }

  /** Gives back everything that a thread held. Only for a thread that has ended: a live one would be robbed. */
  forgetThread(thread: number): void {
    forgetThreadUnits(this.#counters, thread);
  }

  #hold(bytes: number): void {
    const units = unitsOf(this.#heldBytes + bytes) - unitsOf(this.#heldBytes);
    if (units !== 0) Atomics.add(this.#counters, BUDGET_MAIN, units);
  }

  #note(bytes: number, charge: BudgetCharge): void {
    this.#heldBytes += bytes;
    this.#charges[charge] += bytes;
  }
}
