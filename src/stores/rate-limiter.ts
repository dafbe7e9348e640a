// Rate limits per account and operation: the interface, and the limiter of a standalone node. The time is that of the
// store.

import { ExpiringMap } from '../collections/expiring-map.ts';
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

// The limiter of a standalone node: token buckets in the form of GCRA (ITU-T I.371), which stores one time per
// key and needs no timers.

/** Each call adds at most one bucket and removes up to this many full ones, so the map cannot grow without limit. */
const SWEEP_PER_TAKE = 2;

/** Time is counted in units of 1/requests milliseconds, so that all sums are whole numbers below 2^53. */
interface Bucket {
  /** The missing amount of the bucket; decreases by `requests` per millisecond. */
  debt: number;
  at: number;
  readonly requests: number;
}

export class TokenBuckets {
  #buckets = new ExpiringMap<Bucket>();

  /** Number of buckets held, which are the ones that are not full. */
  get size(): number {
    return this.#buckets.size;
  }

  /** @param limit null: unlimited @param now milliseconds on a clock that does not go backwards */
  take(account: string, operation: string, limit: RateLimit | null, now: number): RateDecision {
    if (limit === null) {
      this.#buckets.sweep(now, SWEEP_PER_TAKE);
      return { allowed: true, retryAfterSeconds: 0, remaining: Infinity, resetSeconds: 0 };
    }
    const key = `${account}/${operation}`;
    const { requests } = limit;
    const cost = limit.windowSeconds * 1000;
    const capacity = cost * requests;
    const bucket = this.#buckets.get(key, now);
    const debt = debtNow(bucket, requests, now);
    const allowed = debt + cost <= capacity;
    const debtAfter = allowed ? debt + cost : debt;
    if (allowed) {
      this.#buckets.set(
        key,
        { debt: debtAfter, at: Math.max(now, bucket?.at ?? now), requests },
        now + Math.ceil(debtAfter / requests),
      );
    }
    // Sweeps after this bucket's expiry has been updated. Otherwise a bucket that refills between any two requests
    // would be removed and created with each request.
    this.#buckets.sweep(now, SWEEP_PER_TAKE);
    return {
      allowed,
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((debt + cost - capacity) / requests / 1000)),
      remaining: Math.max(0, Math.floor((capacity - debtAfter) / cost)),
      resetSeconds: Math.ceil(debtAfter / requests / 1000),
    };
  }
}

/**
 * A bucket created under another limit keeps the time that it needs to refill, converted to the unit of the new
 * limit.
 */
function debtNow(bucket: Bucket | undefined, requests: number, now: number): number {
  if (bucket === undefined) return 0;
  const debt = bucket.requests === requests ? bucket.debt : Math.ceil((bucket.debt / bucket.requests) * requests);
  return Math.max(0, debt - Math.max(0, Math.floor(now) - Math.floor(bucket.at)) * requests);
}
