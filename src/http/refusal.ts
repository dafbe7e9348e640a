// An error answer as a value: what a check found wrong with a request. The exchange turns it into bytes.
import type { HttpErrorCode } from './status.ts';

export interface Quota {
  readonly used: number;
  readonly limit: number;
  /** RFC 3339. */
  readonly resets_at: string;
}

export interface Refusal {
  readonly code: HttpErrorCode;
  /** English, without anything of the upload. */
  readonly message: string;
  readonly headers?: readonly (readonly [string, string])[];
  /** Only with EXPORT_LIMIT_REACHED. */
  readonly quota?: Quota;
  /** Only with TEMPLATE_COLUMNS_MISSING: template-side names. */
  readonly columns?: readonly string[];
}

/** How long a client waits before it asks a busy node again, in seconds. */
const BUSY_RETRY_SECONDS = 1;

export function refusal(code: HttpErrorCode, message: string): Refusal {
  return { code, message };
}

/** 503 SERVER_BUSY with its Retry-After. */
export function busy(message: string): Refusal {
  return { code: 'SERVER_BUSY', message, headers: [['Retry-After', String(BUSY_RETRY_SECONDS)]] };
}
