// Who asks, and may they: from the Authorization header to an account, or to one of the four refusals (checks 2 and 3).
// It does not answer: the HTTP layer turns the refusal into a status.
import { hash } from 'node:crypto';
import { OPERATION_SCOPES, type OperationName } from '../catalog/access.ts';
import type { Account, ApiKey, Catalog, Subscription } from '../catalog/catalog.ts';

export type AuthenticationCode = 'API_KEY_MISSING' | 'API_KEY_INVALID' | 'INSUFFICIENT_SCOPE' | 'NO_SUBSCRIPTION';

export interface Authenticated<Checked> {
  readonly ok: true;
  readonly account: Account<Checked>;
  readonly key: ApiKey;
  readonly subscription: Subscription;
}

export interface Refused {
  readonly ok: false;
  readonly code: AuthenticationCode;
  readonly message: string;
  /** Value of the WWW-Authenticate header (RFC 6750), null = none. */
  readonly wwwAuthenticate: string | null;
}

const CHALLENGE = 'Bearer realm="template-run"';

/**
 * @param authorization the header's value, undefined when there is none
 * @param now milliseconds since 1970
 */
export function authenticate<Checked>(
  catalog: Catalog<Checked>,
  authorization: string | undefined,
  operation: OperationName,
  now: number,
): Authenticated<Checked> | Refused {
  const bearer = /^bearer(?:[ \t]+(.*))?$/is.exec(authorization?.trim() ?? '');
  if (bearer === null) {
    const message = 'Send an API key as "Authorization: Bearer <API_KEY>".';
    return { ok: false, code: 'API_KEY_MISSING', message, wwwAuthenticate: CHALLENGE };
  }
  const found = catalog.keyByDigest(digestOf(bearer[1] ?? ''));
  if (found === undefined || !isLive(found.key, now) || !found.account.active) {
    const message = 'The API key is malformed, unknown, expired or revoked, or its account is inactive.';
    return { ok: false, code: 'API_KEY_INVALID', message, wwwAuthenticate: `${CHALLENGE}, error="invalid_token"` };
  }
  return permitted(found.account, found.key, operation, now);
}

/** Digest under which a key is stored: SHA-256 of its text, lower-case hex. */
export function digestOf(key: string): string {
  // At once: a hash object is made in C++ and waits for the collector, which costs each request more than the hashing.
  return hash('sha256', key, 'hex');
}

function isLive(key: ApiKey, now: number): boolean {
  return !key.revoked && (key.expiresAt === null || key.expiresAt > now);
}

function permitted<Checked>(
  account: Account<Checked>,
  key: ApiKey,
  operation: OperationName,
  now: number,
): Authenticated<Checked> | Refused {
  const scope = OPERATION_SCOPES[operation];
  if (!key.scopes.has(scope)) {
    const wwwAuthenticate = `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`;
    const message = `The API key lacks the scope ${scope}.`;
    return { ok: false, code: 'INSUFFICIENT_SCOPE', message, wwwAuthenticate };
  }
  const { subscription } = account;
  if (subscription?.status !== 'active' || subscription.startedAt > now) {
    const message = 'The account has no active subscription.';
    return { ok: false, code: 'NO_SUBSCRIPTION', message, wwwAuthenticate: null };
  }
  return { ok: true, account, key, subscription };
}
