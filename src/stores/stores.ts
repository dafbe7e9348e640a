// Interfaces of everything that a node keeps longer than a request, and that several nodes could share, with the errors
// and the clock of stores.
import type { FailureCode } from '../../workers/protocol/failure.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { OutputStore } from '../outputs/output-store.ts';
import type { RunRecord } from '../runs/run.ts';
import type { MetricValues } from '../telemetry/metric-definition.ts';
import type { AdmissionStore } from './admission-store.ts';
import type { RateDecision, RateLimit, RateLimiter } from './rate-limiter.ts';

// The clock of the stores. Everything that expires, refills or is billed uses it, and a store reads the time only
// from it.

export interface Clock {
  /** Milliseconds since 1970, for displayed times. May jump. */
  wall(): number;
  /** Milliseconds that never go backwards, for durations. */
  steady(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = { wall: () => Date.now(), steady: () => performance.now() };

// Errors of a store that temporarily cannot store or return data.

/**
 * A store cannot be used now, for example because its disk is full or missing. Nothing was changed, and a retry may
 * succeed later.
 */
export class StoreUnavailableError extends Error {
  constructor(what: string, cause: unknown) {
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    super(`${what} cannot be written: ${reason instanceof Error ? reason.message : reason}`, { cause });
    this.name = 'StoreUnavailableError';
  }
}

/**
 * The same for a store shared by several nodes. Its outage has been logged once, so requests that fail because of it
 * are not logged.
 */
export class SharedStoreUnavailableError extends StoreUnavailableError {
  constructor(what: string, cause: unknown) {
    super(what, cause);
    this.name = 'SharedStoreUnavailableError';
  }
}

// Error codes of Runs after which the same Idempotency-Key may start another Run. The failure was not caused by the
// request.

/** After these codes, a retry starts a new Run. */
export const RETRIED_CODES: ReadonlySet<FailureCode> = new Set([
  'RUN_INTERRUPTED',
  'RUN_TIMEOUT',
  'RUN_RESOURCE_LIMIT',
  'INTERNAL_ERROR',
]);

// Runs that clients can read: begun ones, and ended ones until they expire.

export interface RateRequest {
  readonly operation: string;
  /** Null: unlimited. */
  readonly limit: RateLimit | null;
}

export interface RunAnswer {
  readonly rate: RateDecision;
  /** Null: unknown, expired, of another account, or refused by the rate limit. */
  readonly run: RunRecord | null;
}

export interface RunStore {
  /**
   * Counts one request and, if the rate allows it, reads the Run. This is one step, because each step of a shared
   * store costs a round trip.
   */
  read(account: string, runId: string, rate: RateRequest): MaybePromise<RunAnswer>;
}

export interface Stores {
  readonly admissions: AdmissionStore;
  readonly runs: RunStore;
  readonly rates: RateLimiter;
  readonly outputs: OutputStore;
  readonly gauges: StoreGauges;
  /** Further metrics of these stores, with their current values. */
  metricValues(): readonly MetricValues[];
  /** The live nodes of the fleet; empty for a single node. */
  nodes(): readonly FleetNode[];
  /** True if the ended Runs of the account leave enough memory for another one on this node. */
  mayKeepRun(account: string): boolean;
  /** Reason why the node should get no Runs; null: ready. */
  unreadyReason(): string | null;
  /** The node is about to end: failed calls are no longer repeated. */
  hurry(): void;
  /** Waits for work in progress. */
  close(): Promise<void>;
}

export interface FleetNode {
  readonly name: string;
  /** True for the node that reports the list. */
  readonly isSelf: boolean;
  readonly secondsSinceHeartbeat: number;
  /** True if its catalog is that of the node that reports the list. */
  readonly hasSameCatalog: boolean;
}

/** Values read by metrics. */
export interface StoreGauges {
  runsKept(): number;
}
