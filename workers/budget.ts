// A thread's door to the node's memory budget: it asks synchronously, in the middle of a batch, over shared counters.
// What belongs to the main thread (reservations of Runs, records, refusals) is in src/admission/memory-budget.ts.

/**
 * What a Run may use without asking, in bytes: the sum of its input window (512 KiB), structural index (256 KiB), row
 * table (512 KiB), column views (1 MiB), arena (1 MiB) and output buffer (512 KiB), rounded up.
 */
export const RUN_RESERVATION_BYTES = 4 * 1024 * 1024;

/**
 * The one region of the node for a row that does not fit a reservation, in bytes: a row of 16 MiB as it is read, decoded,
 * and written. It is part of the base, lent to one Run at a time.
 */
export const LARGE_ROW_ARENA_BYTES = 48 * 1024 * 1024;

/** Unit of the shared counters: Int32 of KiB reaches 2 TiB. */
export const BUDGET_UNIT_BYTES = 1024;

/** Shared layout, in Int32 slots: [free, borrowed by thread 0, borrowed by thread 1, ...], each in units. */
export type BudgetCounters = Int32Array;

/** One thread's (or one Run's) share of the budget. Amounts are bytes, rounded up to units. */
export interface BudgetShare {
  /** True when the bytes were free and are now taken. */
  take(bytes: number): boolean;
  /** Takes what cannot be refused (bounded cases only: one row). The free counter may go below zero. */
  force(bytes: number): void;
  give(bytes: number): void;
  /** Bytes taken and not yet given back through this share. */
  readonly takenBytes: number;
}

/** The share of thread number `thread` in the shared counters. */
export function threadShare(counters: BudgetCounters, thread: number): BudgetShare {
  let takenUnits = 0;
  const slot = 1 + thread;
  const move = (units: number): void => {
    Atomics.sub(counters, 0, units);
    Atomics.add(counters, slot, units);
    takenUnits += units;
  };
  return {
    take(bytes) {
      const units = unitsOf(bytes);
      for (;;) {
        const free = Atomics.load(counters, 0);
        if (free < units) return false;
        if (Atomics.compareExchange(counters, 0, free, free - units) === free) break;
      }
      Atomics.add(counters, slot, units);
      takenUnits += units;
      return true;
    },
    force(bytes) {
      move(unitsOf(bytes));
    },
    give(bytes) {
      move(-Math.min(unitsOf(bytes), takenUnits));
    },
    get takenBytes() {
      return takenUnits * BUDGET_UNIT_BYTES;
    },
  };
}

/** A share without a limit, for tests and for tools that own their process. */
export function unlimitedShare(): BudgetShare {
  let takenBytes = 0;
  return {
    take(bytes) {
      takenBytes += bytes;
      return true;
    },
    force(bytes) {
      takenBytes += bytes;
    },
    give(bytes) {
      takenBytes -= bytes;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}

function unitsOf(bytes: number): number {
  return Math.ceil(bytes / BUDGET_UNIT_BYTES);
}
