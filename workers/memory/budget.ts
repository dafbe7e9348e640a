// A thread's door to the node's memory budget: it asks synchronously, in the middle of a batch, over shared counters.
// What belongs to the main thread (reservations of Runs, records, refusals) is in src/admission/memory-budget.ts, and what
// one account may hold of it in account-share.ts.

/**
 * What a Run may use without asking, in bytes: the sum of its input window (1 MiB), structural index (512 KiB), row table
 * (512 KiB), arena with column views (1 MiB), output buffer (512 KiB) and what operations place beside them, rounded up.
 */
export const RUN_RESERVATION_BYTES = 4 * 1024 * 1024;

/**
 * What an operation whose state may grow needs to put it on the disk when the budget is exhausted, in bytes: writers of 16
 * parts, a reader, a merge, and the first blocks of a table (1.4 to 4.4 MiB measured by operation on a file of 200 MB). It is
 * reserved with the Run: other Runs' state cannot take it.
 */
export const SPILL_ROOM_BYTES = 4 * 1024 * 1024;

/**
 * The one region of the node for a row that does not fit a reservation when the budget is exhausted, in bytes: a row of
 * 16 MiB as it is read, decoded, and written. It is part of the base, lent to one Run at a time.
 */
export const LARGE_ROW_ARENA_BYTES = 48 * 1024 * 1024;

/** How a thread's Runs mark the arena as theirs; a lost thread's mark is taken off by it. */
export function largeRowOwner(thread: number): number {
  return thread + 1;
}

/** Unit of the shared counters: Int32 of KiB reaches 2 TiB. */
export const BUDGET_UNIT_BYTES = 1024;

/**
 * Accounts with Runs on the node that are told apart; more than that share the last row. Each costs 4 bytes, and 4 a thread.
 * Row 0 is nobody's: local files, whose Runs may have whatever there is.
 */
export const ACCOUNT_ROWS = 1024;
export const NO_ACCOUNT = 0;

/**
 * Numbers of threads beyond those that the settings name: one that stands in where all are silent, and two that replace
 * threads which do not end (src/pool/pool-roster.ts). Shared counters by thread have slots for them.
 */
export const EXTRA_THREADS_MAX = 3;

/**
 * Shared layout, in Int32 slots: [limit, kept for admission, held by the main thread, held by thread 0, held by thread 1,
 * ...], each in units, and then as many for each row of accounts: what of that the account holds. What is used is the sum of
 * what is held: there is no total that a thread which dies in the middle could leave wrong, its slots are simply set to zero.
 */
export type BudgetCounters = Int32Array;

export const BUDGET_LIMIT = 0;
/** What threads leave free, whatever state they are refused: the next Runs are admitted with it. */
export const BUDGET_KEPT = 1;
export const BUDGET_MAIN = 2;
const BUDGET_THREADS = 3;

/** One thread's (or one Run's) share of the budget. Amounts are bytes; their sum is rounded up to units. */
export interface BudgetShare {
  /** True when the bytes were free and are now taken. */
  take(bytes: number): boolean;
  /** Takes what cannot be refused (bounded cases only: one row). The budget may be overdrawn by it. */
  force(bytes: number): void;
  /** Gives back at most what this share has taken. */
  give(bytes: number): void;
  /** Bytes taken and not yet given back through this share. */
  readonly takenBytes: number;
}

/** Int32 slots that the counters of a node with `threads` threads need, with those that may stand in for them. */
export function budgetSlots(threads: number): number {
  return BUDGET_MAIN + (1 + threads + EXTRA_THREADS_MAX) * (1 + ACCOUNT_ROWS);
}

/** Main thread and threads: those who hold. */
function holdersOf(counters: BudgetCounters): number {
  return (counters.length - BUDGET_MAIN) / (1 + ACCOUNT_ROWS);
}

/** Index of a thread's slot in the counters. */
export function threadSlot(thread: number): number {
  return BUDGET_THREADS + thread;
}

/** Units held by everybody. Others may move while it is read: it is only exact when nobody does. */
export function heldUnits(counters: BudgetCounters): number {
  return sumOf(counters, BUDGET_MAIN);
}

/** Units that an account holds, by the main thread and all others. */
export function accountUnits(counters: BudgetCounters, row: number): number {
  return sumOf(counters, accountSlot(counters, row, BUDGET_MAIN));
}

/** Index of an account's part of what is held in `slot` (BUDGET_MAIN, or that of a thread). */
export function accountSlot(counters: BudgetCounters, row: number, slot: number): number {
  return slot + (1 + row) * holdersOf(counters);
}

/** Everything that a thread held is held no more. */
export function forgetThreadUnits(counters: BudgetCounters, thread: number): void {
  Atomics.store(counters, threadSlot(thread), 0);
  for (let row = 0; row < ACCOUNT_ROWS; row += 1) {
    Atomics.store(counters, accountSlot(counters, row, threadSlot(thread)), 0);
  }
}

function sumOf(counters: BudgetCounters, from: number): number {
  const end = from + holdersOf(counters);
  let units = 0;
  for (let slot = from; slot < end; slot += 1) units += Atomics.load(counters, slot);
  return units;
}

/**
 * Holds `units` more in a slot if the limit allows it. Each asker registers first and looks at the sum afterwards, so of
 * two that ask at once the later one sees the other: the limit is never overdrawn, though both may be refused.
 * @param kept units that must stay free
 */
export function tryHold(counters: BudgetCounters, slot: number, units: number, kept = 0): boolean {
  if (units <= 0) {
    Atomics.add(counters, slot, units);
    return true;
  }
  const limit = Atomics.load(counters, BUDGET_LIMIT) - kept;
  if (heldUnits(counters) + units > limit) return false;
  Atomics.add(counters, slot, units);
  if (heldUnits(counters) <= limit) return true;
  Atomics.sub(counters, slot, units);
  return false;
}

/** A share of thread number `thread` in the shared counters. A thread may have several: they add up in its slot. */
export function threadShare(counters: BudgetCounters, thread: number): BudgetShare {
  let takenBytes = 0;
  const slot = threadSlot(thread);
  const unitsTo = (bytes: number): number => unitsOf(bytes) - unitsOf(takenBytes);
  return {
    take(bytes) {
      if (!tryHold(counters, slot, unitsTo(takenBytes + bytes), Atomics.load(counters, BUDGET_KEPT))) return false;
      takenBytes += bytes;
      return true;
    },
    force(bytes) {
      Atomics.add(counters, slot, unitsTo(takenBytes + bytes));
      takenBytes += bytes;
    },
    give(bytes) {
      const leftBytes = Math.max(0, takenBytes - bytes);
      Atomics.add(counters, slot, unitsTo(leftBytes));
      takenBytes = leftBytes;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}

/** A Run's part of a share: what it has taken through it and not given back goes back at the Run's end, whatever it was. */
export interface RunShare extends BudgetShare {
  giveBack(): void;
}

export function runShare(share: BudgetShare): RunShare {
  return new PartOfShare(share);
}

class PartOfShare implements RunShare {
  readonly #share: BudgetShare;
  #takenBytes = 0;

  constructor(share: BudgetShare) {
    this.#share = share;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  take(bytes: number): boolean {
    const isFree = this.#share.take(bytes);
    if (isFree) this.#takenBytes += bytes;
    return isFree;
  }

  force(bytes: number): void {
    this.#share.force(bytes);
    this.#takenBytes += bytes;
  }

  give(bytes: number): void {
    const given = Math.min(bytes, this.#takenBytes);
    this.#takenBytes -= given;
    this.#share.give(given);
  }

  giveBack(): void {
    this.give(this.#takenBytes);
  }
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

/** Bytes in units, rounded up. */
export function unitsOf(bytes: number): number {
  return Math.ceil(bytes / BUDGET_UNIT_BYTES);
}
