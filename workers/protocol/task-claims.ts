// Which tasks a thread was offered and has not begun: one shared Int32 each, by which the thread takes a task and the main
// thread takes it back from one that does not answer. Of two that try at once one succeeds: a task begins on one thread.
// States of a task's slot: free → offered (the number of the task) → free, when it was begun or withdrawn.

/** More than one thread is offered at a time; a task whose slot another one still has is not offered to it. */
const SLOTS = 16_384;

/** Between the slots of a task and the next one, so that the two threads do not write to one cache line; odd, so that all are used. */
const STRIDE = 17;

const FREE = -1;

/** For one thread. */
export function newClaims(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT);
  // Numbers of tasks begin at 0, and so do the slots of new memory.
  new Int32Array(buffer).fill(FREE);
  return buffer;
}

/** One side's view of a thread's claims. */
export class TaskClaims {
  readonly #slots: Int32Array;

  /** @param claims newClaims */
  constructor(claims: SharedArrayBuffer) {
    this.#slots = new Int32Array(claims);
  }

  /** Of the main thread: false where an older task has the slot and has not begun. */
  offer(task: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(task), FREE, task) === FREE;
  }

  /** Of the main thread: whether the thread has not begun it. */
  isOffered(task: number): boolean {
    return Atomics.load(this.#slots, slotOf(task)) === task;
  }

  /** The thread begins the task, or the main thread takes it back: false where the other one was first. */
  take(task: number): boolean {
    return Atomics.compareExchange(this.#slots, slotOf(task), task, FREE) === task;
  }
}

function slotOf(task: number): number {
  // A whole number of 52 bits: no task is too large.
  return (task * STRIDE) % SLOTS;
}
