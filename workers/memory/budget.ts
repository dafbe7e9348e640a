// A thread's access to the node's memory budget: synchronous requests during a batch, through shared counters. The main
// thread's part (reservations of Runs, records, refusals) is in src/admission/memory-budget.ts, and the limits per
// account are in account-share.ts.

/**
 * Memory that a Run may use without asking, in bytes: the sum of its input window (1 MiB), structural index (512 KiB),
 * row table (512 KiB), arena with column views (1 MiB), output buffer (512 KiB) and other memory of its operations,
 * rounded up.
 */
export const RUN_RESERVATION_BYTES = 4 * 1024 * 1024;

/**
 * Memory that an operation with growing state needs to spill that state to disk when the budget is exhausted, in bytes:
 * writers of 16 partitions, a reader, a merge, and the first blocks of a table (1.4 to 4.4 MiB measured per operation
 * on a file of 200 MB). It is part of the Run's reservation, so the state of other Runs cannot take it.
 */
export const SPILL_MEMORY_BYTES = 4 * 1024 * 1024;

/**
 * The node's single region for a row that does not fit a reservation when the budget is exhausted, in bytes: a row of
 * 16 MiB as read, decoded, and written. It is part of the base memory and lent to one Run at a time.
 */
export const LARGE_ROW_ARENA_BYTES = 48 * 1024 * 1024;

/**
 * Value that marks the large-row arena as owned by this thread's Runs. If the thread is lost, the mark is found and
 * removed by this value.
 */
export function largeRowOwner(thread: number): number {
  return thread + 1;
}

/** Unit of the shared counters: an Int32 of KiB reaches 2 TiB. */
export const BUDGET_UNIT_BYTES = 1024;

/**
 * Number of accounts counted separately. Any further accounts share the last row. Each row costs 4 bytes, and 4 bytes
 * per thread. Row NO_ACCOUNT is for Runs without an account: local files, whose Runs may use all free memory.
 */
export const ACCOUNT_ROWS = 1024;

/**
 * Thread numbers in addition to those in the settings: one thread that takes over while all others are unresponsive,
 * and two that replace threads which do not end (src/pool/thread-registry.ts). Shared counters by thread have slots for
 * them.
 */
export const EXTRA_THREADS_MAX = 3;

/**
 * Shared layout, in Int32 slots: [limit, kept for admission, held by the main thread, held by thread 0, held by thread
 * 1, ...], each in units. Then follow the same slots of holders for each account, with the part that this account
 * holds. The used memory is the sum of the holders' slots. There is no total that a dying thread could leave
 * inconsistent: its slots are simply set to zero.
 */
export type BudgetCounters = Int32Array;

export const BUDGET_LIMIT = 0;
/**
 * Memory that threads must leave free for admitting the next Runs. If growing state would need it, the state is
 * refused.
 */
export const BUDGET_KEPT = 1;
export const BUDGET_MAIN = 2;
const BUDGET_THREADS = 3;

/** The share of one thread or one Run in the budget. Amounts are in bytes. Their sum is rounded up to units. */
export interface BudgetShare {
  /** Takes the bytes and returns true if they are free. */
  take(bytes: number): boolean;
  /** Takes bytes that cannot be refused (only in bounded cases, such as one row). This may overdraw the budget. */
  force(bytes: number): void;
  /** Releases bytes, at most as many as this share has taken. */
  release(bytes: number): void;
  /** Bytes taken through this share and not yet released. */
  readonly takenBytes: number;
}

/** Number of Int32 slots for a node with `threads` threads, including EXTRA_THREADS_MAX. */
export function budgetSlots(threads: number): number {
  return BUDGET_MAIN + (1 + threads + EXTRA_THREADS_MAX) * (1 + ACCOUNT_ROWS);
}

/** Number of holders: the main thread and all threads. */
function holdersOf(counters: BudgetCounters): number {
  return (counters.length - BUDGET_MAIN) / (1 + ACCOUNT_ROWS);
}

/** Index of a thread's slot in the counters. */
export function threadSlot(thread: number): number {
  return BUDGET_THREADS + thread;
}

/**
 * Units held in total. Holders may change their slots while this function reads them, so the result is exact only if no
 * holder changes.
 */
export function heldUnits(counters: BudgetCounters): number {
  return sumOf(counters, BUDGET_MAIN);
}

/** Units that an account holds in the main thread and all other threads. */
export function accountUnits(counters: BudgetCounters, row: number): number {
  return sumOf(counters, accountSlot(counters, row, BUDGET_MAIN));
}

/** Index of an account's part of the units held in `slot` (BUDGET_MAIN, or a thread's slot). */
export function accountSlot(counters: BudgetCounters, row: number, slot: number): number {
  return slot + (1 + row) * holdersOf(counters);
}

/** Sets all slots of a thread to zero. */
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
 * Holds `units` more in a slot if the limit allows it. Each caller first registers its units and then checks the sum,
 * so the later one of two concurrent callers sees the other's units. The limit is never overdrawn, although both
 * callers may be refused.
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

/**
 * A share of thread number `thread` in the shared counters. A thread may have several shares, which add up in its slot.
 */
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
    release(bytes) {
      const leftBytes = Math.max(0, takenBytes - bytes);
      Atomics.add(counters, slot, unitsTo(leftBytes));
      takenBytes = leftBytes;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}

/** A Run's part of a share. At the end of the Run, everything that it took and has not released is released. */
export interface RunShare extends BudgetShare {
  releaseAll(): void;
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

  release(bytes: number): void {
    const given = Math.min(bytes, this.#takenBytes);
    this.#takenBytes -= given;
    this.#share.release(given);
  }

  releaseAll(): void {
    this.release(this.#takenBytes);
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
    release(bytes) {
      takenBytes -= bytes;
    },
    get takenBytes() {
      return takenBytes;
    },
  };
}

/** Bytes converted to units, rounded up. */
export function unitsOf(bytes: number): number {
  return Math.ceil(bytes / BUDGET_UNIT_BYTES);
}
