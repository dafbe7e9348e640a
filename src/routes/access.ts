// Checks 2 to 4, the same for every operation: the key, its scope, the subscription, the request rate.
import { type Authenticated, authenticate } from '../admission/authenticate.ts';
import type { RateDecision, RateLimit, RateLimiter } from '../admission/rate-limiter.ts';
import type { OperationName } from '../catalog/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Exchange } from '../http/exchange.ts';
import type { CheckedTemplate } from '../runs/output-name.ts';
import { after, type Soon } from '../soon.ts';

export interface Gate {
  /** The catalog in force; taken once per request. */
  readonly catalog: () => Catalog<CheckedTemplate>;
  readonly rates: RateLimiter;
}

/** Who asks; null: the exchange has been answered. */
export function grantAccess(
  { catalog, rates }: Gate,
  exchange: Exchange,
  operation: OperationName,
): Soon<Authenticated<CheckedTemplate> | null> {
  const access = authenticate(catalog(), exchange.header('authorization') ?? undefined, operation, Date.now());
  if (!access.ok) {
    const { code, message, wwwAuthenticate } = access;
    exchange.refuse({
      code,
      message,
      headers: wwwAuthenticate === null ? [] : [['WWW-Authenticate', wwwAuthenticate]],
    });
    return null;
  }
  const { account, subscription } = access;
  exchange.account = account.id;
  const limit = subscription.plan.rateLimits[operation];
  return after(rates.take(account.id, operation, limit, performance.now()), (rate) => {
    if (limit !== null) addRateHeaders(exchange, operation, limit, rate);
    if (rate.allowed) return access;
    exchange.refuse({
      code: 'RATE_LIMITED',
      message: `The account has sent too many requests for ${operation}.`,
      headers: [['Retry-After', String(rate.retryAfterSeconds)]],
    });
    return null;
  });
}

/** As draft-ietf-httpapi-ratelimit-headers-10 writes them. */
function addRateHeaders(exchange: Exchange, operation: string, limit: RateLimit, rate: RateDecision): void {
  exchange.addHeader('RateLimit-Policy', `"${operation}";q=${limit.requests};w=${Math.ceil(limit.windowSeconds)}`);
  exchange.addHeader('RateLimit', `"${operation}";r=${rate.remaining};t=${rate.resetSeconds}`);
}
