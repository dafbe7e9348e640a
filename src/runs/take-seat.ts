// A repeat that came while the first request with its key was still uploading: it is received and kept, waits for the
// first one's Run, and takes the first one's place when that ends without a Run.
// States: those of its Seat (uploading, running, finished, yours), beside those of its own upload.
import { Lease } from '../admission/lease.ts';
import { busy } from '../http/refusal.ts';
import { after, type Soon } from '../soon.ts';
import { Admission } from './admit.ts';
import { answerRepeat, answerRunning } from './answer-run.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import type { Ownership, Seat } from './idempotency.ts';
import { answerUploadEnd, makeRun, storedUpload } from './make-run.ts';
import type { NodeState } from './node-state.ts';
import type { Upload, UploadEnd } from './upload.ts';

export async function takeSeat(node: NodeState, request: CreateRunRequest, seat: Seat): Promise<void> {
  const lease = new Lease();
  let ownership: Ownership | null = null;
  try {
    const admission = new Admission(node, request, lease);
    const refused = await admission.takeMemory();
    if (refused !== null) {
      seat.leave();
      request.exchange.refuse(refused);
      return;
    }
    const upload = storedUpload(node, request, lease);
    upload.begin();
    ownership = await waitInSeat(node, request, seat, upload);
    if (ownership === null) return;
    const claimRefused = await admission.takeQuotaAndSlot();
    if (claimRefused === null) {
      await makeRun(node, request, { admission, ownership, lease, upload });
      return;
    }
    admission.giveBack(true);
    ownership.abandon();
    request.exchange.refuse(claimRefused);
  } finally {
    // Neither does anything where it has been done.
    ownership?.abandon();
    await lease.release();
  }
}

/** Resolves with the key when it is this request's now; null when the request has been answered or is gone. */
async function waitInSeat(
  node: NodeState,
  request: CreateRunRequest,
  seat: Seat,
  upload: Upload,
): Promise<Ownership | null> {
  const { exchange } = request;
  let end: UploadEnd | null = null;
  let drained = false;
  let handedOver = false;
  let wake = (): void => {};
  let timer: NodeJS.Timeout | undefined;
  const awake = (): void => wake();
  void upload.finished.then((how) => {
    end = how;
    seat.complete = how.kind === 'whole';
    timer = setTimeout(awake, Math.max(0, upload.endedAt + node.waitMilliseconds - Date.now()));
    wake();
  });
  seat.onChanged = awake;
  exchange.onGone(awake);
  const forget = node.drain.onDeadline(() => {
    drained = true;
    wake();
  });
  try {
    for (;;) {
      // A Run that runs is interrupted by the same deadline: its repeats are told so.
      if (drained && end !== null && seat.state.phase !== 'running' && seat.state.phase !== 'finished') {
        exchange.refuse(busy('The service is about to stop.'));
        return null;
      }
      if (seat.state.phase === 'yours') {
        handedOver = true;
        return seat.state.ownership;
      }
      if (exchange.gone) return null;
      const asked = end !== null && answer(node, request, seat, end, upload.endedAt);
      // Waits only for an answer: a change while it waited for a "not yet" would wake nobody.
      if (asked instanceof Promise ? await asked : asked) return null;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    clearTimeout(timer);
    forget();
    if (!handedOver) seat.leave();
  }
}

/** Answers if there is an answer by now. */
function answer(
  node: NodeState,
  request: CreateRunRequest,
  seat: Seat,
  end: UploadEnd,
  endedAt: number,
): Soon<boolean> {
  const { exchange } = request;
  const { state } = seat;
  if (end.kind !== 'whole') {
    answerUploadEnd(request, end);
    return true;
  }
  const late = Date.now() >= endedAt + node.waitMilliseconds;
  if (state.phase === 'running' || state.phase === 'finished') {
    // As long as the first may still end without a Run, this one may still take its place.
    const open = state.phase === 'running' && !state.live.promised && !late;
    if (state.fingerprint !== end.fingerprint && open) return false;
    if (state.fingerprint !== end.fingerprint) exchange.refuse(keyReused());
    else if (state.phase === 'finished') return after(answerRepeat(node.runs, request, state.runId), () => true);
    else if (late && state.live.promise()) answerRunning(exchange, state.live.run, true);
    else return false;
    return true;
  }
  if (late) exchange.refuse(busy('The first request with this Idempotency-Key is still uploading.'));
  return late;
}
