// Shared memory of tasks: which tasks a thread may start (TaskClaims), and the progress of Runs (RunProgress).
import type { StoredSource } from '../input/source/source.ts';

// Tracks which tasks were offered to a thread and have not started. Each task has one shared Int32 slot; the thread
// claims the task there, or the main thread withdraws it from a thread that does not respond. If both try at once,
// only one succeeds, so that a task starts on one thread only.
//
// States of a slot: free -> offered (holds the task number) -> free (the task was started or withdrawn)

/**
 * Number of slots: more than the tasks that are offered to one thread at a time. A task is not offered if another
 * task still occupies its slot.
 */
const SLOTS = 16_384;

/**
 * Distance between the slots of consecutive tasks, so that the two threads rarely write to the same cache line. Odd,
 * so that every slot is used.
 */
const STRIDE = 17;

const FREE = -1;

/** Creates the claims of one thread. */
export function newClaims(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT);
  // New memory is zero, and 0 is a valid task number.
  new Int32Array(buffer).fill(FREE);
  return buffer;
}

/** View of a thread's claims, for the main thread or for the thread itself. */
export class TaskClaims {
  readonly #slots: Int32Array;

  /** @param claims result of newClaims */
  constructor(claims: SharedArrayBuffer) {
    this.#slots = new Int32Array(claims);
  }

  /** Called by the main thread. Returns false if an older task that has not started occupies the slot. */
  offer(task: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(task), FREE, task) === FREE;
  }

  /** Called by the main thread. Returns whether the thread has not started the task yet. */
  isOffered(task: number): boolean {
    return Atomics.load(this.#slots, slotOf(task)) === task;
  }

  /**
   * Called by the thread to start the task, or by the main thread to withdraw it. Returns false if the other side was
   * first.
   */
  take(task: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(task), task, FREE) === task;
  }
}

function slotOf(task: number): number {
  // The product is an exact integer: task numbers stay below 2^52 / STRIDE.
  return (task * STRIDE) % SLOTS;
}

// Progress of the Runs of all threads, in shared memory that a progress display reads: the number of rows and of
// bytes. Contains no content of a file.

const ROWS = 0;
const BYTES = 1;

export const PROGRESS_BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT;

/** @param progress PROGRESS_BYTES of shared memory, zero at first */
export function progressOf(progress: SharedArrayBuffer): { readonly rows: number; readonly bytes: number } {
  const counts = new BigInt64Array(progress);
  return { rows: Number(Atomics.load(counts, ROWS)), bytes: Number(Atomics.load(counts, BYTES)) };
}

/** Resets the progress to zero. */
export function forgetProgress(progress: SharedArrayBuffer): void {
  const counts = new BigInt64Array(progress);
  for (const slot of [ROWS, BYTES]) Atomics.store(counts, slot, 0n);
}

/** One Run's contribution to the counts. A Run that restarts first subtracts its earlier contribution. */
export class RunProgress {
  readonly #counts: BigInt64Array;
  readonly #source: Pick<StoredSource, 'reachedBytes'>;
  #rows = 0;
  #bytes = 0;

  constructor(progress: SharedArrayBuffer, source: Pick<StoredSource, 'reachedBytes'>) {
    this.#counts = new BigInt64Array(progress);
    this.#source = source;
  }

  /**
   * Excludes the bytes before the current position of the source from the progress, because another thread reads them.
   */
  skip(): void {
    this.#bytes = this.#source.reachedBytes;
  }

  /** @param rowsRead number of rows read since the Run started or restarted */
  update(rowsRead: number): void {
    const { reachedBytes } = this.#source;
    Atomics.add(this.#counts, ROWS, BigInt(rowsRead - this.#rows));
    Atomics.add(this.#counts, BYTES, BigInt(reachedBytes - this.#bytes));
    this.#rows = rowsRead;
    this.#bytes = reachedBytes;
  }
}
