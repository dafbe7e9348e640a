// The clock that stores are given: everything that expires, fills up or is billed goes by it, and nothing else in a store
// asks what time it is.

export interface Clock {
  /** Milliseconds since 1970, as people are shown it: it may jump. */
  wall(): number;
  /** Milliseconds that never go back, for what lasts so long. */
  steady(): number;
}

/** This machine's. */
export const systemClock: Clock = { wall: () => Date.now(), steady: () => performance.now() };
