// Authentication and authorisation: from the Authorization header to an account or a refusal, and the rate limit for
// requests without a valid key.

import { hash } from 'node:crypto';
import type { Account, ApiKey, Catalog, EndpointName, KeyScope, Subscription } from '../catalog/catalog.ts';
import { refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RateDecision, RateLimit } from '../stores/rate-limiter.ts';

// Authentication and authorisation: from the Authorization header to an account, or to one of four refusals. Does not
// respond: the HTTP layer turns the refusal into a status.

export type AuthenticationCode = 'API_KEY_MISSING' | 'API_KEY_INVALID' | 'INSUFFICIENT_SCOPE' | 'NO_SUBSCRIPTION';

export interface Authenticated<Checked> {
  readonly ok: true;
  readonly account: Account<Checked>;
  readonly key: ApiKey;
  readonly subscription: Subscription;
}

export interface KeyHolder {
  readonly account: { readonly id: string };
  readonly key: { readonly id: string };
}

export interface Refused {
  readonly ok: false;
  /** Holder of the key, if the catalog names one. Used for the log only. */
  readonly holder: KeyHolder | null;
  readonly code: AuthenticationCode;
  readonly message: string;
  /** Value of the WWW-Authenticate header (RFC 6750), or null for no header. */
  readonly wwwAuthenticate: string | null;
}

const CHALLENGE = 'Bearer realm="template-run"';

/**
 * @param authorization value of the header, or undefined without one
 * @param scope scope that the endpoint requires of the key
 * @param now milliseconds since 1970
 */
export function authenticate<Checked>(
  catalog: Catalog<Checked>,
  authorization: string | undefined,
  scope: KeyScope,
  now: number,
): Authenticated<Checked> | Refused {
  const bearer = /^bearer(?:[ \t]+(.*))?$/is.exec(authorization?.trim() ?? '');
  if (bearer === null) {
    const message = 'Send an API key as "Authorization: Bearer <API_KEY>".';
    return { ok: false, holder: null, code: 'API_KEY_MISSING', message, wwwAuthenticate: CHALLENGE };
  }
  const found = catalog.keyByDigest(digestOf(bearer[1] ?? ''));
  if (found === undefined || !isLive(found.key, now) || !found.account.active) {
    const message = 'The API key is malformed, unknown, expired or revoked, or its account is inactive.';
    const wwwAuthenticate = `${CHALLENGE}, error="invalid_token"`;
    return { ok: false, holder: found ?? null, code: 'API_KEY_INVALID', message, wwwAuthenticate };
  }
  return permitted(found.account, found.key, scope, now);
}

/** Digest under which a key is stored: SHA-256 of its text, in lower-case hex. */
export function digestOf(key: string): string {
  // One-shot hash: a hash object is allocated in C++ and waits for garbage collection, which costs more per request
  // than the hashing.
  return hash('sha256', key, 'hex');
}

function isLive(key: ApiKey, now: number): boolean {
  return !key.revoked && (key.expiresAt === null || key.expiresAt > now);
}

function permitted<Checked>(
  account: Account<Checked>,
  key: ApiKey,
  scope: KeyScope,
  now: number,
): Authenticated<Checked> | Refused {
  if (!key.scopes.has(scope)) {
    const wwwAuthenticate = `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`;
    const message = `The API key lacks the scope ${scope}.`;
    return { ok: false, holder: { account, key }, code: 'INSUFFICIENT_SCOPE', message, wwwAuthenticate };
  }
  const { subscription } = account;
  if (subscription?.status !== 'active' || subscription.startedAt > now) {
    const message = 'The account has no active subscription.';
    return { ok: false, holder: { account, key }, code: 'NO_SUBSCRIPTION', message, wwwAuthenticate: null };
  }
  return { ok: true, account, key, subscription };
}

// Rate limit for responses to requests without a valid key, per client network: a number of them is sent immediately,
// the others at a steady rate. The limit only delays responses, and requests with a valid key are not affected. There
// is one leaky bucket per network, implemented as GCRA.

/**
 * Number of failures that are answered immediately: enough for a deployment that starts with an old key, and for a
 * person who tries several.
 */
const AT_ONCE = 200;

/**
 * Interval between further responses, in milliseconds. All clients of a balancer are one network, and their failures
 * share this rate.
 */
const PACE_MILLISECONDS = 50;

/** Maximum delay in milliseconds: clients give up after tens of seconds, and a waiting request takes some KiB. */
const WAIT_MILLISECONDS_MAX = 5_000;

/** Maximum number of delayed responses, over all networks. Further responses are sent immediately. 4 KiB each. */
const WAITING_MAX = 1024;

/** Maximum number of networks remembered. The one whose last failure is the oldest is forgotten. 100 bytes each. */
const NETWORKS_MAX = 4096;

export class FailurePace {
  /** Time at which the bucket of each network is empty, in the caller's milliseconds, ordered by last failure. */
  #emptyAt = new Map<string, number>();
  #waiting = 0;

  /** Number of networks remembered. */
  get size(): number {
    return this.#emptyAt.size;
  }

  /**
   * Records a failure and calls `answer`, immediately or after the delay.
   * @param now milliseconds of a monotonic clock
   * @param onDisconnect registers a callback for the case that the client disconnects
   */
  pace(
    network: string,
    now: number,
    answer: () => void,
    onDisconnect: (listener: () => void) => void,
  ): 'at once' | 'later' {
    const wait = this.#note(network, now);
    if (wait <= 0 || this.#waiting === WAITING_MAX) {
      answer();
      return 'at once';
    }
    this.#waiting += 1;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      this.#waiting -= 1;
      clearTimeout(timer);
    };
    const timer = setTimeout(() => {
      finish();
      answer();
    }, wait);
    onDisconnect(finish);
    return 'later';
  }

  /** Returns the delay of the response in milliseconds. */
  #note(network: string, now: number): number {
    const before = Math.max(this.#emptyAt.get(network) ?? 0, now);
    // The bucket is never filled beyond the maximum delay: a client that keeps failing is slowed down, not locked out
    // for hours.
    const fullest = now + AT_ONCE * PACE_MILLISECONDS + WAIT_MILLISECONDS_MAX;
    const emptyAt = Math.min(before + PACE_MILLISECONDS, fullest);
    this.#emptyAt.delete(network);
    if (this.#emptyAt.size === NETWORKS_MAX) this.#emptyAt.delete(this.#emptyAt.keys().next().value as string);
    this.#emptyAt.set(network, emptyAt);
    return emptyAt - now - AT_ONCE * PACE_MILLISECONDS;
  }
}

// Adds rate-limit headers to a response, and refuses a request that exceeds the rate (check 4). Counts no requests.

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
