// What a client is told of its request rate (check 4), wherever the rate was counted.
import type { EndpointName } from '../catalog/access.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RateDecision, RateLimit } from '../stores/rate-limiter.ts';

/** Whether the request may go on; else it has been answered. @param limit null = none */
export function passesRate(
  exchange: Exchange,
  name: EndpointName,
  limit: RateLimit | null,
  rate: RateDecision,
): boolean {
  if (limit !== null) addRateHeaders(exchange, name, limit, rate);
  if (rate.allowed) return true;
  exchange.refuse({
    code: 'RATE_LIMITED',
    message: `The account has sent too many requests for ${name}.`,
    headers: [['Retry-After', String(rate.retryAfterSeconds)]],
  });
  return false;
}

/** As draft-ietf-httpapi-ratelimit-headers-10 writes them. */
function addRateHeaders(exchange: Exchange, name: EndpointName, limit: RateLimit, rate: RateDecision): void {
  exchange.addHeader('RateLimit-Policy', `"${name}";q=${limit.requests};w=${Math.ceil(limit.windowSeconds)}`);
  exchange.addHeader('RateLimit', `"${name}";r=${rate.remaining};t=${rate.resetSeconds}`);
}
