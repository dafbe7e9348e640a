// A Run as the client returns it: a union whose `status` decides which fields have a value.
import type { RunBody, RunError, RunOutput } from './api-schemas.ts';

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
  if (typeof body.id !== 'string') return false;
  if (body.status === 'succeeded') return typeof body.rows_written === 'number';
  if (body.status === 'failed') return typeof body.error?.code === 'string';
  return body.status === 'running';
}
