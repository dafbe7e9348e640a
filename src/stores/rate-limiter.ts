// Types of rate limits per account and operation. The time is that of the store.
import type { MaybePromise } from '../collections/maybe-promise.ts';

/** Number of requests per window. In a token bucket, `requests` at once, then one every `windowSeconds / requests`. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Whole seconds until the next request will be allowed, at least 1; 0 if this request was allowed. */
  readonly retryAfterSeconds: number;
  /** Number of requests that would still be allowed now; Infinity without a limit. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full again. */
  readonly resetSeconds: number;
}

/**
 * For requests that need only a rate check. Other requests count against their rate in the step that they need
 * anyway.
 */
export interface RateLimiter {
  /** Counts one request. @param limit null: unlimited */
  take(account: string, operation: string, limit: RateLimit | null): MaybePromise<RateDecision>;
}
