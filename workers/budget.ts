// A thread's door to the node's memory budget: it asks synchronously, in the middle of a batch, over shared counters.
// What belongs to the main thread (reservations of Runs, records, refusals) is in src/admission/memory-budget.ts.

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
 * Shared layout, in Int32 slots: [limit, held by the main thread, held by thread 0, held by thread 1, ...], each in
 * units. What is used is the sum of what is held: there is no total that a thread which dies in the middle could leave
 * wrong, its slot is simply set to zero.
 */
export type BudgetCounters = Int32Array;

export const BUDGET_LIMIT = 0;
export const BUDGET_MAIN = 1;
const BUDGET_THREADS = 2;

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

/** Int32 slots that the counters of a node with `threads` threads need. */
export function budgetSlots(threads: number): number {
  return BUDGET_THREADS + threads;
}

/** Index of a thread's slot in the counters. */
export function threadSlot(thread: number): number {
  return BUDGET_THREADS + thread;
}

/** Units held by everybody. Others may move while it is read: it is only exact when nobody does. */
export function heldUnits(counters: BudgetCounters): number {
  let units = 0;
  for (let slot = BUDGET_MAIN; slot < counters.length; slot += 1) units += Atomics.load(counters, slot);
  return units;
}

/**
 * Holds `units` more in a slot if the limit allows it. Each asker registers first and looks at the sum afterwards, so of
 * two that ask at once the later one sees the other: the limit is never overdrawn, though both may be refused.
 */
export function tryHold(counters: BudgetCounters, slot: number, units: number): boolean {
  if (units <= 0) {
    Atomics.add(counters, slot, units);
    return true;
  }
  const limit = Atomics.load(counters, BUDGET_LIMIT);
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
      if (!tryHold(counters, slot, unitsTo(takenBytes + bytes))) return false;
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
