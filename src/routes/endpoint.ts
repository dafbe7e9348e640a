// An endpoint as one record, and the checks of every endpoint that requires a key.
import {
  type Authenticated,
  authenticate,
  type FailurePace,
  passesRate,
  type Refused,
} from '../admission/authenticate.ts';
import type { Catalog, EndpointName, KeyScope } from '../catalog/catalog.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { networkOf } from '../http/connections.ts';
import { statusOf } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import type { EndpointDescription } from '../http/openapi.ts';
import type { Method, PathParameters } from '../http/router.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import type { RateLimiter } from '../stores/rate-limiter.ts';

// Checks 2 to 4 of every endpoint that requires a key: the key, its scope, the subscription, the request rate. If a
// handler counts the rate together with another call to the stores, check 4 is skipped here.

export interface Gate {
  /** The current catalog, read once per request. */
  readonly catalog: () => Catalog<CheckedTemplate>;
  readonly rates: RateLimiter;
  /** Rate limit for failed authentication. */
  readonly failures: FailurePace;
}

/** Access rules in the record of an endpoint. */
interface AccessRule {
  /** Name under which plans limit its rate. */
  readonly name: EndpointName;
  /** Scope that the key needs. */
  readonly scope: KeyScope;
}

/** Checks 2 to 4. Returns the identity, or null if the exchange has been answered. */
export function grantAccess(
  gate: Gate,
  exchange: Exchange,
  rule: AccessRule,
): MaybePromise<Authenticated<CheckedTemplate> | null> {
  const access = identify(gate, exchange, rule);
  if (access === null) return null;
  return andThen(countRate(gate.rates, exchange, rule.name, access), (passes) => (passes ? access : null));
}

/** Checks 2 and 3. Returns the identity, or null if the exchange has been answered. */
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

/** Check 4 as a separate call. Returns whether the request may continue; otherwise it has been answered. */
export function countRate(
  rates: RateLimiter,
  exchange: Exchange,
  name: EndpointName,
  { account, subscription }: Authenticated<CheckedTemplate>,
): MaybePromise<boolean> {
  const limit = subscription.plan.rateLimits[name];
  return andThen(rates.take(account.id, name, limit), (rate) => passesRate(exchange, name, limit, rate));
}

/** A 401 response may be delayed, so that keys cannot be guessed, or the log filled, at full speed. */
function refuseAccess(failures: FailurePace, exchange: Exchange, { code, message, wwwAuthenticate }: Refused): void {
  const headers: [string, string][] = wwwAuthenticate === null ? [] : [['WWW-Authenticate', wwwAuthenticate]];
  const refuse = (): void => exchange.refuse({ code, message, headers });
  if (statusOf(code) !== 401) {
    refuse();
    return;
  }
  const onDisconnect = (listener: () => void): void => exchange.onDisconnect(listener);
  const when = failures.pace(networkOf(exchange.remoteAddress()), performance.now(), refuse, onDisconnect);
  // The body is not needed, and must not be held in memory until the response.
  if (when === 'later') exchange.body?.drop(() => {});
}

// An endpoint as one record, from which its route, its access check and its part of the OpenAPI document are built. The
// records are next to their handlers; index.ts is the table.

/** A request that has passed checks 2 and 3, and also 4 unless its handler counts the rate. */
export interface Granted<Node> {
  /** The parts of the node that the handler needs. */
  readonly node: Node;
  readonly exchange: Exchange;
  readonly access: Authenticated<CheckedTemplate>;
  readonly rates: RateLimiter;
  /** Name of the endpoint. */
  readonly name: EndpointName;
  readonly parameters: PathParameters;
}

/** A route that requires a key. */
export interface GuardedRoute<Node> extends AccessRule {
  readonly method: Method;
  /** For example /api/v1/runs/{run_id}. A parameter is one whole segment. */
  readonly path: string;
  /** Name in the log and in metrics, if the route shares the rate limit of another endpoint. */
  readonly routeName?: string;
  /** Set if its handler counts the request's rate together with another call to the stores. */
  readonly countsRate?: true;
  /** Responds to the exchange, immediately or later. A throw or rejection is a fault of the service. */
  readonly handle: (granted: Granted<Node>) => MaybePromise<void>;
}

/** An endpoint of the API. */
export interface Endpoint<Node> extends GuardedRoute<Node> {
  readonly openApi: EndpointDescription;
}
