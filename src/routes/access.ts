// Checks 2 to 4, the same for every endpoint that asks for a key: the key, its scope, the subscription, the request rate.
// Where a handler counts the rate in a step of the stores that it needs anyway, it is asked without.
import { type Authenticated, authenticate, type Refused } from '../admission/authenticate.ts';
import type { FailurePace } from '../admission/failure-pace.ts';
import { passesRate } from '../admission/request-rate.ts';
import type { EndpointName, KeyScope } from '../catalog/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import type { Exchange } from '../http/exchange.ts';
import { networkOf } from '../http/network-address.ts';
import { STATUS_BY_CODE } from '../http/status.ts';
import type { CheckedTemplate } from '../outputs/output-name.ts';
import type { RateLimiter } from '../stores/rate-limiter.ts';

export interface Gate {
  /** The catalog in force; taken once per request. */
  readonly catalog: () => Catalog<CheckedTemplate>;
  readonly rates: RateLimiter;
  /** Of requests without a valid key. */
  readonly failures: FailurePace;
}

/** What an endpoint's record says of those who may use it. */
export interface AccessRule {
  /** Under which plans limit its rate. */
  readonly name: EndpointName;
  /** That a key must have. */
  readonly scope: KeyScope;
}

/** Checks 2 to 4: who asks; null: the exchange has been answered. */
export function grantAccess(
  gate: Gate,
  exchange: Exchange,
  rule: AccessRule,
): MaybePromise<Authenticated<CheckedTemplate> | null> {
  const access = identify(gate, exchange, rule);
  if (access === null) return null;
  return andThen(countRate(gate.rates, exchange, rule.name, access), (passes) => (passes ? access : null));
}

/** Checks 2 and 3: who asks; null: the exchange has been answered. */
export function identify(
  { catalog, failures }: Gate,
  exchange: Exchange,
  { scope }: AccessRule,
): Authenticated<CheckedTemplate> | null {
  const access = authenticate(catalog(), exchange.header('authorization') ?? undefined, scope, Date.now());
  const holder = access.ok ? access : access.holder;
  exchange.account = holder?.account.id ?? null;
  exchange.keyId = holder?.key.id ?? null;
  if (!access.ok) {
    refuseAccess(failures, exchange, access);
    return null;
  }
  return access;
}

/** Check 4 in a step of its own: whether the request may go on; else it has been answered. */
export function countRate(
  rates: RateLimiter,
  exchange: Exchange,
  name: EndpointName,
  { account, subscription }: Authenticated<CheckedTemplate>,
): MaybePromise<boolean> {
  const limit = subscription.plan.rateLimits[name];
  return andThen(rates.take(account.id, name, limit), (rate) => passesRate(exchange, name, limit, rate));
}

/** A 401 may come later, so that nobody tries keys, or fills the log, as fast as a machine can. */
function refuseAccess(failures: FailurePace, exchange: Exchange, { code, message, wwwAuthenticate }: Refused): void {
  const headers: [string, string][] = wwwAuthenticate === null ? [] : [['WWW-Authenticate', wwwAuthenticate]];
  const refuse = (): void => exchange.refuse({ code, message, headers });
  if (STATUS_BY_CODE[code] !== 401) {
    refuse();
    return;
  }
  const onGone = (listener: () => void): void => exchange.onGone(listener);
  const when = failures.pace(networkOf(exchange.remoteAddress()), performance.now(), refuse, onGone);
  // Nobody will read what its body brings, and it must not be held meanwhile.
  if (when === 'later') exchange.body?.drop(() => {});
}
