// Work in slices: what could hold a thread for long is done piece by piece, with pauses in which the thread's other Runs
// go on. The conveyor (run.ts) drives it, looks at the clock and at cancellation, and returns to the event loop.

/** A place at which work may rest. All that it has in the arena stays. */
export type Pause = 'pause';

export const PAUSE: Pause = 'pause';

/**
 * Work that is done while somebody iterates it, up to its end: who is given slices drives them with `yield*`, or returns
 * them as its own last act. Nothing else happens in the Run while they rest.
 */
export type Slices = Iterable<Pause>;

/** As Slices, with a result. */
export type Sliced<T> = Generator<Pause, T, undefined>;

/** Work before the first row or behind the last one. Where it gives nothing, the arena is emptied. */
// biome-ignore lint/suspicious/noConfusingVoidType: a generator that yields nothing gives void
export type Steps = Iterable<Pause | void>;

/** Nothing is left to do. */
export const DONE: Slices = [];

/** Does work without pauses. */
export function done<T>(work: Generator<unknown, T, undefined>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
