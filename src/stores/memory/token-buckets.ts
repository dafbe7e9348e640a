// Request rate per account and operation: a token bucket in its GCRA form (ITU-T I.371: one time per key, no timer).
import { ExpiringMap } from '../../collections/expiring-map.ts';
import type { RateDecision, RateLimit } from '../rate-limiter.ts';

/** Each take adds at most one bucket and removes up to this many that are full again: the map cannot grow for ever. */
const SWEEP_PER_TAKE = 2;

/** Time is counted in 1/requests of a millisecond, so that every sum is a whole number below 2^53. */
interface Bucket {
  /** What is missing in the bucket: `requests` of these drain in a millisecond. */
  debt: number;
  at: number;
  readonly requests: number;
}

export class TokenBuckets {
  #buckets = new ExpiringMap<Bucket>();

  /** Buckets held: those that are not full. */
  get size(): number {
    return this.#buckets.size;
  }

  /** @param limit null = none @param now milliseconds on a clock that does not go back */
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
    // Now that this one's time is set anew: one that is full between any two requests would come and go with each.
    this.#buckets.sweep(now, SWEEP_PER_TAKE);
    return {
      allowed,
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((debt + cost - capacity) / requests / 1000)),
      remaining: Math.max(0, Math.floor((capacity - debtAfter) / cost)),
      resetSeconds: Math.ceil(debtAfter / requests / 1000),
    };
  }
}

/** A bucket made under another limit keeps the time that it needs to fill, in the new limit's unit. */
function debtNow(bucket: Bucket | undefined, requests: number, now: number): number {
  if (bucket === undefined) return 0;
  const debt = bucket.requests === requests ? bucket.debt : Math.ceil((bucket.debt / bucket.requests) * requests);
  return Math.max(0, debt - Math.max(0, Math.floor(now) - Math.floor(bucket.at)) * requests);
}
