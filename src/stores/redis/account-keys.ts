// Names of the keys in Redis. All keys of an account have one prefix with braces, which places them into the same
// hash slot of a cluster.
import { createHash } from 'node:crypto';

/** Any key of the account, as the key argument of a script. */
export function accountKey(account: string): string {
  return `tr1:{${account}}:flight`;
}

/** @param digest result of keyDigest */
export function idempotencyKey(account: string, digest: string): string {
  return `tr1:{${account}}:key:${digest}`;
}

export function outputKey(account: string, runId: string): string {
  return `tr1:{${account}}:out:${runId}`;
}

/** Last heartbeats by incarnation. */
export const NODES_KEY = 'tr1:nodes';

/** Id of the fleet, which is also stored in its folder of larger outputs. */
export const OUTPUTS_KEY = 'tr1:outputs';

/** Written before a WAIT for replicas. */
export const REPLICATED_KEY = 'tr1:replicated';

/** Accounts in which an incarnation may have claims. */
export function accountsKey(incarnation: string): string {
  return `tr1:${incarnation}:accounts`;
}

/** Hex digits of a digest, 128 bits. */
const DIGEST_DIGITS = 32;

/** Hides the client's text, so that Redis never stores it. */
export function keyDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);
}
