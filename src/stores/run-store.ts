// Runs that others may ask for: those that have begun, and those that have ended until they expire.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RunRecord } from '../runs/run.ts';
import type { RateDecision, RateLimit } from './rate-limiter.ts';

export interface RateAsk {
  readonly operation: string;
  /** null = none. */
  readonly limit: RateLimit | null;
}

export interface RunAnswer {
  readonly rate: RateDecision;
  /** null: unknown, expired, of another account, or the rate does not allow to ask. */
  readonly run: RunRecord | null;
}

export interface RunStore {
  /** Counts one request and, where it may pass, reads the Run: one step, as several nodes pay for each. */
  read(account: string, runId: string, rate: RateAsk): MaybePromise<RunAnswer>;
}
