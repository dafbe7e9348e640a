// Adds rate-limit headers to a response, and refuses a request that exceeds the rate (check 4). Counts no requests.
import type { EndpointName } from '../catalog/catalog.ts';
import { refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RateDecision, RateLimit } from '../stores/rate-limiter.ts';

/**
 * Returns whether the request may continue. Otherwise it has already been answered.
 * @param limit null for no limit
 */
export function passesRate(
  exchange: Exchange,
  name: EndpointName,
  limit: RateLimit | null,
  rate: RateDecision,
): boolean {
  if (limit !== null) addRateHeaders(exchange, name, limit, rate);
  if (rate.allowed) return true;
  exchange.refuse({
    ...refusal('RATE_LIMITED', `The account has sent too many requests for ${name}.`),
    headers: [['Retry-After', String(rate.retryAfterSeconds)]],
  });
  return false;
}

/** In the form of draft-ietf-httpapi-ratelimit-headers-10. */
function addRateHeaders(exchange: Exchange, name: EndpointName, limit: RateLimit, rate: RateDecision): void {
  exchange.addHeader('RateLimit-Policy', `"${name}";q=${limit.requests};w=${Math.ceil(limit.windowSeconds)}`);
  exchange.addHeader('RateLimit', `"${name}";r=${rate.remaining};t=${rate.resetSeconds}`);
}
