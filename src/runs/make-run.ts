// Makes the Run of an admitted request: receives the upload while the engine already reads it, starts the Run,
// answers, and supervises the Run until it is over.
import type { Lease } from '../admission/lease.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal, refusal } from '../http/error-codes.ts';
import { Upload, type UploadEnd } from '../uploads/upload.ts';
import { type CreateRunRequest, keyReused, quotaRefusal } from './admit.ts';
import { answerWhenOver, promiseRun } from './answer-run.ts';
import { EngineRun } from './engine-run.ts';
import type { Admission } from './key-claims.ts';
import type { NodeState } from './node-state.ts';
import { LiveRun, newRun, type RunRecord } from './run.ts';
import { superviseRun } from './supervise-run.ts';

export interface RunClaims {
  readonly admission: Admission;
  readonly lease: Lease;
  /** The upload of a repeat that took over and has already begun receiving; else null. */
  readonly upload: Upload | null;
}

type Whole = Extract<UploadEnd, { kind: 'whole' }>;

/** Begins an upload that is stored for the engine. The lease removes its file. */
export function storedUpload(node: NodeState, request: CreateRunRequest, lease: Lease): Upload {
  const upload = newUpload(node, request, node.paths.spoolFor(node.pool.nextTask()));
  lease.hold(() => upload.spool?.discard());
  return upload;
}

/** Creates an upload; without a path, the file is only hashed and counted. The caller calls `begin`. */
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
  exchange.onDisconnect(() => upload.disconnected());
  upload.onOver = node.drain.onDeadline(() => upload.refuse(busy('The service is about to stop.')));
  return upload;
}

/** Responds to a request whose upload was not completed. */
export function answerUploadEnd({ exchange }: CreateRunRequest, end: Exclude<UploadEnd, { kind: 'whole' }>): void {
  if (end.kind === 'disconnected') return;
  if (end.cut === null) exchange.refuse(end.refusal);
  else exchange.refuseCut(end.refusal, end.cut);
}

/** The caller abandons the admission if it did not get its Run. */
export async function makeRun(node: NodeState, request: CreateRunRequest, claims: RunClaims): Promise<void> {
  const { admission, lease } = claims;
  const upload = claims.upload ?? storedUpload(node, request, lease);
  const frame = node.frames.of(request.account, request.subscription, request.template);
  const engine = new EngineRun(node, upload, frame, admission.memory, request.exchange.requestId);
  // The engine must have released both before the lease removes the spool file and releases the memory.
  lease.hold(() => engine.closed());
  if (claims.upload === null) upload.begin();
  const end = await upload.finished;
  // Time of the end of the body, by the clock of the store.
  const createdAt = Math.round(node.admissions.now() - (performance.now() - upload.endedAfter));
  const run = newRun(admission.runId, request.account.id, request.template.id, createdAt);
  let refused: Refusal | null;
  try {
    const asked = end.kind === 'whole' ? refusalOf(node, request, admission, run, end) : null;
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
  if (upload.spool?.inMemory === true) admission.memory.release();
  // Release before the refusal is sent: a refused client may return immediately.
  const left = admission.abandon();
  if (left instanceof Promise) await left;
  if (end.kind !== 'whole') answerUploadEnd(request, end);
  else if (refused !== null) request.exchange.refuse(refused);
}

/** Refusals that only the complete body shows. They are checked before the engine continues. */
function refusalOf(
  node: NodeState,
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
