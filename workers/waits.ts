// Work that waits only where something is not there yet: what it waits for it yields. A small Run has all it needs when it
// starts, and the promises of async functions would cost it more than the work on its rows.

/** The work of one Run or of a part of it, in one piece where nothing is missing. */
export type Waits<T> = Generator<Promise<unknown>, T, undefined>;

/** Does work: at once as far as it does not wait, and only then with a promise. */
export function settle<T>(work: Waits<T>): T | Promise<T> {
  const step = work.next();
  return step.done ? step.value : goOn(work, step.value);
}

async function goOn<T>(work: Waits<T>, first: Promise<unknown>): Promise<T> {
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
