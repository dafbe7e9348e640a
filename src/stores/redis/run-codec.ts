// How Runs, claims and keys are written in Redis. Fields that a reader does not know are left alone, so that two versions
// of the program can stand beside each other.
import type { FailureCode } from '../../../workers/protocol/failure.ts';
import type { StoredOutput } from '../../outputs/output-store.ts';
import { newRun, type RunRecord } from '../../runs/run.ts';
import type { KeyHolder } from '../admission-desk.ts';

/** The first line of a record; behind it is the Run as JSON. */
interface RecordHead {
  readonly template: string;
  readonly created_at: number;
  readonly status: 'succeeded' | 'failed';
  readonly error: FailureCode | null;
  readonly output: OutputHead | null;
  /** Of rejected rows, where there are any: never in Redis. */
  readonly rejects?: OutputHead;
}

interface OutputHead {
  readonly bytes: number;
  /** In the store of outputs; null: it is in Redis. */
  readonly place: string | null;
  /** As StoredOutput has it. */
  readonly sha256?: string;
}

const LINE_FEED = 10;

/** A Run that has ended. Equal Runs have equal bytes. */
export function encodeRecord({ templateId, createdAt, status, errorCode, output, rejects, json }: RunRecord): Buffer {
  if (status === 'running' || json === null) throw new Error('a Run that is not over was to be kept');
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

/** @param outputInRedis makes the output of a record whose output is beside it */
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

/** As the scripts write it. */
export interface ClaimFields {
  /** Incarnation of its node. */
  readonly i: string;
  /** When it was admitted. */
  readonly a: number;
  readonly t: string;
  /** Once begun: 1, created at, fingerprint. */
  readonly b?: 1;
  readonly c?: number;
  readonly f?: string;
}

export function decodeClaim(text: string): ClaimFields {
  return JSON.parse(text) as ClaimFields;
}

/** The record of a claim whose Run others see. */
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
