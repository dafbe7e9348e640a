// What a client's promises are rejected with, beside an AbortSignal's own reason and the errors of local files.
import type { ErrorBody, Quota, Run, RunError } from './api-schemas.ts';

/** What the service says, or what became of the way to it. */
export type ErrorCode =
  | ErrorBody['error']
  | RunError['code']
  /** No whole answer came, however often it was tried. */
  | 'CONNECTION_LOST'
  /** An answer that is none of this API's, such as a proxy's page. */
  | 'UNEXPECTED_ANSWER'
  /** What was downloaded is not what the service's digest says. */
  | 'OUTPUT_DAMAGED';

export interface ErrorDetails {
  /** Of the HTTP answer; null where there was none. */
  readonly status?: number | null;
  readonly requestId?: string | null;
  /** In seconds, as the service asked for. */
  readonly retryAfter?: number | null;
  /** With EXPORT_LIMIT_REACHED. */
  readonly quota?: Quota | null;
  /** With TEMPLATE_COLUMNS_MISSING: names of the Template's columns. */
  readonly columns?: readonly string[] | null;
  readonly cause?: unknown;
}

/** A request that did not succeed: look at `code`. */
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

/** A path that cannot be sent. What the system says of one, such as ENOENT, comes as the system's own error. */
export class SourceError extends Error {
  readonly code: 'SOURCE_NOT_A_FILE' | 'SOURCE_SHORTENED';

  constructor(code: SourceError['code'], message: string) {
    super(message);
    this.name = 'SourceError';
    this.code = code;
  }
}

/** The Run came to its end and failed; `code` and `message` are its error's. It was not charged. */
export class RunFailedError extends TemplateRunError {
  readonly run: Run;

  constructor(run: Run) {
    super(run.error?.code ?? 'INTERNAL_ERROR', run.error?.message ?? 'The Run failed.');
    this.name = 'RunFailedError';
    this.run = run;
  }
}
