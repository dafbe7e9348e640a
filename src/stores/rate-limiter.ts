// Request rate per account and operation, as it is asked for. Time is the store's own.
import type { MaybePromise } from '../collections/maybe-promise.ts';

/** So many requests in a window: as a bucket, `requests` at once, then one each `windowSeconds / requests`. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Whole seconds, at least 1, until the next request will pass; 0 when this one passed. */
  readonly retryAfterSeconds: number;
  /** Requests that would still pass now. Infinity without a limit. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full again. */
  readonly resetSeconds: number;
}

/** For requests that need nothing else of a store; the others take their rate in the step that they need anyway. */
export interface RateLimiter {
  /** Counts one request. @param limit null = none */
  take(account: string, operation: string, limit: RateLimit | null): MaybePromise<RateDecision>;
}
