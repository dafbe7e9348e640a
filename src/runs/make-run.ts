// Makes a Run of an admitted request: receives the upload with the engine at its heels, starts the Run,
// answers, and stays with it until it is over.
import type { Lease } from '../admission/lease.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal, refusal } from '../http/refusal.ts';
import { Upload, type UploadEnd } from '../uploads/upload.ts';
import type { Admission } from './admission.ts';
import { quotaRefusal } from './admit.ts';
import { answerWhenOver, promiseRun } from './answer-run.ts';
import { conductRun } from './conduct.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import { EngineRun } from './engine-run.ts';
import { LiveRun } from './live-run.ts';
import type { NodeState } from './node-state.ts';
import { newRun, type RunRecord } from './run.ts';

export interface RunClaims {
  readonly admission: Admission;
  readonly lease: Lease;
  /** An upload that has begun (a repeat that took over), else null. */
  readonly upload: Upload | null;
}

type Whole = Extract<UploadEnd, { kind: 'whole' }>;

/** Begins an upload that is kept for the engine; its file goes with the lease. */
export function storedUpload(node: NodeState, request: CreateRunRequest, lease: Lease): Upload {
  const upload = newUpload(node, request, node.paths.spoolFor(node.pool.nextTask()));
  lease.hold(() => upload.spool?.discard());
  return upload;
}

/** Begins an upload; without a path its file is only hashed and counted. The caller calls `begin`. */
export function newUpload(node: NodeState, request: CreateRunRequest, spoolPath: string | null): Upload {
  const { exchange, boundary, subscription, template, key } = request;
  const { uploadBytesMax, rowsMax } = subscription.plan;
  const upload = new Upload(exchange.body!, {
    boundary,
    fileBytesMax: uploadBytesMax,
    rowsMax,
    spoolPath,
    idleFiles: node.idleFiles,
    blocks: node.blocks,
    fingerprintOf: key === null ? null : template.id,
    onDiskFault: (fault) => node.onFault(fault, exchange.requestId),
  });
  exchange.onGone(() => upload.gone());
  upload.onOver = node.drain.onDeadline(() => upload.refuse(busy('The service is about to stop.')));
  return upload;
}

/** Answers a request whose upload did not become whole. */
export function answerUploadEnd({ exchange }: CreateRunRequest, end: Exclude<UploadEnd, { kind: 'whole' }>): void {
  if (end.kind === 'gone') return;
  if (end.cut === null) exchange.refuse(end.refusal);
  else exchange.refuseCut(end.refusal, end.cut);
}

/** The caller abandons the admission where it has not been given its Run. */
export async function makeRun(node: NodeState, request: CreateRunRequest, claims: RunClaims): Promise<void> {
  const { admission, lease } = claims;
  const upload = claims.upload ?? storedUpload(node, request, lease);
  const frame = node.frames.of(request.account, request.subscription, request.template);
  const engine = new EngineRun(node, upload, frame, admission.memory, request.exchange.requestId);
  // Before the spool goes, and before the memory is free, the engine has let go of both.
  lease.hold(() => engine.closed());
  if (claims.upload === null) upload.begin();
  const end = await upload.finished;
  // By the store's clock: when its body ended.
  const createdAt = Math.round(node.desk.now() - (performance.now() - upload.endedAfter));
  const run = newRun(admission.runId, request.account.id, request.template.id, createdAt);
  let refused: Refusal | null;
  try {
    const asked = end.kind === 'whole' ? refusalOf(node, request, admission, run, end) : null;
    refused = asked instanceof Promise ? await asked : asked;
  } catch (fault) {
    // It waits for the end of the upload, and the lease for it.
    engine.cancel();
    throw fault;
  }
  if (end.kind === 'whole' && refused === null) {
    await startRun(node, request, admission, run, upload, engine, end);
    return;
  }
  engine.cancel();
  if (upload.spool?.inMemory === true) admission.memory.giveBack();
  // Whoever is refused may come back at once.
  const left = admission.abandon();
  if (left instanceof Promise) await left;
  if (end.kind !== 'whole') answerUploadEnd(request, end);
  else if (refused !== null) request.exchange.refuse(refused);
}

/** What is found once the body is whole, before the engine is asked. */
function refusalOf(
  node: NodeState,
  request: CreateRunRequest,
  admission: Admission,
  run: RunRecord,
  { fingerprint, parameters: { problem } }: Whole,
): MaybePromise<Refusal | null> {
  const { former, overQuota } = admission.admitted;
  if (former !== null && former !== fingerprint) return keyReused();
  const unsound = problem === null ? null : refusal('INVALID_PARSE_PARAMS', problem);
  if (overQuota === null) return unsound;
  // Only the desk knows whether this very request was charged before.
  return andThen(admission.begin(run, fingerprint), (begun) => {
    return begun === 'over_quota' ? quotaRefusal(node, request, overQuota.used) : unsound;
  });
}

function startRun(
  node: NodeState,
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
  // With a key its client will ask again; without one nobody ever learns the id.
  if (key !== null) exchange.onGone(() => promiseRun(node, live, requestId));
  const onDeserted = (listener: () => void): void => {
    if (key === null) exchange.onGone(listener);
  };
  answerWhenOver(node, exchange, live, upload.endedAfter + node.waitMilliseconds, false, () => {});
  return conductRun(node, {
    live,
    bodyEndedAfter: upload.endedAfter,
    engine,
    admission,
    fingerprint,
    fileBytes: upload.sizeBytes,
    requestId,
    outputName: (ending) => node.outputNames.of(template, run.id, ending),
    onDeserted,
  });
}
