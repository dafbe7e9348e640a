// A repeat that came while the first request with its key was still uploading: it is received and kept, waits for the
// first one's Run, and takes the first one's place when that ends without a Run.
// States: those of its Waiter (uploading, running, finished, promoted), beside those of its own upload.
import type { Lease } from '../admission/lease.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy } from '../http/refusal.ts';
import type { AdmissionOutcome, KeyHolder } from '../stores/admission-desk.ts';
import type { Upload, UploadEnd } from '../uploads/upload.ts';
import { Admission } from './admission.ts';
import { askDesk, type Room, refusalOf } from './admit.ts';
import { answerRepeat, answerRunning } from './answer-run.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import { type Promoted, Waiter } from './key-claims.ts';
import { answerUploadEnd, makeRun, storedUpload } from './make-run.ts';
import type { NodeState } from './node-state.ts';

export interface Joining {
  /** What had the key when the desk was asked. */
  readonly holder: KeyHolder;
  readonly room: Room;
  readonly lease: Lease;
}

/** The caller releases the lease. */
export async function joinWaiters(node: NodeState, request: CreateRunRequest, joining: Joining): Promise<void> {
  const { holder, room, lease } = joining;
  const waiter = new Waiter((runId) => askDesk(node, request, runId, true, true));
  const joined = follow(node, request, waiter, holder);
  if (!joined || room.memory === null) {
    waiter.leave();
    await lease.release();
    request.exchange.refuse(room.refusal ?? busy('Too many requests wait for this Idempotency-Key.'));
    return;
  }
  // It is received, and nothing more unless it takes the first one's place.
  room.memory.setAside();
  const upload = storedUpload(node, request, lease);
  upload.begin();
  for (;;) {
    const promoted = await awaitPromotion(node, request, waiter, upload);
    if (promoted === null) return;
    const outcome = await outcomeOf(promoted);
    if (outcome.kind === 'admitted') {
      const admission = new Admission(node.desk, outcome, promoted.claim, room.memory);
      try {
        await makeRun(node, request, { admission, lease, upload });
      } finally {
        await admission.abandon();
      }
      return;
    }
    if (outcome.kind === 'held') {
      // Somebody else was faster. One that was let in stays, however many wait there.
      follow(node, request, waiter, outcome.holder, true);
    } else {
      room.memory.giveBack();
      request.exchange.refuse(refusalOf(node, request, outcome, null));
    }
    // The others ask in their turn.
    promoted.claim.abandon();
    if (outcome.kind !== 'held') return;
  }
}

/** Lets a waiter wait for what has the key. False: as many wait as may. @param isLetIn it waited elsewhere before */
function follow(
  { keyClaims, desk, name, onFault }: NodeState,
  { account, key, exchange }: CreateRunRequest,
  waiter: Waiter,
  holder: KeyHolder,
  isLetIn = false,
): boolean {
  if (holder.phase === 'finished') {
    waiter.move(holder, null);
    return true;
  }
  const claim =
    keyClaims.find(holder.runId) ??
    keyClaims.follow(holder.runId, {
      account: account.id,
      key: key ?? '',
      // One of our own has ended while the answer was on the way.
      isOwn: holder.node === name,
      look: (of, text) => desk.look(of, text),
      onFault: (fault) => onFault(fault, exchange.requestId),
    });
  return claim.join(waiter, isLetIn);
}

type PromotedOutcome = Exclude<AdmissionOutcome, { kind: 'limited' }>;

/** Where the desk fails, those who wait ask in their turn. */
async function outcomeOf({ claim, answer }: Promoted): Promise<PromotedOutcome> {
  try {
    const { outcome } = await answer;
    if (outcome.kind === 'limited') throw new Error('the desk limited a request whose rate had been counted');
    return outcome;
  } catch (fault) {
    claim.abandon();
    throw fault;
  }
}

/** Gives up what a waiter was promoted to that has left. */
async function giveUp(node: NodeState, promoted: Promoted): Promise<void> {
  try {
    const { outcome } = await promoted.answer;
    if (outcome.kind === 'admitted') await node.desk.abandon(outcome.claim);
  } finally {
    promoted.claim.abandon();
  }
}

/** Resolves with the key when it is this request's now; null when the request has been answered or is gone. */
async function awaitPromotion(
  node: NodeState,
  request: CreateRunRequest,
  waiter: Waiter,
  upload: Upload,
): Promise<Promoted | null> {
  const { exchange } = request;
  let end: UploadEnd | null = null;
  let drained = false;
  let handedOver = false;
  let isLate = false;
  let wake = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const awake = (): void => wake();
  void upload.finished.then((how) => {
    end = how;
    waiter.complete = how.kind === 'whole';
    const left = upload.endedAfter + node.waitMilliseconds - performance.now();
    timer = setTimeout(() => {
      isLate = true;
      wake();
    }, left);
    wake();
  });
  waiter.onChanged = awake;
  exchange.onGone(awake);
  const forget = node.drain.onDeadline(() => {
    drained = true;
    wake();
  });
  try {
    for (;;) {
      // Before anything is looked at: what changes while an answer is awaited is seen in the next turn.
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // A Run that runs is interrupted by the same deadline: its repeats are answered so.
      if (drained && end !== null && waiter.state.phase !== 'running' && waiter.state.phase !== 'finished') {
        exchange.refuse(busy('The service is about to stop.'));
        return null;
      }
      if (waiter.state.phase === 'promoted') {
        handedOver = true;
        return waiter.state;
      }
      if (exchange.gone) return null;
      const deadline = upload.endedAfter + node.waitMilliseconds;
      const asked = end !== null && answer(node, request, waiter, { end, isLate, isDrained: drained, deadline });
      if (asked instanceof Promise ? await asked : asked) return null;
      await changed;
    }
  } finally {
    clearTimeout(timer);
    forget();
    waiter.onChanged = () => {};
    if (!handedOver) {
      waiter.leave();
      if (waiter.state.phase === 'promoted') await giveUp(node, waiter.state);
    }
  }
}

/** Of the repeat's own upload. */
interface Arrived {
  readonly end: UploadEnd;
  /** It has waited as long as it may. */
  readonly isLate: boolean;
  /** The node is about to end: a Run of its own ends before. */
  readonly isDrained: boolean;
  /** Until when it may wait (performance.now). */
  readonly deadline: number;
}

/** Answers if there is an answer by now. */
function answer(node: NodeState, request: CreateRunRequest, waiter: Waiter, arrived: Arrived): MaybePromise<boolean> {
  const { exchange } = request;
  const { state } = waiter;
  const { end, isLate, isDrained, deadline } = arrived;
  if (end.kind !== 'whole') {
    answerUploadEnd(request, end);
    return true;
  }
  if (state.phase === 'running' || state.phase === 'finished') {
    const live = state.phase === 'running' ? state.live : null;
    // As long as the first may still end without a Run, this one may still take its place.
    const open = live !== null && !live.promised && !isLate;
    if (state.fingerprint !== end.fingerprint) {
      if (open) return false;
      exchange.refuse(keyReused());
      return true;
    }
    // Followed all the time (key-claims.ts): the other node's Run may end without one, too.
    if (live === null && state.phase === 'running' && !isLate && !isDrained) return false;
    if (live === null) return andThen(answerRepeat(node, request, state.runId, deadline), () => true);
    if (!isLate) return false;
    return andThen(live.promise(), (promised) => {
      if (promised) answerRunning(node, exchange, live.run, true);
      return promised;
    });
  }
  if (isLate) exchange.refuse(busy('The first request with this Idempotency-Key is still uploading.'));
  return isLate;
}
