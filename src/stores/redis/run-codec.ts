// Names of keys in Redis, and the encoding of Runs, claims and keys. Unknown fields are ignored, so that nodes of two versions can run side
// by side.

import { createHash } from 'node:crypto';
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { StoredOutput } from '../../outputs/output-store.ts';
import { keptJson, newRun, type RunRecord } from '../../runs/run.ts';
import type { KeyHolder } from '../admission-store.ts';

/** The first line of a record; the JSON of the Run follows it. */
interface RecordHead {
  readonly template: string;
  readonly created_at: number;
  readonly status: 'succeeded' | 'failed';
  readonly error: FailureCode | null;
  readonly output: OutputHead | null;
  /** Rejected rows, if any; never stored in Redis. */
  readonly rejects?: OutputHead;
}

interface OutputHead {
  readonly bytes: number;
  /** Location in the output store; null: the output is in Redis. */
  readonly place: string | null;
  /** Same as in StoredOutput. */
  readonly sha256?: string;
}

const LINE_FEED = 10;

/** Encodes an ended Run. Equal Runs give equal bytes. */
export function encodeRecord(run: RunRecord): Buffer {
  const { templateId, createdAt, status, errorCode, output, rejects } = run;
  if (status === 'running') throw new Error('a running Run cannot be stored');
  const json = keptJson(run);
  const head: RecordHead = {
    template: templateId,
    created_at: createdAt,
    status,
    error: errorCode,
    output: output === null ? null : outputHead(output),
    ...(rejects && { rejects: outputHead(rejects) }),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), json]);
}

function outputHead({ sizeBytes, path, sha256 }: StoredOutput): OutputHead {
  return { bytes: sizeBytes, place: path, ...(sha256 !== undefined && { sha256 }) };
}

/** @param outputInRedis creates the output of a record whose output is stored beside it in Redis */
export function decodeRecord(
  account: string,
  id: string,
  record: Buffer,
  outputInRedis: (sizeBytes: number) => StoredOutput,
): RunRecord {
  const end = record.indexOf(LINE_FEED);
  const head = JSON.parse(record.toString('utf8', 0, end)) as RecordHead;
  const { template, created_at, status, error, output, rejects } = head;
  const placed = ({ bytes, place, sha256 }: OutputHead): StoredOutput => {
    if (place === null) return outputInRedis(bytes);
    return { sizeBytes: bytes, path: place, bytes: null, ...(sha256 !== undefined && { sha256 }) };
  };
  return {
    id,
    account,
    templateId: template,
    createdAt: created_at,
    status,
    errorCode: error,
    output: output === null ? null : placed(output),
    ...(rejects && { rejects: placed(rejects) }),
    json: record.subarray(end + 1),
  };
}

/** A claim in the form that the scripts write. */
export interface ClaimFields {
  /** Incarnation of its node. */
  readonly i: string;
  /** Time of admission. */
  readonly a: number;
  readonly t: string;
  /** Set once begun: 1, time of creation, fingerprint. */
  readonly b?: 1;
  readonly c?: number;
  readonly f?: string;
}

export function decodeClaim(text: string): ClaimFields {
  return JSON.parse(text) as ClaimFields;
}

/** The record of a claim whose Run is visible to others. */
export function runningRecord(account: string, id: string, { t, a, c }: ClaimFields): RunRecord {
  return newRun(id, account, t, c ?? a);
}

interface KeyFields {
  readonly s: 'uploading' | 'running' | 'finished';
  readonly r: string;
  readonly n?: string;
  readonly f?: string;
}

export function decodeHolder(text: string): KeyHolder {
  const { s: phase, r: runId, n: node = '', f: fingerprint = '' } = JSON.parse(text) as KeyFields;
  if (phase === 'uploading') return { phase, runId, node };
  return phase === 'running' ? { phase, runId, node, fingerprint } : { phase, runId, fingerprint };
}

// Names of the keys in Redis. All keys of an account have one prefix with braces, which places them into the same
// hash slot of a cluster.

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
