// Work that waits only where something is not there yet: what it waits for it yields. A small Run has all it needs when it
// starts, and the promises of async functions would cost it more than the work on its rows.

/** The work of one Run or of a part of it, in one piece where nothing is missing. */
export type Coroutine<T> = Generator<Promise<unknown>, T, undefined>;

/** Does work: at once as far as it does not wait, and only then with a promise. */
export function runCoroutine<T>(work: Coroutine<T>): T | Promise<T> {
  const step = work.next();
  return step.done ? step.value : goOn(work, step.value);
}

async function goOn<T>(work: Coroutine<T>, first: Promise<unknown>): Promise<T> {
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

/** What a promise brings, in the middle of work that waits; throws what it is refused with. */
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
