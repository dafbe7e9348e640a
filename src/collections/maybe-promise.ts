// Results that may be available immediately or later: stores inside the process answer immediately, stores shared by
// several nodes answer later. A small Run makes a dozen calls, and awaiting each available result would cost a turn
// of the event loop each time. Functions that are asynchronous anyway use `x instanceof Promise ? await x : x`.

/** A value that is available now or later. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with the value, synchronously if it is available. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
