// The admission store: admits Runs and records their ends. The rate, Idempotency-Key, quota and slot of a Run change
// together, so one interface covers all of them. Each method is one atomic step, which may be answered immediately or
// later; answers may arrive in another order than the calls. The store never keeps a request waiting: waiting for a
// key or a Run is handled by the node itself (src/runs/key-claims.ts).
//
// States of a claim: admitted → begun (the Run is visible to others) → promised (its id was returned to the client) →
// over, by finish or abandon. Each intermediate state may be skipped.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RunRecord } from '../runs/run.ts';
import type { BillingPeriod } from './billing-period.ts';
import type { RateDecision, RateLimit } from './rate-limiter.ts';

export interface AdmissionRequest {
  /** Id of the Run that is created if it is admitted. */
  readonly runId: string;
  /** The node that asks. */
  readonly node: string;
  readonly account: string;
  /** Null: unlimited, or the request has already been counted. */
  readonly rate: RateLimit | null;
  readonly key: { readonly text: string; readonly templateId: string } | null;
  readonly period: BillingPeriod;
  /** Maximum number of Runs charged in the period; null: unlimited. */
  readonly quotaMax: number | null;
  /** Maximum number of Runs in flight; null: unlimited. */
  readonly slotsMax: number | null;
  /**
   * True if the node has reserved memory and disk space for the Run. The reservation is released if the Run is not
   * admitted.
   */
  readonly hasCapacity: boolean;
}

/** Identifies one admitted Run, with its slot, its reserved unit of the quota and its key. */
export interface RunClaim {
  readonly runId: string;
  readonly account: string;
}

/** The holder of a key: an upload (whose fingerprint is not yet known), or a Run. */
export type KeyHolder =
  | { readonly phase: 'uploading'; readonly runId: string; readonly node: string }
  | { readonly phase: 'running'; readonly runId: string; readonly node: string; readonly fingerprint: string }
  | { readonly phase: 'finished'; readonly runId: string; readonly fingerprint: string };

/** The possible results, in the order in which they are checked. */
export type AdmissionOutcome =
  | { readonly kind: 'limited' }
  /** The key was used for another Template. */
  | { readonly kind: 'other_template' }
  /** The key is held by an upload, for which the request may wait, or by a Run, whose result is returned again. */
  | { readonly kind: 'held'; readonly holder: KeyHolder }
  /** Charged and reserved Runs of the period have reached the limit. */
  | { readonly kind: 'quota'; readonly used: number }
  | { readonly kind: 'slots' }
  | { readonly kind: 'no_capacity' }
  | Admitted;

export interface Admitted {
  readonly kind: 'admitted';
  readonly claim: RunClaim;
  /** Fingerprint of the Run that this one retries with the same key. Only an equal request may retry it. */
  readonly former: string | null;
  /**
   * Set if the quota is used up but the key was charged before. `begin` then decides whether that charge was for this
   * request. Otherwise null.
   */
  readonly overQuota: { readonly used: number } | null;
}

export interface AdmissionAnswer {
  readonly rate: RateDecision;
  readonly outcome: AdmissionOutcome;
}

export interface RunEnd {
  readonly record: RunRecord;
  readonly fingerprint: string;
  /** Retention from now on, in milliseconds. */
  readonly keepMilliseconds: number;
  /** End of the retention by the store's clock, which is shown to clients. */
  readonly expiresAt: number;
  /** True if the Run counts towards the quota. A request that was charged before is not charged again. */
  readonly isCharged: boolean;
}

/** `lost`: the claim no longer exists, because other nodes gave up its Run. */
export type BeginAnswer = 'begun' | 'over_quota' | 'lost';

/**
 * `charged`: recorded and counted. `promised`: the Run should have been discarded, but its id was promised, so the
 * claim stays.
 */
export type FinishAnswer = 'done' | 'charged' | 'promised' | 'lost';

/** Current usage of an account. */
export interface AccountUsage {
  /** Charged and reserved Runs of the period. */
  readonly used: number;
  /** Runs that are admitted and not over. */
  readonly runsInFlight: number;
}

export interface AdmissionStore {
  /** Milliseconds since 1970 by the store's clock, for displayed times and billing periods. */
  now(): number;

  /** Reserves everything that a Run needs, or nothing. */
  admit(request: AdmissionRequest): MaybePromise<AdmissionAnswer>;

  /** Makes the Run visible to others. Called before a promise, and also when the Run takes long. */
  begin(claim: RunClaim, run: RunRecord, fingerprint: string): MaybePromise<BeginAnswer>;

  /** Guarantees that a begun Run will not vanish. Returns false if it already has. */
  promise(account: string, runId: string): MaybePromise<boolean>;

  /**
   * Stores the record, charges the quota, completes the key and releases the slot in one step. With null, the Run is
   * discarded as by `abandon`, unless its id was promised. If it rejects, nothing has changed.
   */
  finish(claim: RunClaim, end: RunEnd | null): MaybePromise<FinishAnswer>;

  /** Releases everything that `admit` reserved. Idempotent; has no effect after `finish`. */
  abandon(claim: RunClaim): MaybePromise<void>;

  /** The holder of a key; null: the key is free. */
  holderOf(account: string, key: string): MaybePromise<KeyHolder | null>;

  /** Reads the usage without changing anything. */
  usage(account: string, period: BillingPeriod): MaybePromise<AccountUsage>;
}
