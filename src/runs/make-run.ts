// Makes a Run of an admitted request: receives the upload (check 13) with the engine at its heels, starts the Run (14),
// answers, and stays with it until it is over.
import type { Lease } from '../admission/lease.ts';
import { busy, type Refusal, refusal } from '../http/refusal.ts';
import { after, type Soon } from '../soon.ts';
import type { Admission } from './admit.ts';
import { answerWhenOver } from './answer-run.ts';
import { conductRun } from './conduct.ts';
import { type CreateRunRequest, keyReused } from './create-run-request.ts';
import { EngineRun } from './engine-run.ts';
import type { Ownership } from './idempotency.ts';
import { LiveRun } from './live-run.ts';
import type { NodeState } from './node-state.ts';
import { newRun } from './run.ts';
import { Upload, type UploadEnd } from './upload.ts';

export interface RunClaims {
  readonly admission: Admission;
  readonly ownership: Ownership | null;
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

export async function makeRun(node: NodeState, request: CreateRunRequest, claims: RunClaims): Promise<void> {
  const { admission, ownership, lease } = claims;
  const upload = claims.upload ?? storedUpload(node, request, lease);
  const frame = node.frames.of(request.account, request.subscription, request.template);
  const engine = new EngineRun(node, upload, frame);
  // Before the spool goes, and before the memory is free, the engine has let go of both.
  lease.hold(() => engine.closed());
  if (claims.upload === null) upload.begin();
  const end = await upload.finished;
  const asked = end.kind === 'whole' ? refusalOf(claims, end) : null;
  const refused = asked instanceof Promise ? await asked : asked;
  if (end.kind !== 'whole' || refused !== null) {
    engine.cancel();
    admission.giveBack(upload.spool?.inMemory === true);
    ownership?.abandon();
    if (end.kind !== 'whole') answerUploadEnd(request, end);
    else if (refused !== null) request.exchange.refuse(refused);
    return;
  }
  await startRun(node, request, claims, upload, engine, end);
}

/** What is found once the body is whole, before the engine is asked. */
function refusalOf({ ownership, admission }: RunClaims, end: Whole): Soon<Refusal | null> {
  if (ownership !== null && !ownership.matches(end.fingerprint)) return keyReused();
  return after(admission.quotaRefusal(end.fingerprint), (overQuota) => {
    const { problem } = end.parameters;
    return overQuota ?? (problem === null ? null : refusal('INVALID_PARSE_PARAMS', problem));
  });
}

function startRun(
  node: NodeState,
  request: CreateRunRequest,
  { admission, ownership }: RunClaims,
  upload: Upload,
  engine: EngineRun,
  end: Whole,
): Soon<void> {
  const { exchange, account, template, key } = request;
  const run = newRun(node.ids.next(), account.id, template.id, upload.endedAt);
  const live = new LiveRun(run);
  exchange.runId = run.id;
  return after(node.runs.add(run), () => {
    ownership?.begin(end.fingerprint, live);
    engine.complete(end.parameters);
    // With a key its client will ask again; without one nobody ever learns the id.
    if (key !== null) exchange.onGone(() => live.promise());
    const onDeserted = (listener: () => void): void => {
      if (key === null) exchange.onGone(listener);
    };
    answerWhenOver(exchange, live, upload.endedAt + node.waitMilliseconds, false, () => {});
    return conductRun(node, {
      live,
      engine,
      admission,
      ownership,
      fingerprint: end.fingerprint,
      fileBytes: upload.sizeBytes,
      requestId: exchange.requestId,
      outputName: (ending) => node.outputNames.of(template, run.id, ending),
      onDeserted,
    });
  });
}
