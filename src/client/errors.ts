// Errors with which a client's promises are rejected, besides the reasons of AbortSignals and errors of local files.

import type { FailedRun } from './answers.ts';
import type { ErrorBody, Quota, RunError } from './api-schemas.ts';

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
