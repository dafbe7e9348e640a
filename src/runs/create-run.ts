// create_run once its upload is next: the desk's answer decides whether it makes a Run, waits for another request's, or
// repeats one. The checks before are the route's.
import { Lease } from '../admission/lease.ts';
import { passesRate } from '../admission/request-rate.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy } from '../http/refusal.ts';
import type { AdmissionAnswer, AdmissionOutcome, Admitted, KeyHolder } from '../stores/admission-desk.ts';
import { StoreUnavailableError } from '../stores/store-unavailable.ts';
import { Admission } from './admission.ts';
import { askDesk, type Room, refusalOf, reserveRoom } from './admit.ts';
import type { CreateRunRequest } from './create-run-request.ts';
import { joinWaiters } from './join-waiters.ts';
import type { KeyClaim } from './key-claims.ts';
import { makeRun } from './make-run.ts';
import type { NodeState } from './node-state.ts';
import { replayRun } from './replay-run.ts';

/** Resolves when the request is answered and its Run, if it made one, is over. */
export async function createRun(node: NodeState, request: CreateRunRequest): Promise<void> {
  const leave = node.drain.enter();
  const lease = new Lease();
  const keyClaim = request.key === null ? null : node.keyClaims.open();
  try {
    const reserving = reserveRoom(node, request, lease);
    const asking = ask(node, request, keyClaim?.runId ?? node.ids.next(), reserving);
    const { rate, outcome } = asking instanceof Promise ? await asking : asking;
    if (passesRate(request.exchange, 'create_run', request.rateLimit, rate)) {
      await goOn(node, request, outcome, { room: reserving, keyClaim, lease });
    }
    // Who had no need of it has been answered.
    if (reserving instanceof Promise) await reserving;
  } catch (fault) {
    if (!(fault instanceof StoreUnavailableError)) throw fault;
    node.onFault(fault, request.exchange.requestId);
    request.exchange.refuse(busy('The service cannot record Runs now. Try again shortly.'));
  } finally {
    // Does nothing where the key has been given its Run.
    keyClaim?.abandon();
    try {
      const underWay = lease.release();
      if (underWay !== undefined) await underWay;
    } finally {
      leave();
    }
  }
}

/**
 * The desk is told whether there is room. Of a key it is asked before the disk has said so: a repeat needs none, and does
 * not wait for it.
 */
function ask(
  node: NodeState,
  request: CreateRunRequest,
  runId: string,
  reserving: MaybePromise<Room>,
): MaybePromise<AdmissionAnswer> {
  const askWith = ({ refusal }: Room, isCounted: boolean): MaybePromise<AdmissionAnswer> =>
    askDesk(node, request, runId, refusal === null, isCounted);
  if (request.key === null || !(reserving instanceof Promise)) {
    return andThen(reserving, (room) => askWith(room, false));
  }
  // It is awaited further on in any case; until then nobody has to hear that it failed.
  reserving.catch(() => {});
  return andThen(askDesk(node, request, runId, false, false), (early) => {
    if (early.outcome.kind !== 'no_room') return early;
    return andThen(reserving, (room) => andThen(askWith(room, true), ({ outcome }) => ({ rate: early.rate, outcome })));
  });
}

type NotAdmitted = Parameters<typeof refusalOf>[2];

/** What a request has here before the desk answers. */
interface Held {
  /** A promise while the disk is asked. */
  readonly room: MaybePromise<Room>;
  readonly keyClaim: KeyClaim | null;
  readonly lease: Lease;
}

function goOn(node: NodeState, request: CreateRunRequest, outcome: AdmissionOutcome, held: Held): Promise<void> {
  if (outcome.kind === 'admitted') return ownRun(node, request, outcome, held);
  if (outcome.kind === 'held') return repeat(node, request, outcome.holder, held);
  if (outcome.kind === 'limited') throw new Error('the desk limited a request that its rate allowed');
  return refuse(node, request, outcome, held);
}

async function refuse(node: NodeState, request: CreateRunRequest, outcome: NotAdmitted, held: Held): Promise<void> {
  const noRoom = outcome.kind === 'no_room' ? (await held.room).refusal : null;
  await held.lease.release();
  request.exchange.refuse(refusalOf(node, request, outcome, noRoom));
}

async function ownRun(node: NodeState, request: CreateRunRequest, admitted: Admitted, held: Held): Promise<void> {
  const { keyClaim, lease } = held;
  const room = held.room instanceof Promise ? await held.room : held.room;
  if (room.memory === null) throw new Error('the desk admitted a request without room');
  const admission = new Admission(node.desk, admitted, keyClaim, room.memory);
  try {
    await makeRun(node, request, { admission, lease, upload: null });
  } finally {
    const left = admission.abandon();
    if (left instanceof Promise) await left;
  }
}

/** The key has an upload or a Run. Of a Run of this node that others do not see yet, the desk knows only the upload. */
async function repeat(
  node: NodeState,
  request: CreateRunRequest,
  holder: KeyHolder,
  { room, lease }: Held,
): Promise<void> {
  const claim = node.keyClaims.find(holder.runId);
  const run = claim === null || claim.state.phase === 'uploading' ? holder : claim.state;
  if (run.phase === 'uploading') return joinWaiters(node, request, { holder, room: await room, lease });
  // It needs no room.
  await lease.release();
  await replayRun(node, request, { ...run, live: 'live' in run ? run.live : null });
}
