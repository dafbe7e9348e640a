// Checks 9 to 12 of create_run, made by the admission store in one step, and their input.

import type { DiskFloor } from '../admission/disk-floor.ts';
import type { Lease } from '../admission/lease.ts';
import type { RunMemories, RunMemory } from '../admission/run-memory.ts';
import type { Account, CatalogTemplate, Subscription } from '../catalog/catalog.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal, refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import type { CheckedTemplate } from '../outputs/output-store.ts';
import type { AdmissionAnswer, AdmissionOutcome, AdmissionStore } from '../stores/admission-store.ts';
import type { BillingPeriods } from '../stores/billing-period.ts';
import type { RateLimit } from '../stores/rate-limiter.ts';
import type { Drain } from './drain.ts';

// Input of create_run after the checks of the route, and the refusal for a reused key.

/** The parts of the node that decide whether it admits a request. */
export interface AdmissionParts {
  /** Unique for each node and each start of it. */
  readonly name: string;
  readonly admissions: AdmissionStore;
  readonly periods: BillingPeriods;
  readonly memories: RunMemories;
  readonly disk: DiskFloor;
  readonly drain: Drain;
  /** Whether the memory held by finished Runs of the account leaves capacity for another Run. */
  readonly mayKeepRun: (account: string) => boolean;
}

export interface CreateRunRequest {
  readonly exchange: Exchange;
  readonly account: Account;
  readonly subscription: Subscription;
  readonly template: CatalogTemplate<CheckedTemplate>;
  /** Rate limit of create_run, against which the request does not count yet; null = unlimited. */
  readonly rateLimit: RateLimit | null;
  /** The Idempotency-Key; null if the request has no key. */
  readonly key: string | null;
  /** Boundary of the multipart form. */
  readonly boundary: string;
}

export function keyReused(): ReturnType<typeof refusal> {
  return refusal('IDEMPOTENCY_KEY_REUSED', 'The Idempotency-Key was used for a different request.');
}

// Checks 9 to 12 of create_run, made by the admission store in one step: key, quota, slot, and capacity of this node.
// Memory is reserved before this step, so that the request to the store can say whether this node has capacity.

/** Result of checking disk and memory of this node for one request: the reserved memory, or the refusal. */
export type Capacity =
  | { readonly memory: RunMemory; readonly refusal: null }
  | { readonly memory: null; readonly refusal: Refusal };

/** Check 12. The lease releases the reserved memory. */
export function reserveCapacity(node: AdmissionParts, request: CreateRunRequest, lease: Lease): MaybePromise<Capacity> {
  if (node.drain.draining) return noCapacity('The service is about to stop. Try again shortly.');
  if (!node.mayKeepRun(request.account.id)) {
    return noCapacity(
      'The finished Runs of the account use all of its memory. Try again when some of them have expired.',
    );
  }
  return andThen(node.disk.space(), ({ error, aboveFloor }): Capacity => {
    if (error !== null) return noCapacity('The service cannot store files. Try again shortly.');
    if (!aboveFloor) return noCapacity('The service is short of disk space. Try again shortly.');
    const memory = node.memories.admit(request.account.id, request.template.checked.reservationBytes);
    if (memory === null) return noCapacity('The service is at its memory budget. Try again shortly.');
    lease.hold(() => memory.release());
    return { memory, refusal: null };
  });
}

function noCapacity(message: string): Capacity {
  return { memory: null, refusal: busy(message) };
}

/** @param isCounted whether the request already counts towards the rate limit */
export function requestAdmission(
  node: AdmissionParts,
  { account, subscription, template, key, rateLimit }: CreateRunRequest,
  runId: string,
  hasCapacity: boolean,
  isCounted: boolean,
): MaybePromise<AdmissionAnswer> {
  const { admissions, periods } = node;
  const { plan } = subscription;
  return admissions.admit({
    runId,
    node: node.name,
    account: account.id,
    rate: isCounted ? null : rateLimit,
    key: key === null ? null : { text: key, templateId: template.id },
    period: periods.of(subscription, admissions.now()),
    quotaMax: plan.runsPerPeriod,
    slotsMax: plan.runsInFlightMax,
    hasCapacity,
  });
}

/**
 * Returns the refusal for a request that was not admitted.
 * @param capacityRefusal the refusal if this node lacks capacity
 */
export function refusalOf(
  node: AdmissionParts,
  request: CreateRunRequest,
  outcome: Extract<AdmissionOutcome, { kind: 'other_template' | 'quota' | 'slots' | 'no_capacity' }>,
  capacityRefusal: Refusal | null,
): Refusal {
  if (outcome.kind === 'other_template') return keyReused();
  if (outcome.kind === 'quota') return quotaRefusal(node, request, outcome.used);
  if (outcome.kind === 'no_capacity')
    return capacityRefusal ?? busy('The service has too little free memory. Try again shortly.');
  const { plan } = request.subscription;
  const message = `The account has ${plan.runsInFlightMax} Runs in flight, as many as its plan allows.`;
  return refusal('CONCURRENCY_LIMIT_REACHED', message);
}

export function quotaRefusal(
  { admissions, periods }: AdmissionParts,
  { subscription }: CreateRunRequest,
  used: number,
): Refusal {
  const limit = subscription.plan.runsPerPeriod ?? used;
  const resetsAt = new Date(periods.of(subscription, admissions.now()).endsAt).toISOString();
  const message = `The account has used its ${limit} Runs of this billing period.`;
  return { code: 'EXPORT_LIMIT_REACHED', message, quota: { used, limit, resets_at: resetsAt } };
}
