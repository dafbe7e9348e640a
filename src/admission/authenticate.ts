// Who asks, and may they: from the Authorization header to an account, or to one of the four refusals.
// It does not answer: the HTTP layer turns the refusal into a status.
import { hash } from 'node:crypto';
import type { KeyScope } from '../catalog/access.ts';
import type { Account, ApiKey, Catalog, Subscription } from '../catalog/catalog.ts';

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
  /** Whose key it is, where the catalog has it: for the log alone. */
  readonly holder: KeyHolder | null;
  readonly code: AuthenticationCode;
  readonly message: string;
  /** Value of the WWW-Authenticate header (RFC 6750), null = none. */
  readonly wwwAuthenticate: string | null;
}

const CHALLENGE = 'Bearer realm="template-run"';

/**
 * @param authorization the header's value, undefined when there is none
 * @param scope that the endpoint asks of the key
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
