// A Run: its state and report, and a Run of this node that is not over, with the listeners that wait for it.

import { randomFillSync } from 'node:crypto';
import type { FailureCode } from '../../workers/protocol/failure.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { Refusal } from '../http/error-codes.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import { TimeTexts } from '../telemetry/time-texts.ts';

// A Run as the store keeps it and as clients see it: an immutable value. When a running Run ends, another record
// replaces its record and is rendered once. States of a Run: running → succeeded or failed.

export interface RunRecord {
  readonly id: string;
  readonly account: string;
  readonly templateId: string;
  /** Milliseconds since 1970, like all times that clients see. */
  readonly createdAt: number;
  readonly status: 'running' | 'succeeded' | 'failed';
  readonly errorCode: FailureCode | null;
  readonly output: StoredOutput | null;
  /** The file of rejected rows, if the Template writes one. */
  readonly rejects?: StoredOutput;
  /** The whole Run as JSON; null while it runs. */
  readonly json: Buffer | null;
}

/** An output with the name and type that its Run reports. */
export interface NamedOutput {
  readonly stored: StoredOutput;
  readonly name: string;
  readonly mimeType: string;
}

/** The result of an ended Run. */
export interface RunResult {
  readonly completedAt: number;
  readonly expiresAt: number;
  readonly rowsWritten: number | null;
  readonly truncated: boolean;
  readonly output: NamedOutput | null;
  readonly rejects: NamedOutput | null;
  readonly error: { readonly code: FailureCode; readonly message: string } | null;
  /** A RunReport as JSON. */
  readonly reportText: string | null;
}

/** Path of the API: the prefix of every API address. */
export const API_PATH = '/api/v1';

/** Maximum size of a stored Run as JSON, including its message and report, in bytes. */
export const RECORD_BYTES_MAX = 64 * 1024;

/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
const UTF8_BYTES_MAX = 3;

/** Longer messages are cut, in characters. JSON escapes may take six bytes per character. */
const MESSAGE_CHARACTERS_MAX = 2_048;

export function runPath(id: string): string {
  return `${API_PATH}/runs/${id}`;
}

export function newRun(id: string, account: string, templateId: string, createdAt: number): RunRecord {
  return {
    id,
    account,
    templateId,
    createdAt,
    status: 'running',
    errorCode: null,
    output: null,
    json: null,
  };
}

/** Settings for rendering Runs. */
export interface RunTexts {
  /** Base URL of the service for its clients. */
  readonly baseUrl: () => string;
  readonly times: TimeTexts;
}

/** Returns the record of a running Run that has ended with this result. */
export function endedRun(running: RunRecord, result: RunResult, { baseUrl, times }: RunTexts): RunRecord {
  const { id, account, templateId, createdAt } = running;
  const status = result.output === null ? 'failed' : 'succeeded';
  const json = Buffer.from(render(running, status, result, baseUrl(), times));
  const errorCode = result.error?.code ?? null;
  const ended = {
    id,
    account,
    templateId,
    createdAt,
    status,
    errorCode,
    output: result.output?.stored ?? null,
    json,
  } as const;
  return result.rejects === null ? ended : { ...ended, rejects: result.rejects.stored };
}

/**
 * Returns the JSON of a Run for storage. Throws if it is longer than a record may be, which is a fault of this
 * program.
 */
export function keptJson({ json }: RunRecord): Buffer {
  if (json === null) throw new Error('a running Run cannot be stored');
  if (json.length > RECORD_BYTES_MAX) throw new Error(`a record of ${json.length} bytes is too long to be stored`);
  return json;
}

/** Returns the Run as JSON, as a string or as bytes. */
export function runJson(run: RunRecord): string | Uint8Array {
  return run.json ?? render(run, 'running', null, '', new TimeTexts());
}

/** Returns the name for downloading a file of the Run, or null if the Run has no such file. */
export function fileNameOf(run: RunRecord, file: 'output' | 'rejects'): string | null {
  if (run.json === null) return null;
  const shown = JSON.parse(run.json.toString()) as {
    readonly [name in typeof file]?: { readonly name: string } | null;
  };
  return shown[file]?.name ?? null;
}

/** Time at which the Run and its files expire, in milliseconds since 1970; null while it runs. */
export function expiryOf(run: RunRecord): number | null {
  if (run.json === null) return null;
  return Date.parse((JSON.parse(run.json.toString()) as { readonly expires_at: string }).expires_at);
}

function render(
  run: RunRecord,
  status: RunRecord['status'],
  result: RunResult | null,
  baseUrl: string,
  times: TimeTexts,
): string {
  const begin = renderWithout(run, status, result, baseUrl, times);
  const report = result?.reportText ?? null;
  if (report === null) return `${begin}null}`;
  // Most Runs are so short that their bytes need not be counted.
  const isShort = UTF8_BYTES_MAX * (begin.length + report.length + 1) <= RECORD_BYTES_MAX;
  return `${begin}${isShort ? report : fitting(report, RECORD_BYTES_MAX - Buffer.byteLength(begin) - 1)}}`;
}

/**
 * Drops the per-operation part of a report that is too long, and marks the report. Leaves out a report that is still
 * too long.
 */
function fitting(reportText: string, bytesMax: number): string {
  if (Buffer.byteLength(reportText) <= bytesMax) return reportText;
  const shortened = JSON.stringify({ ...(JSON.parse(reportText) as RunReport), operations: [], shortened: true });
  return Buffer.byteLength(shortened) <= bytesMax ? shortened : 'null';
}

/** Cuts a message to the length that a record may hold. */
function cutMessage(message: string): string {
  return message.length <= MESSAGE_CHARACTERS_MAX ? message : `${message.slice(0, MESSAGE_CHARACTERS_MAX)}…`;
}

/**
 * Renders everything before the report. Written by hand: for so many short fields, JSON.stringify takes three times
 * as long. Ids, statuses, times, types, names of outputs (output-store.ts) and addresses contain no characters that
 * JSON must escape.
 */
function renderWithout(
  run: RunRecord,
  status: RunRecord['status'],
  result: RunResult | null,
  baseUrl: string,
  times: TimeTexts,
): string {
  const { id } = run;
  const output = result?.output ?? null;
  const rejects = result?.rejects ?? null;
  const error = result?.error ?? null;
  const completedAt = result === null ? 'null' : `"${times.of(result.completedAt)}"`;
  const expiresAt = result === null ? 'null' : `"${times.of(result.expiresAt)}"`;
  return (
    `{"id":"${id}","status":"${status}","template_id":"${run.templateId}",` +
    `"created_at":"${times.of(run.createdAt)}","completed_at":${completedAt},"expires_at":${expiresAt},` +
    `"rows_written":${result?.rowsWritten ?? null},"truncated":${result?.truncated ?? false},` +
    `"output":${output === null ? 'null' : renderFile(id, 'output', output, baseUrl)},` +
    (rejects === null ? '' : `"rejects":${renderFile(id, 'rejects', rejects, baseUrl)},`) +
    `"error":${error === null ? 'null' : JSON.stringify({ ...error, message: cutMessage(error.message) })},"report":`
  );
}

function renderFile(id: string, file: string, { stored, name, mimeType }: NamedOutput, baseUrl: string): string {
  const address = `${baseUrl}${runPath(id)}/${file}`;
  return `{"name":"${name}","mime_type":"${mimeType}","size_bytes":${stored.sizeBytes},"download_url":"${address}"}`;
}

/** What the log and the metrics report about an ended Run. */
export interface RunEnded {
  readonly milliseconds: number;
  readonly busyMilliseconds: number | null;
  /** Number of threads that processed the file; null if the service ended the Run. */
  readonly threads: number | null;
  readonly fileBytes: number;
  readonly rowsRead: number | null;
  readonly rowsWritten: number | null;
  /** Whether the Run counts towards the quota. */
  readonly charged: boolean;
}

// A Run of this node that is not over, with the listeners that wait for it. Makes no decisions; supervise-run.ts ends
// it.

/** `void`: the Run ended in an error before it was visible to others, and no Run remains. */
export type RunOver =
  | { readonly kind: 'finished'; readonly run: RunRecord }
  | { readonly kind: 'void'; readonly refusal: Refusal };

export class LiveRun {
  /** The record of the running Run. */
  readonly run: RunRecord;
  #ask: () => MaybePromise<boolean>;
  #promised = false;
  #over: RunOver | null = null;
  #listeners: ((over: RunOver) => void)[] = [];

  /** @param ask promises the Run to others; false means that no Run remains */
  constructor(run: RunRecord, ask: () => MaybePromise<boolean>) {
    this.run = run;
    this.#ask = ask;
  }

  /** Calls back when the Run is over; immediately if it already is. A listener must not throw. */
  onOver(listener: (over: RunOver) => void): void {
    if (this.#over !== null) listener(this.#over);
    else this.#listeners.push(listener);
  }

  /** A client has the Run's id, or will ask for the Run by its key: it must end as a Run in any case. */
  get promised(): boolean {
    return this.#promised;
  }

  /** Promises the Run. Resolves to false if the Run has just ended without a record. */
  promise(): MaybePromise<boolean> {
    if (this.#promised) return true;
    const asked = this.#ask();
    if (asked instanceof Promise) return asked.then((promised) => this.#note(promised));
    return this.#note(asked);
  }

  end(over: RunOver): void {
    this.#over = over;
    for (const listener of this.#listeners.splice(0)) listener(over);
  }

  #note(promised: boolean): boolean {
    this.#promised ||= promised;
    return promised;
  }
}

// Ids of Runs: `run_` and 130 random bits. A call of the system's random generator for each id would cost a small Run
// more than formatting the id, and so would the conversion of bytes to a string. Both are therefore done for many ids
// at once. No random byte is used twice.

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARACTERS = 26;
const RUN_ID = /^run_[a-z2-7]{26}$/;

/** Number of ids from one call of the generator. */
const IDS_PER_CALL = 128;

const ID_LENGTH = 'run_'.length + ID_CHARACTERS;

export class RunIds {
  #bytes = Buffer.alloc(IDS_PER_CALL * ID_LENGTH);
  /** Concatenated ids of the current batch. */
  #texts = '';
  #used = 0;

  next(): string {
    if (this.#used === this.#texts.length) this.#make();
    const start = this.#used;
    this.#used += ID_LENGTH;
    return this.#texts.slice(start, this.#used);
  }

  #make(): void {
    randomFillSync(this.#bytes);
    for (let at = 0; at < this.#bytes.length; at += 1) {
      this.#bytes[at] = BASE32.charCodeAt(this.#bytes[at]! & 31);
    }
    for (let start = 0; start < this.#bytes.length; start += ID_LENGTH) this.#bytes.write('run_', start);
    this.#texts = this.#bytes.toString('latin1');
    this.#used = 0;
  }
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
