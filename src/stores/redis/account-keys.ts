// Names of keys in Redis. Everything of an account stands behind one prefix with braces, which keep it together where
// Redis is divided.
import { createHash } from 'node:crypto';

/** Any key of the account, for a script. */
export function accountKey(account: string): string {
  return `tr1:{${account}}:flight`;
}

/** @param digest of keyDigest */
export function idempotencyKey(account: string, digest: string): string {
  return `tr1:{${account}}:key:${digest}`;
}

export function outputKey(account: string, runId: string): string {
  return `tr1:{${account}}:out:${runId}`;
}

/** Last heartbeats by incarnation. */
export const NODES_KEY = 'tr1:nodes';

/** Written before replicas are waited for. */
export const REPLICATED_KEY = 'tr1:replicated';

/** Accounts of which an incarnation may have claims. */
export function accountsKey(incarnation: string): string {
  return `tr1:${incarnation}:accounts`;
}

/** Hex digits of a digest, 128 bits. */
const DIGEST_DIGITS = 32;

/** What a client wrote stays here. */
export function keyDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);
}
