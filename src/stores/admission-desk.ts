// Where Runs are admitted and end: rate, Idempotency-Key, quota and slot of one Run change together, so that there is one
// port for all of them. Each method is one atomic step; it may be answered at once or later, and what was asked first
// need not be answered first. Nothing of a request is kept behind it: who waits for a key or a Run is the node's own
// business (src/runs/key-claims.ts).
// States of a claim: admitted → begun (others see its Run) → promised (its id was given away) → over, by finish or abandon;
// each may be left out.
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RunRecord } from '../runs/run.ts';
import type { BillingPeriod } from './billing-period.ts';
import type { RateDecision, RateLimit } from './rate-limiter.ts';

export interface AdmissionAsk {
  /** Of the Run that is made if it is admitted. */
  readonly runId: string;
  /** Of the node that asks. */
  readonly node: string;
  readonly account: string;
  /** null = none, or it was counted before. */
  readonly rate: RateLimit | null;
  readonly key: { readonly text: string; readonly templateId: string } | null;
  readonly period: BillingPeriod;
  /** Runs that may be charged in the period; null = no limit. */
  readonly quotaMax: number | null;
  /** Runs in flight; null = no limit. */
  readonly slotsMax: number | null;
  /** Whether the node has memory and disk for it. It is reserved before, and given back where the answer is another. */
  readonly room: boolean;
}

/** Names one admitted Run: the right to make it, its slot, its unit of the quota and its key. */
export interface RunClaim {
  readonly runId: string;
  readonly account: string;
}

/** What has a key: an upload (no fingerprint is known yet), or a Run. */
export type KeyHolder =
  | { readonly phase: 'uploading'; readonly runId: string; readonly node: string }
  | { readonly phase: 'running'; readonly runId: string; readonly node: string; readonly fingerprint: string }
  | { readonly phase: 'finished'; readonly runId: string; readonly fingerprint: string };

/** In the order in which it is looked for. */
export type AdmissionOutcome =
  | { readonly kind: 'limited' }
  /** The key was used for another Template. */
  | { readonly kind: 'other_template' }
  /** The key has an upload, which may be waited for, or a Run, which is repeated. */
  | { readonly kind: 'held'; readonly holder: KeyHolder }
  /** Charged and reserved Runs of the period have reached its limit. */
  | { readonly kind: 'quota'; readonly used: number }
  | { readonly kind: 'slots' }
  | { readonly kind: 'no_room' }
  | Admitted;

export interface Admitted {
  readonly kind: 'admitted';
  readonly claim: RunClaim;
  /** Fingerprint of the Run that this one retries with the same key: only an equal request may. */
  readonly former: string | null;
  /** The quota is used up, and the key was charged before: `begin` tells whether for this very request. Else null. */
  readonly overQuota: { readonly used: number } | null;
}

export interface AdmissionAnswer {
  readonly rate: RateDecision;
  readonly outcome: AdmissionOutcome;
}

export interface RunEnd {
  readonly record: RunRecord;
  readonly fingerprint: string;
  /** How long it is kept from now on ... */
  readonly keepMilliseconds: number;
  /** ... and until when, by the desk's clock: as it is shown. */
  readonly expiresAt: number;
  /** Whether it counts towards the quota, unless this request was charged before. */
  readonly isCharged: boolean;
}

/** `lost`: the claim is not there any more; its Run was given up by others. */
export type BeginAnswer = 'begun' | 'over_quota' | 'lost';

/** `charged`: done, and counted. `promised`: no Run was to remain, but one was promised; the claim stands. */
export type FinishAnswer = 'done' | 'charged' | 'promised' | 'lost';

/** What an account has of its plan at this moment. */
export interface AccountUsage {
  /** Charged and reserved Runs of the period. */
  readonly used: number;
  /** Admitted and not over. */
  readonly runsInFlight: number;
}

export interface AdmissionDesk {
  /** Milliseconds since 1970 by the store's clock: for times that are shown, and for billing periods. */
  now(): number;

  /** Takes all that a Run needs, or nothing. */
  admit(ask: AdmissionAsk): MaybePromise<AdmissionAnswer>;

  /** From now on others see the Run. Before a promise, and once when the Run takes long. */
  begin(claim: RunClaim, run: RunRecord, fingerprint: string): MaybePromise<BeginAnswer>;

  /** A Run that has begun may not vanish any more. False: it already has. */
  promise(account: string, runId: string): MaybePromise<boolean>;

  /**
   * Record, charge, key and slot in one step; null: no Run remains, as by `abandon`, unless one was promised. When it
   * rejects, nothing has changed.
   */
  finish(claim: RunClaim, end: RunEnd | null): MaybePromise<FinishAnswer>;

  /** Gives back what `admit` took. Idempotent; does nothing after `finish`. */
  abandon(claim: RunClaim): MaybePromise<void>;

  /** What has the key; null: nothing. */
  look(account: string, key: string): MaybePromise<KeyHolder | null>;

  /** Changes nothing. */
  usage(account: string, period: BillingPeriod): MaybePromise<AccountUsage>;
}
