// Answers that may take time: the stores of one process have theirs at once, those that several nodes share will not. A
// small Run asks a dozen times, and each wait for what is already there would be a turn of its own. Where a function is
// asynchronous in any case it asks `x instanceof Promise ? await x : x`.

/** There now, or later. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with the value: in place when it is there. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
