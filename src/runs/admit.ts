// Checks 9 to 12 of create_run, asked of the desk in one step: key, quota, slot, and whether this node has room. Memory is
// reserved before, so that the desk can be told.

import type { Lease } from '../admission/lease.ts';
import type { RunMemory } from '../admission/run-memory.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal } from '../http/refusal.ts';
import type { AdmissionAnswer, AdmissionOutcome } from '../stores/admission-desk.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { NodeState } from './node-state.ts';

/** How long a client waits before it asks again for a slot, in seconds: Runs take seconds. */
const SLOT_RETRY_SECONDS = '1';

/** Disk and memory of this node for one request: the memory, or why there is none. */
export type Room =
  | { readonly memory: RunMemory; readonly refusal: null }
  | { readonly memory: null; readonly refusal: Refusal };

/** Check 12. What is reserved hangs on the lease. */
export function reserveRoom(node: NodeState, request: CreateRunRequest, lease: Lease): MaybePromise<Room> {
  if (node.drain.draining) return noRoom('The service is about to stop. Try again shortly.');
  return andThen(node.disk.space(), ({ trouble, aboveFloor }): Room => {
    if (trouble !== null) return noRoom('The service cannot store files. Try again shortly.');
    if (!aboveFloor) return noRoom('The service is short of disk space. Try again shortly.');
    const memory = node.memories.admit(request.account.id, request.template.checked.reservationBytes);
    if (memory === null) return noRoom('The service is at its memory budget. Try again shortly.');
    lease.hold(() => memory.giveBack());
    return { memory, refusal: null };
  });
}

function noRoom(message: string): Room {
  return { memory: null, refusal: busy(message) };
}

/** @param isCounted its rate was counted before */
export function askDesk(
  node: NodeState,
  { account, subscription, template, key, rateLimit }: CreateRunRequest,
  runId: string,
  room: boolean,
  isCounted: boolean,
): MaybePromise<AdmissionAnswer> {
  const { desk, periods } = node;
  const { plan } = subscription;
  return desk.admit({
    runId,
    node: node.name,
    account: account.id,
    rate: isCounted ? null : rateLimit,
    key: key === null ? null : { text: key, templateId: template.id },
    period: periods.of(subscription, desk.now()),
    quotaMax: plan.runsPerPeriod,
    slotsMax: plan.runsInFlightMax,
    room,
  });
}

/** What a request that was not admitted is answered with. @param noRoom why there is none */
export function refusalOf(
  node: NodeState,
  request: CreateRunRequest,
  outcome: Extract<AdmissionOutcome, { kind: 'other_template' | 'quota' | 'slots' | 'no_room' }>,
  noRoom: Refusal | null,
): Refusal {
  if (outcome.kind === 'other_template') return keyReused();
  if (outcome.kind === 'quota') return quotaRefusal(node, request, outcome.used);
  if (outcome.kind === 'no_room') return noRoom ?? busy('The service has no room for it. Try again shortly.');
  const { plan } = request.subscription;
  const message = `The account has ${plan.runsInFlightMax} Runs in flight, as many as its plan allows.`;
  return { code: 'CONCURRENCY_LIMIT_REACHED', message, headers: [['Retry-After', SLOT_RETRY_SECONDS]] };
}

export function quotaRefusal({ desk, periods }: NodeState, { subscription }: CreateRunRequest, used: number): Refusal {
  const limit = subscription.plan.runsPerPeriod ?? used;
  const resetsAt = new Date(periods.of(subscription, desk.now()).endsAt).toISOString();
  const message = `The account has used its ${limit} Runs of this billing period.`;
  return { code: 'EXPORT_LIMIT_REACHED', message, quota: { used, limit, resets_at: resetsAt } };
}
