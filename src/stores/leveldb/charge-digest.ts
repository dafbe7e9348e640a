// The name under which a charge is remembered: a digest of account, Idempotency-Key and fingerprint of the request.
import { createHash } from 'node:crypto';

/** Hex digits of each half, 128 bits. */
const HALF_DIGITS = 32;

/** Both halves: the first depends on account and key alone, so that a key's charges can be found before the body came. */
export function chargeDigest(account: string, idempotencyKey: string, fingerprint: string): string {
  return chargeDigestPrefix(account, idempotencyKey) + half(`${account}\n${idempotencyKey}\n${fingerprint}`);
}

/** First half of the digests of every charge under this account and key. */
export function chargeDigestPrefix(account: string, idempotencyKey: string): string {
  return half(`${account}\n${idempotencyKey}`);
}

/** Neither an account's id nor a key holds a line feed: the parts cannot run into each other. */
function half(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HALF_DIGITS);
}
