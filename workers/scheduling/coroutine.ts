// Work that runs synchronously and yields a promise only if it has to wait. All data of a small Run is present at its
// start, and the promises of async functions would cost such a Run more than the work on its rows.

import type { Pauses, SliceClock, Sliced, Steps } from './time-slices.ts';

/** The work of a Run or of a part of it. Completes without interruption if it never has to wait. */
export type Coroutine<T> = Generator<Promise<unknown>, T, undefined>;

/** Runs the work synchronously. Returns a promise only if the work has to wait. */
export function runCoroutine<T>(work: Coroutine<T>): T | Promise<T> {
  const step = work.next();
  return step.done ? step.value : resume(work, step.value);
}

async function resume<T>(work: Coroutine<T>, first: Promise<unknown>): Promise<T> {
  let wait = first;
  for (;;) {
    const step = await wait.then(
      () => work.next(),
      (error: unknown) => work.throw(error),
    );
    if (step.done) return step.value;
    wait = step.value;
  }
}

/** Waits for a promise inside a coroutine. Returns its value, or throws its rejection reason. */
export function* awaited<T>(promise: Promise<T>): Coroutine<T> {
  let found: { readonly value: T } | null = null;
  let error: unknown = null;
  yield promise.then(
    (value) => {
      found = { value };
    },
    (reason: unknown) => {
      error = reason;
    },
  );
  if (found === null) throw error;
  return (found as { readonly value: T }).value;
}

/** Settings with which a coroutine pauses for other Runs of its thread. Without a clock it does not pause. */
export interface TurnTaking {
  readonly clock?: Pauses | undefined;
  readonly giveWay?: (() => Promise<void>) | undefined;
}

/** Runs sliced work. At each pause, other Runs of the thread get their turn if the clock says that it is due. */
export function* inSlices<T>(work: Sliced<T>, { clock, giveWay }: TurnTaking): Coroutine<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock?.isDue() === true && giveWay !== undefined) yield giveWay();
  }
}

/**
 * Runs steps. Clears the arena when a step yields nothing. Throws Cancelled.
 * @param rest waits for the turn of the Run
 */
export function* inSteps(
  steps: Steps,
  arena: { clear(): void },
  clock: Pick<SliceClock, 'check'>,
  rest: () => Promise<void>,
): Coroutine<void> {
  for (const step of steps) {
    if (step === undefined) arena.clear();
    if (clock.check()) yield rest();
  }
}
