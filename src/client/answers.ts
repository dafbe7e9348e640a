// Parses responses of the API: JSON bodies of limited length, Runs, and error responses as TemplateRunError.
// Also defines all errors of the client.

import type {
  ErrorBody,
  Quota,
  QuotaErrorBody,
  RunBody,
  RunError,
  RunOutput,
  TemplateList,
  Usage,
} from './api-schemas.ts';

/**
 * Longer bodies do not come from this API: a report has at most 64 KiB, and a list contains at most some thousand
 * Templates.
 */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

export interface RunAnswer {
  readonly run: Run;
  /** In seconds; null: the Run has ended. */
  readonly retryAfter: number | null;
}

export async function readRun(answer: TransportAnswer): Promise<RunAnswer> {
  const body = await readJson<RunBody>(answer);
  if (!isRun(body)) throw unexpected(answer);
  return { run: body, retryAfter: retryAfterOf(answer) };
}

export async function readTemplates(answer: TransportAnswer): Promise<TemplateList['data']> {
  const { data } = await readJson<TemplateList>(answer);
  if (!Array.isArray(data)) throw unexpected(answer);
  return data;
}

export async function readUsage(answer: TransportAnswer): Promise<Usage> {
  const body = await readJson<Usage>(answer);
  if (typeof body.used !== 'number' || typeof body.resets_at !== 'string') throw unexpected(answer);
  return body as Usage;
}

/** Throws the error of a response whose status is not 2xx, after reading its body to the end. */
export async function refuseErrors(answer: TransportAnswer): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return;
  const { error, message, request_id: requestId, columns, quota } = await readJson<QuotaErrorBody>(answer);
  if (typeof error !== 'string' || typeof message !== 'string') throw unexpected(answer);
  throw new TemplateRunError(error, message, {
    status: answer.status,
    requestId: requestId ?? answer.header('x-request-id'),
    retryAfter: retryAfterOf(answer),
    columns: columns ?? null,
    quota: quota ?? null,
  });
}

async function readJson<Body>(answer: TransportAnswer): Promise<Partial<Body>> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of answer.body) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > BODY_BYTES_MAX) throw unexpected(answer);
  }
  let value: unknown;
  try {
    value = JSON.parse(text + decoder.decode());
  } catch {
    throw unexpected(answer);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected(answer);
  return value as Partial<Body>;
}

/** Supports seconds only, because the service never sends dates. */
function retryAfterOf(answer: TransportAnswer): number | null {
  const text = answer.header('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * Error for a redirect. Redirects are not followed, because file and key must not be sent to another origin than the
 * configured one.
 */
export function redirected(): TemplateRunError {
  const message = 'The service answered with a redirect to another address. Use that address as the base URL.';
  return new TemplateRunError('UNEXPECTED_ANSWER', message);
}

/**
 * Error for a response that does not come from this API. The message does not quote the response, which may contain
 * anything.
 */
export function unexpected(answer: TransportAnswer): TemplateRunError {
  const message = `The answer with status ${answer.status} does not come from this API. Check the base URL, and the proxies between client and service.`;
  const { status } = answer;
  const requestId = answer.header('x-request-id');
  return new TemplateRunError('UNEXPECTED_ANSWER', message, { status, requestId, retryAfter: retryAfterOf(answer) });
}

// A Run as the client returns it: a union whose `status` decides which fields have a value.

export interface RunningRun extends RunBody {
  readonly status: 'running';
  readonly completed_at: null;
  readonly rows_written: null;
  readonly output: null;
  readonly error: null;
}

export interface SucceededRun extends RunBody {
  readonly status: 'succeeded';
  readonly completed_at: string;
  readonly expires_at: string;
  readonly rows_written: number;
  readonly output: RunOutput;
  readonly error: null;
}

export interface FailedRun extends RunBody {
  readonly status: 'failed';
  readonly completed_at: string;
  readonly expires_at: string;
  readonly rows_written: null;
  readonly output: null;
  readonly error: RunError;
}

export type Run = RunningRun | SucceededRun | FailedRun;

/** True if a response body has the fields that its status requires. */
export function isRun(body: Partial<RunBody>): body is Run {
  if (typeof body.id !== 'string' || !isFile(body.output) || !isFile(body.rejects)) return false;
  if (body.status === 'succeeded') return typeof body.rows_written === 'number';
  if (body.status === 'failed') return typeof body.error?.code === 'string';
  return body.status === 'running';
}

/** True if the name and the size of a Run's file have the types that callers rely on. A Run may have no such file. */
function isFile(file: unknown): boolean {
  if (file === undefined || file === null) return true;
  if (typeof file !== 'object') return false;
  const { name, size_bytes: bytes } = file as Partial<RunOutput>;
  const isSize = bytes === undefined || (Number.isSafeInteger(bytes) && bytes >= 0);
  return isSize && (name === undefined || typeof name === 'string');
}

// Errors with which a client's promises are rejected, besides the reasons of AbortSignals and errors of local files.

/** Error codes of the service, of its Runs, and of the connection to it. */
export type ErrorCode =
  | ErrorBody['error']
  | RunError['code']
  /** No complete response arrived in any attempt. */
  | 'CONNECTION_LOST'
  /** The response does not come from this API; it may be the page of a proxy. */
  | 'UNEXPECTED_ANSWER'
  /** The downloaded bytes do not match the service's digest. */
  | 'OUTPUT_DAMAGED';

export interface ErrorDetails {
  /** Status of the HTTP response; null: no response. */
  readonly status?: number | null;
  readonly requestId?: string | null;
  /** Delay requested by the service, in seconds. */
  readonly retryAfter?: number | null;
  /** With EXPORT_LIMIT_REACHED. */
  readonly quota?: Quota | null;
  /** With TEMPLATE_COLUMNS_MISSING: names of the Template's columns. */
  readonly columns?: readonly string[] | null;
  readonly cause?: unknown;
}

/** A request that failed; `code` gives the reason. */
export class TemplateRunError extends Error {
  readonly code: ErrorCode;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly quota: Quota | null;
  readonly columns: readonly string[] | null;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'TemplateRunError';
    this.code = code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfter = details.retryAfter ?? null;
    this.quota = details.quota ?? null;
    this.columns = details.columns ?? null;
  }
}

/** A path that cannot be sent. Errors of the operating system, such as ENOENT, are thrown unchanged. */
export class SourceError extends Error {
  readonly code: 'SOURCE_NOT_A_FILE' | 'SOURCE_SHORTENED';

  constructor(code: SourceError['code'], message: string) {
    super(message);
    this.name = 'SourceError';
    this.code = code;
  }
}

/** The Run has ended and failed; `code` and `message` are those of its error. It was not charged. */
export class RunFailedError extends TemplateRunError {
  readonly run: FailedRun;

  constructor(run: FailedRun) {
    super(run.error.code, run.error.message);
    this.name = 'RunFailedError';
    this.run = run;
  }
}

// The interface between the client and the transport that sends its requests: node:http, or fetch in a browser.

/**
 * The file of a form, and a callback for its progress. `Source` is a type that the transport can open again for each
 * attempt.
 */
export interface Upload<Source> {
  readonly source: Source;
  /** Other fields of the form by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** Reports the bytes of the file sent in the current attempt. @param totalBytes null if unknown before the end */
  readonly onSent: (bytes: number, totalBytes: number | null) => void;
}

export interface TransportRequest<Source> {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly upload: Upload<Source> | null;
  readonly signal: AbortSignal;
  /** The connection is closed after this time without progress, in milliseconds. */
  readonly idleMilliseconds: number;
}

/** Status and headers of a response, and its body as a stream, which must be read to its end or cancelled. */
export interface TransportAnswer {
  readonly status: number;
  header(name: string): string | null;
  /** Throws ConnectionLostError if the body ends too early. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Discards the rest of the body. */
  cancel(): void;
}

export interface Transport<Source> {
  /**
   * Sends the request once. Rejects with ConnectionLostError if no response arrived, and with the error of a source
   * that cannot be read.
   */
  send(request: TransportRequest<Source>): Promise<TransportAnswer>;
}

/**
 * The connection was lost, so it is unknown whether the service has processed the request. Used only inside the
 * client; callers get CONNECTION_LOST.
 */
export class ConnectionLostError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConnectionLostError';
  }
}
