// What a store says that cannot keep or tell anything at the moment.
/** A store cannot be used now, for its disk is full or gone: nothing was changed, and the same may succeed later. */
export class StoreUnavailableError extends Error {
  constructor(what: string, cause: unknown) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    super(`${what} cannot be written: ${reason instanceof Error ? reason.message : reason}`, { cause });
    this.name = 'StoreUnavailableError';
  }
}

/** The same of a store that several nodes share. It has been logged when it went away: requests that meet it are not. */
export class SharedStoreUnavailableError extends StoreUnavailableError {
  constructor(what: string, cause: unknown) {
    super(what, cause);
    this.name = 'SharedStoreUnavailableError';
  }
}
