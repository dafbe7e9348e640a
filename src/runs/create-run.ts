// create_run after the checks of the route. The response of the admission store decides whether the request makes a Run,
// waits for another request with the same key, or replays a Run.

import { passesRate } from '../admission/authenticate.ts';
import { Lease } from '../admission/lease.ts';
import type { RunMemory } from '../admission/run-memory.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal, refusal } from '../http/error-codes.ts';
import type { OutputNames } from '../outputs/output-store.ts';
import type { AdmissionAnswer, AdmissionOutcome, Admitted, KeyHolder } from '../stores/admission-store.ts';
import { StoreUnavailableError } from '../stores/stores.ts';
import type { IdleFiles } from '../uploads/idle-files.ts';
import type { WriteBlocks } from '../uploads/spooled-file.ts';
import { Upload, type UploadEnd } from '../uploads/upload.ts';
import type { ActiveRuns } from './active-runs.ts';
import {
  type AdmissionParts,
  type Capacity,
  type CreateRunRequest,
  keyReused,
  quotaRefusal,
  refusalOf,
  requestAdmission,
  reserveCapacity,
} from './admit.ts';
import { type AnswerParts, answerRepeat, answerRunning, answerWhenOver, promiseRun } from './answer-run.ts';
import { type EngineParts, EngineRun, type TaskFrames } from './engine-run.ts';
import { Admission, type KeyClaim, type KeyClaims, type Promoted, Waiter } from './key-claims.ts';
import { LiveRun, newRun, type RunIds, type RunRecord } from './run.ts';
import { type SupervisionParts, superviseRun } from './supervise-run.ts';

/** The parts of the node that create_run needs, including those of its steps. */
export interface CreateRunParts extends AdmissionParts, AnswerParts, EngineParts, SupervisionParts {
  readonly activeRuns: ActiveRuns;
  readonly keyClaims: KeyClaims;
  readonly ids: RunIds;
  readonly frames: TaskFrames;
  readonly outputNames: OutputNames;
  readonly idleFiles: IdleFiles;
  readonly blocks: WriteBlocks;
  readonly paths: EngineParts['paths'] & { readonly spoolFor: (upload: number) => string };
  readonly waitMilliseconds: number;
}

/** Resolves when the request is answered and its Run, if it made one, is over. */
export async function createRun(node: CreateRunParts, request: CreateRunRequest): Promise<void> {
  const leave = node.drain.enter();
  const lease = new Lease();
  const keyClaim = request.key === null ? null : node.keyClaims.open();
  try {
    const reserving = reserveCapacity(node, request, lease);
    const asking = ask(node, request, keyClaim?.runId ?? node.ids.next(), reserving);
    const { rate, outcome } = asking instanceof Promise ? await asking : asking;
    if (passesRate(request.exchange, 'create_run', request.rateLimit, rate)) {
      if (outcome.kind === 'admitted') {
        const { memory } = reserving instanceof Promise ? await reserving : reserving;
        if (memory === null) throw new Error('the admission store admitted a request without capacity');
        await makeRun(node, request, { admitted: outcome, keyClaim, memory, lease, upload: null });
      } else if (outcome.kind === 'held') await repeat(node, request, outcome.holder, { capacity: reserving, lease });
      else await refuse(node, request, outcome, { capacity: reserving, lease });
    }
    // Requests that need no reservation have already been answered.
    if (reserving instanceof Promise) await reserving;
  } catch (fault) {
    if (!(fault instanceof StoreUnavailableError)) throw fault;
    node.onFault(fault, request.exchange.requestId);
    request.exchange.refuse(busy('The service cannot record Runs now. Try again shortly.'));
  } finally {
    // Does nothing if the key has its Run.
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
 * Asks the admission store, which needs to know whether this node has capacity. A request with a key is sent before
 * the disk check is complete: a repeat needs no capacity and does not wait for the disk.
 */
function ask(
  node: CreateRunParts,
  request: CreateRunRequest,
  runId: string,
  reserving: MaybePromise<Capacity>,
): MaybePromise<AdmissionAnswer> {
  const admitWith = ({ refusal }: Capacity, isCounted: boolean): MaybePromise<AdmissionAnswer> =>
    requestAdmission(node, request, runId, refusal === null, isCounted);
  if (request.key === null || !(reserving instanceof Promise)) {
    return andThen(reserving, (capacity) => admitWith(capacity, false));
  }
  // The promise is awaited later in any case; this handler only prevents an unhandled rejection until then.
  reserving.catch(() => {});
  return andThen(requestAdmission(node, request, runId, false, false), (early) => {
    if (early.outcome.kind !== 'no_capacity') return early;
    return andThen(reserving, (capacity) =>
      andThen(admitWith(capacity, true), ({ outcome }) => ({ rate: early.rate, outcome })),
    );
  });
}

/** What a request holds on this node before the admission store responds. */
interface Held {
  /** A promise while the disk check is pending. */
  readonly capacity: MaybePromise<Capacity>;
  readonly lease: Lease;
}

async function refuse(
  node: CreateRunParts,
  request: CreateRunRequest,
  outcome: Exclude<AdmissionOutcome, { kind: 'admitted' | 'held' }>,
  { capacity, lease }: Held,
): Promise<void> {
  if (outcome.kind === 'limited') throw new Error('the admission store limited a request that its rate allowed');
  const capacityRefusal = outcome.kind === 'no_capacity' ? (await capacity).refusal : null;
  await lease.release();
  request.exchange.refuse(refusalOf(node, request, outcome, capacityRefusal));
}

/**
 * The key belongs to an upload or a Run. While a Run of this node is not visible to others, the admission store knows
 * only its upload.
 */
async function repeat(
  node: CreateRunParts,
  request: CreateRunRequest,
  holder: KeyHolder,
  { capacity, lease }: Held,
): Promise<void> {
  const claim = node.keyClaims.find(holder.runId);
  const run = claim === null || claim.state.phase === 'uploading' ? holder : claim.state;
  if (run.phase === 'uploading') return joinWaiters(node, request, { holder, capacity: await capacity, lease });
  // A replay reserves no memory.
  await lease.release();
  await replayRun(node, request, { ...run, live: 'live' in run ? run.live : null });
}

// Makes the Run of an admitted request: receives the upload while the engine already reads it, starts the Run,
// answers, and supervises the Run until it is over.

interface RunClaims {
  readonly admitted: Admitted;
  /** null without an Idempotency-Key. */
  readonly keyClaim: KeyClaim | null;
  readonly memory: RunMemory;
  readonly lease: Lease;
  /** The upload of a repeat that took over and has already begun receiving; else null. */
  readonly upload: Upload | null;
}

type Whole = Extract<UploadEnd, { kind: 'whole' }>;

/** Begins an upload that is stored for the engine. The lease removes its file. */
function storedUpload(node: CreateRunParts, request: CreateRunRequest, lease: Lease): Upload {
  const upload = newUpload(node, request, node.paths.spoolFor(node.pool.nextTask()));
  lease.hold(() => upload.spool?.discard());
  return upload;
}

/** Creates an upload; without a path, the file is only hashed and counted. The caller calls `begin`. */
function newUpload(node: CreateRunParts, request: CreateRunRequest, spoolPath: string | null): Upload {
  const { exchange, boundary, subscription, template, key } = request;
  const { uploadBytesMax, rowsMax } = subscription.plan;
  const upload = new Upload(exchange.body!, {
    boundary,
    fileBytesMax: uploadBytesMax,
    rowsMax,
    expectedBytes: Number(exchange.header('content-length') ?? 0),
    spoolPath,
    idleFiles: node.idleFiles,
    blocks: node.blocks,
    fingerprintOf: key === null ? null : template.id,
    onDiskFault: (fault) => node.onFault(fault, exchange.requestId),
  });
  exchange.onDisconnect(() => upload.disconnected());
  upload.onOver = node.drain.onDeadline(() => upload.refuse(busy('The service is about to stop.')));
  return upload;
}

/** Responds to a request whose upload was not completed. */
function answerUploadEnd({ exchange }: CreateRunRequest, end: Exclude<UploadEnd, { kind: 'whole' }>): void {
  if (end.kind === 'disconnected') return;
  if (end.cut === null) exchange.refuse(end.refusal);
  else exchange.refuseCut(end.refusal, end.cut);
}

/** Abandons the admission if it does not get its Run. The caller releases the lease. */
async function makeRun(node: CreateRunParts, request: CreateRunRequest, claims: RunClaims): Promise<void> {
  const { account, subscription, template, exchange } = request;
  const { keyClaim, memory, lease } = claims;
  const admission = new Admission(node.admissions, claims.admitted, keyClaim, memory);
  try {
    const upload = claims.upload ?? storedUpload(node, request, lease);
    const frame = node.frames.of(account, subscription, template);
    const engine = new EngineRun(node, upload, frame, memory, exchange.requestId);
    // The engine must have released both before the lease removes the spool file and releases the memory.
    lease.hold(() => engine.closed());
    node.activeRuns.add({ account, template, upload, engine }, lease);
    if (claims.upload === null) upload.begin();
    const end = await upload.finished;
    // Time of the end of the body, by the clock of the store.
    const createdAt = Math.round(node.admissions.now() - (performance.now() - upload.endedAfter));
    const run = newRun(admission.runId, account.id, template.id, createdAt);
    let refused: Refusal | null;
    try {
      const asked = end.kind === 'whole' ? bodyRefusal(node, request, admission, run, end) : null;
      refused = asked instanceof Promise ? await asked : asked;
    } catch (fault) {
      // The engine waits for the end of the upload, and the lease waits for the engine.
      engine.cancel();
      throw fault;
    }
    if (end.kind === 'whole' && refused === null) {
      await startRun(node, request, admission, run, upload, engine, end);
      return;
    }
    engine.cancel();
    if (upload.spool?.inMemory === true) memory.release();
    // Release before the refusal is sent: a refused client may return immediately.
    const left = admission.abandon();
    if (left instanceof Promise) await left;
    if (end.kind !== 'whole') answerUploadEnd(request, end);
    else if (refused !== null) exchange.refuse(refused);
  } finally {
    const left = admission.abandon();
    if (left instanceof Promise) await left;
  }
}

/** Refusals that only the complete body shows. They are checked before the engine continues. */
function bodyRefusal(
  node: CreateRunParts,
  request: CreateRunRequest,
  admission: Admission,
  run: RunRecord,
  { fingerprint, parameters: { problem } }: Whole,
): MaybePromise<Refusal | null> {
  const { former, overQuota } = admission.admitted;
  if (former !== null && former !== fingerprint) return keyReused();
  const parametersRefusal = problem === null ? null : refusal('INVALID_PARSE_PARAMS', problem);
  if (overQuota === null) return parametersRefusal;
  // Only the admission store knows whether this request was already charged.
  return andThen(admission.begin(run, fingerprint), (begun) => {
    return begun === 'over_quota' ? quotaRefusal(node, request, overQuota.used) : parametersRefusal;
  });
}

function startRun(
  node: CreateRunParts,
  request: CreateRunRequest,
  admission: Admission,
  run: RunRecord,
  upload: Upload,
  engine: EngineRun,
  { fingerprint, parameters }: Whole,
): Promise<void> {
  const { exchange, template, key } = request;
  const { requestId } = exchange;
  const live = new LiveRun(run, () => admission.promise(run, fingerprint));
  exchange.runId = run.id;
  admission.start(live, fingerprint);
  engine.complete(parameters);
  // A client with an idempotency key will repeat the request. Without a key, no client ever learns the id.
  if (key !== null) exchange.onDisconnect(() => promiseRun(node, live, requestId));
  const onClientLeft = (listener: () => void): void => {
    if (key === null) exchange.onDisconnect(listener);
  };
  answerWhenOver(node, exchange, live, upload.endedAfter + node.waitMilliseconds, false, () => {});
  return superviseRun(node, {
    live,
    bodyEndedAfter: upload.endedAfter,
    engine,
    admission,
    fingerprint,
    fileBytes: upload.sizeBytes,
    exchange,
    outputName: (ending) => node.outputNames.of(template, run.id, ending),
    onClientLeft,
  });
}

// A repeat whose key already has a Run. Its body is hashed but never stored, and it needs no quota, slot or memory.

interface RepeatedRun {
  readonly runId: string;
  readonly fingerprint: string;
  /** null if the Run is over or belongs to another node. */
  readonly live: LiveRun | null;
}

async function replayRun(
  node: CreateRunParts,
  request: CreateRunRequest,
  { fingerprint, runId, live }: RepeatedRun,
): Promise<void> {
  const { exchange } = request;
  const upload = newUpload(node, request, null);
  upload.begin();
  const end = await upload.finished;
  const deadline = upload.endedAfter + node.waitMilliseconds;
  if (end.kind !== 'whole') answerUploadEnd(request, end);
  else if (end.fingerprint !== fingerprint) exchange.refuse(keyReused());
  else if (live === null) await answerRepeat(node, request, runId, deadline);
  else await new Promise<void>((resolve) => answerWhenOver(node, exchange, live, deadline, true, resolve));
}

// A repeat that arrives while the original request with its key is still uploading. The repeat is received and
// stored, waits for the original Run, and takes over if the original ends without a Run. States: those of its Waiter
// (uploading, running, finished, promoted), combined with those of its own upload.

interface Joining {
  /** Holder of the key when the admission store was asked. */
  readonly holder: KeyHolder;
  readonly capacity: Capacity;
  readonly lease: Lease;
}

/** The caller releases the lease. */
async function joinWaiters(node: CreateRunParts, request: CreateRunRequest, joining: Joining): Promise<void> {
  const { holder, capacity, lease } = joining;
  const waiter = new Waiter((runId) => requestAdmission(node, request, runId, true, true));
  const joined = follow(node, request, waiter, holder);
  if (!joined || capacity.memory === null) {
    waiter.leave();
    await lease.release();
    request.exchange.refuse(capacity.refusal ?? busy('Too many requests wait for this Idempotency-Key.'));
    return;
  }
  // The repeat is only received and stored, unless it takes over. Its memory is reserved again then.
  capacity.memory.suspend();
  const upload = storedUpload(node, request, lease);
  upload.begin();
  for (;;) {
    const promoted = await awaitPromotion(node, request, waiter, upload);
    if (promoted === null) return;
    const outcome = await outcomeOf(promoted);
    if (outcome.kind === 'admitted') {
      const { memory } = capacity;
      await makeRun(node, request, { admitted: outcome, keyClaim: promoted.claim, memory, lease, upload });
      return;
    }
    if (outcome.kind === 'held') {
      // Another request took the key first. A request that was already waiting stays, even above the limit.
      follow(node, request, waiter, outcome.holder, true);
    } else {
      capacity.memory.release();
      const refused = refusalOf(node, request, outcome, null);
      request.exchange.refuse(refused);
      // Drop the rest of the body; the upload does not need to react to the drain.
      upload.refuse(refused);
    }
    // The other waiting requests now ask for the key themselves.
    promoted.claim.abandon();
    if (outcome.kind !== 'held') return;
  }
}

/**
 * Lets a waiter wait for the holder of the key. Returns false if the limit of waiting requests is reached.
 * @param isLetIn the request already waited elsewhere
 */
function follow(
  { keyClaims, admissions, name, onFault }: CreateRunParts,
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
      // A claim of this node ended while the response was on the way.
      isOwn: holder.node === name,
      holderOf: (of, text) => admissions.holderOf(of, text),
      onFault: (fault) => onFault(fault, exchange.requestId),
    });
  return claim.join(waiter, isLetIn);
}

type PromotedOutcome = Exclude<AdmissionOutcome, { kind: 'limited' }>;

/** If the admission store fails, the remaining waiters ask in turn. */
async function outcomeOf({ claim, answer }: Promoted): Promise<PromotedOutcome> {
  try {
    const { outcome } = await answer;
    if (outcome.kind === 'limited')
      throw new Error('the admission store limited a request whose rate had been counted');
    return outcome;
  } catch (fault) {
    claim.abandon();
    throw fault;
  }
}

/** Releases what a waiter was promoted to after the waiter has left. */
async function giveUp(node: CreateRunParts, promoted: Promoted): Promise<void> {
  try {
    const { outcome } = await promoted.answer;
    if (outcome.kind === 'admitted') await node.admissions.abandon(outcome.claim);
  } finally {
    promoted.claim.abandon();
  }
}

/**
 * Resolves with the promotion when this request is next to ask for the key; with null when the request has been
 * answered or its client is gone.
 */
async function awaitPromotion(
  node: CreateRunParts,
  request: CreateRunRequest,
  waiter: Waiter,
  upload: Upload,
): Promise<Promoted | null> {
  const { exchange } = request;
  let end: UploadEnd | null = null;
  let drained = false;
  let isTransferred = false;
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
  exchange.onDisconnect(awake);
  const forget = node.drain.onDeadline(() => {
    drained = true;
    wake();
  });
  try {
    for (;;) {
      // Create this promise before reading the state: a change during an await then starts the next turn of the loop.
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // The same deadline interrupts a running Run, whose end also answers its repeats.
      if (drained && end !== null && waiter.state.phase !== 'running' && waiter.state.phase !== 'finished') {
        exchange.refuse(busy('The service is about to stop.'));
        return null;
      }
      if (waiter.state.phase === 'promoted') {
        isTransferred = true;
        return waiter.state;
      }
      if (exchange.isDisconnected) return null;
      const deadline = upload.endedAfter + node.waitMilliseconds;
      const asked = end !== null && answer(node, request, waiter, { end, isLate, isDrained: drained, deadline });
      if (asked instanceof Promise ? await asked : asked) return null;
      await changed;
    }
  } finally {
    clearTimeout(timer);
    forget();
    waiter.onChanged = () => {};
    if (!isTransferred) {
      waiter.leave();
      if (waiter.state.phase === 'promoted') await giveUp(node, waiter.state);
    }
  }
}

/** Arrival state of the repeat's own upload. */
interface Arrived {
  readonly end: UploadEnd;
  /** The maximum wait has passed. */
  readonly isLate: boolean;
  /** The node is about to stop. A Run of this node ends before that. */
  readonly isDrained: boolean;
  /** End of the maximum wait (performance.now). */
  readonly deadline: number;
}

/** Answers the request if a response is available now. Resolves to true if it did. */
function answer(
  node: CreateRunParts,
  request: CreateRunRequest,
  waiter: Waiter,
  arrived: Arrived,
): MaybePromise<boolean> {
  const { exchange } = request;
  const { state } = waiter;
  const { end, isLate, isDrained, deadline } = arrived;
  if (end.kind !== 'whole') {
    answerUploadEnd(request, end);
    return true;
  }
  if (state.phase === 'running' || state.phase === 'finished') {
    const live = state.phase === 'running' ? state.live : null;
    // While the original may still end without a Run, this repeat may still take over.
    const open = live !== null && !live.promised && !isLate;
    if (state.fingerprint !== end.fingerprint) {
      if (open) return false;
      exchange.refuse(keyReused());
      return true;
    }
    // Keep following (key-claims.ts): the Run of the other node may also end without a record.
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
