// Request rates that all nodes share. Where Redis does not answer, what needs nothing else of it is limited by this node's
// own counter.
import { TokenBuckets } from '../memory/token-buckets.ts';
import type { RateDecision, RateLimit, RateLimiter } from '../rate-limiter.ts';
import { SharedStoreUnavailableError } from '../store-unavailable.ts';
import { accountKey } from './account-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RATE } from './scripts/rate.ts';

/** As scripts give it: allowed, retry after, remaining, reset. */
export type RateReply = readonly [number, number, number, number];

export function rateArguments(limit: RateLimit | null): readonly [number | '', number | ''] {
  return limit === null ? ['', ''] : [limit.requests, limit.windowSeconds * 1000];
}

export function rateDecision([allowed, retryAfterSeconds, remaining, resetSeconds]: RateReply): RateDecision {
  const left = remaining < 0 ? Number.POSITIVE_INFINITY : remaining;
  return { allowed: allowed === 1, retryAfterSeconds, remaining: left, resetSeconds };
}

export class RedisRates implements RateLimiter {
  readonly #link: RedisLink;
  readonly #own = new TokenBuckets();

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async take(account: string, operation: string, limit: RateLimit | null): Promise<RateDecision> {
    if (limit === null) return rateDecision([1, 0, -1, 0]);
    try {
      const args = [operation, ...rateArguments(limit)];
      return rateDecision((await this.#link.call(RATE, accountKey(account), args)) as RateReply & number[]);
    } catch (fault) {
      if (!(fault instanceof SharedStoreUnavailableError)) throw fault;
      return this.#own.take(account, operation, limit, performance.now());
    }
  }
}
