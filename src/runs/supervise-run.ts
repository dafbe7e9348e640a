// Supervises one Run from start to end: time limit, drain, a client that disconnects, and the result of the engine.

import { Failed, type Failure } from '../../workers/protocol/failure.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput, type TaskOutcome } from '../../workers/protocol/messages.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, isHttpError, type Refusal } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';

import { type OutputStore, REJECTS_MIME_TYPE, rejectsName, type StoredOutput } from '../outputs/output-store.ts';
import type { AdmissionStore, BeginAnswer } from '../stores/admission-store.ts';
import { SharedStoreUnavailableError, StoreUnavailableError } from '../stores/stores.ts';
import type { Drain } from './drain.ts';
import type { EngineEnd, EngineRun } from './engine-run.ts';
import type { Admission } from './key-claims.ts';
import {
  endedRun,
  type LiveRun,
  type RunEnded,
  type RunOver,
  type RunRecord,
  type RunResult,
  type RunTexts,
} from './run.ts';

// Ends Runs that the service could not complete.

const INTERRUPTED: Failure = {
  code: 'RUN_INTERRUPTED',
  message: 'The service was interrupted before the Run completed. Send the request again with the same key.',
};

/** Returns the record of a Run whose node is gone. */
export function interruptedRun(
  running: RunRecord,
  completedAt: number,
  retentionMilliseconds: number,
  texts: RunTexts,
): RunRecord {
  const { code, message } = INTERRUPTED;
  const expiresAt = completedAt + retentionMilliseconds;
  const nothing = { rowsWritten: null, truncated: false, output: null, reportText: null, rejects: null };
  return endedRun(running, { ...nothing, completedAt, expiresAt, error: { code, message } }, texts);
}

// The supervision sends no responses: waiting requests listen to the LiveRun.

/** The parts of the node that the supervision of a Run needs. */
export interface SupervisionParts extends RunTexts {
  readonly admissions: AdmissionStore;
  readonly outputs: OutputStore;
  readonly drain: Drain;
  readonly runMilliseconds: number;
  readonly retentionMilliseconds: number;
  /** Reports each ended Run to the log and the metrics. `exchange` is the request that started the Run. */
  readonly onRunEnded: (run: RunRecord, details: RunEnded, exchange: Exchange) => void;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

export interface SupervisedRun {
  readonly live: LiveRun;
  /** Time at which the last byte of the request body arrived (performance.now). */
  readonly bodyEndedAfter: number;
  readonly engine: EngineRun;
  readonly admission: Admission;
  readonly fingerprint: string;
  readonly fileBytes: number;
  /** The request that started the Run. */
  readonly exchange: Exchange;
  /** Returns the output's name for a file extension. */
  readonly outputName: (ending: string) => string;
  /** Calls back when no client can learn the Run's id any more; immediately if that is already so. */
  readonly onClientLeft: (listener: () => void) => void;
}

const FAULT: Failure = {
  code: 'INTERNAL_ERROR',
  message: 'Internal error of the service. Its log contains the request id.',
};

/** The disk did not accept the charge of the Run. A later request may succeed. */
const UNCHARGED: Failure = {
  code: 'RUN_INTERRUPTED',
  message: 'The Run could not be recorded. Send the request again with the same key.',
};

/** A Run that takes longer becomes visible to others. Most Runs are over earlier. */
const SHOWN_AFTER_MILLISECONDS = 200;

/**
 * A Run that no thread has begun within this time is interrupted. Runs that occupy the threads reach their own time
 * limit earlier.
 */
const WAIT_MILLISECONDS_MAX = 600_000;

/** The Run's claim was taken away, or the Run could not be recorded. */
const UNRECORDED = { kind: 'void', refusal: busy('The Run could not be recorded. Send the request again.') } as const;

type Ending =
  | { readonly kind: 'engine'; readonly end: EngineEnd }
  | { readonly kind: 'timeout' }
  /** No thread began the Run in time. */
  | { readonly kind: 'waited' }
  | { readonly kind: 'drained' }
  /** The Run's claim was taken away. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'client_left' };

/** Resolves when the Run is over and all waiting requests are notified. Never rejects. */
export async function superviseRun(node: SupervisionParts, run: SupervisedRun): Promise<void> {
  const { live, engine, admission } = run;
  let over: RunOver;
  let engineIsDone = false;
  try {
    const ending = await nextEnding(node, run);
    engineIsDone = ending.kind === 'engine';
    if (!engineIsDone) engine.cancel();
    const recorded = recordEnd(node, run, ending);
    over = recorded instanceof Promise ? await recorded : recorded;
  } catch (fault) {
    const failure = failureOf(fault);
    if (!(fault instanceof Failed)) node.onFault(fault, run.exchange.requestId);
    engine.cancel();
    over = await failedAtLast(node, run, failure);
  }
  // Release the memory before notifying: a notified client may send its next request immediately.
  if (engineIsDone) admission.memory.release();
  admission.settle(over.kind === 'finished' ? run.fingerprint : null);
  live.end(over);
}

/**
 * Resolves with the first event that ends the Run. The time limit starts when a thread begins the Run, not while the
 * Run is queued.
 */
function nextEnding(node: SupervisionParts, run: SupervisedRun): Promise<Ending> {
  const { engine, onClientLeft } = run;
  return new Promise((resolve) => {
    // Most Runs end before this first timer fires, and then need no other timer.
    const showing = setTimeout(() => {
      show(node, run, () => end({ kind: 'lost' }));
      const left = WAIT_MILLISECONDS_MAX - SHOWN_AFTER_MILLISECONDS;
      timer ??= setTimeout(() => end({ kind: 'waited' }), left);
    }, SHOWN_AFTER_MILLISECONDS);
    let timer: NodeJS.Timeout | null = null;
    let forget: (() => void) | null = null;
    let isOver = false;
    const end = (ending: Ending): void => {
      isOver = true;
      if (timer !== null) clearTimeout(timer);
      clearTimeout(showing);
      forget?.();
      resolve(ending);
    };
    forget = node.drain.onDeadline(() => end({ kind: 'drained' }));
    engine.onBegun(() => {
      if (isOver) return;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => end({ kind: 'timeout' }), node.runMilliseconds);
    });
    engine.onEnd((ended) => end({ kind: 'engine', end: ended }));
    onClientLeft(() => end({ kind: 'client_left' }));
  });
}

/**
 * Makes the Run visible to others. If the store fails, the call is repeated at the end of the Run.
 * @param onLost called when the claim does not belong to this Run any more
 */
function show(
  node: SupervisionParts,
  { admission, live, fingerprint, exchange }: SupervisedRun,
  onLost: () => void,
): void {
  const then = (answer: BeginAnswer): void => {
    if (answer === 'lost') onLost();
  };
  try {
    const begun = admission.begin(live.run, fingerprint);
    if (begun instanceof Promise) begun.then(then, (fault) => node.onFault(fault, exchange.requestId));
    else then(begun);
  } catch (fault) {
    node.onFault(fault, exchange.requestId);
  }
}

function recordEnd(node: SupervisionParts, run: SupervisedRun, ending: Ending): MaybePromise<RunOver> {
  if (ending.kind === 'client_left')
    return dropped(node, run, busy('The client of this Run has left.'), INTERRUPTED, null);
  if (ending.kind === 'lost') return dropped(node, run, UNRECORDED.refusal, INTERRUPTED, null);
  if (ending.kind === 'drained' || ending.kind === 'waited') return failed(node, run, INTERRUPTED, null);
  if (ending.kind === 'timeout') {
    const message = `The Run was stopped after ${node.runMilliseconds / 1000} s, the longest time that a Run may take.`;
    return failed(node, run, { code: 'RUN_TIMEOUT', message }, null);
  }
  const { end, outputPath } = ending.end;
  if (end.kind === 'done') {
    if (end.outcome.failure !== null) return failed(node, run, end.outcome.failure, end.outcome);
    return succeeded(node, run, end.outcome, outputPath);
  }
  if (end.kind === 'interrupted') return failed(node, run, INTERRUPTED, null);
  const text = end.kind === 'fault' ? end.message : 'a Run ended as cancelled without a request to cancel it';
  const fault = new Error(text);
  if (end.kind === 'fault') fault.stack = end.stack;
  node.onFault(fault, run.exchange.requestId);
  return failed(node, run, FAULT, null);
}

function succeeded(
  node: SupervisionParts,
  run: SupervisedRun,
  outcome: TaskOutcome,
  outputPath: string,
): MaybePromise<RunOver> {
  if (outcome.output === null) throw new Error('the engine reported success without an output');
  const { id: runId } = run.live.run;
  const keepMilliseconds = node.retentionMilliseconds;
  const keeping = node.outputs.keep(outcome.output, outputPath, { runId, keepMilliseconds, file: 'output' });
  return andThen(keeping, (stored) => record(node, run, outcome, outcome.output!, stored, outputPath));
}

/** Records a Run whose output is stored. If that fails, or if no Run remains, removes the output. */
async function record(
  node: SupervisionParts,
  run: SupervisedRun,
  outcome: TaskOutcome,
  { mimeType, ending }: RunOutcomeOutput,
  stored: StoredOutput,
  outputPath: string,
): Promise<RunOver> {
  let storedRejects: StoredOutput | null = null;
  try {
    if (outcome.rejects !== null) storedRejects = await keepRejects(node, run, outcome.rejects, outputPath);
    const completedAt = node.admissions.now();
    const { rowsWritten, truncated, reportText } = outcome;
    const output = { stored, name: run.outputName(ending), mimeType };
    const expiresAt = completedAt + node.retentionMilliseconds;
    const rejects = storedRejects && {
      stored: storedRejects,
      name: rejectsName(output.name),
      mimeType: REJECTS_MIME_TYPE,
    };
    const result = { completedAt, expiresAt, rowsWritten, truncated, output, rejects, error: null, reportText };
    const finishing = finish(node, run, result, outcome);
    const over = finishing instanceof Promise ? await finishing : finishing;
    if (over.kind === 'void') await removeAll(node, stored, storedRejects);
    return over;
  } catch (fault) {
    // A shared store that does not respond may have recorded the Run: keep the output until it expires.
    if (!(fault instanceof SharedStoreUnavailableError)) await removeAll(node, stored, storedRejects);
    throw fault;
  }
}

function keepRejects(
  node: SupervisionParts,
  { live }: SupervisedRun,
  rejects: RunOutcomeOutput,
  outputPath: string,
): MaybePromise<StoredOutput> {
  const keepMilliseconds = node.retentionMilliseconds;
  const path = outputPath + REJECTS_SUFFIX;
  return node.outputs.keep(rejects, path, { runId: live.run.id, keepMilliseconds, file: 'rejects' });
}

async function removeAll(node: SupervisionParts, output: StoredOutput, rejects: StoredOutput | null): Promise<void> {
  await node.outputs.remove(output);
  if (rejects !== null) await node.outputs.remove(rejects);
}

/** Ends with a failed Run, or with an HTTP error and no Run while an HTTP error can still be sent. */
function failed(
  node: SupervisionParts,
  run: SupervisedRun,
  failure: Failure,
  outcome: TaskOutcome | null,
): MaybePromise<RunOver> {
  const { code } = failure;
  if (isHttpError(code)) return dropped(node, run, { ...failure, code }, failure, outcome);
  return finish(node, run, failedResult(node, failure, outcome), outcome);
}

/** Ends without a Run. If the Run was promised, ends with a failed Run instead. */
function dropped(
  node: SupervisionParts,
  run: SupervisedRun,
  refusal: Refusal,
  failure: Failure,
  outcome: TaskOutcome | null,
): MaybePromise<RunOver> {
  return andThen(run.admission.finish(null), (answer): MaybePromise<RunOver> => {
    if (answer === 'promised') return finish(node, run, failedResult(node, failure, outcome), outcome);
    return { kind: 'void', refusal };
  });
}

function failureOf(fault: unknown): Failure {
  if (fault instanceof Failed) return fault.failure;
  return fault instanceof StoreUnavailableError ? UNCHARGED : FAULT;
}

/** Last attempt to record a failure after a fault. If this fails too, the waiting requests are still answered. */
async function failedAtLast(node: SupervisionParts, run: SupervisedRun, failure: Failure): Promise<RunOver> {
  try {
    if (failure === UNCHARGED) return await dropped(node, run, UNRECORDED.refusal, failure, null);
    return await failed(node, run, failure, null);
  } catch (fault) {
    node.onFault(fault, run.exchange.requestId);
    return UNRECORDED;
  }
}

function failedResult(node: SupervisionParts, { code, message }: Failure, outcome: TaskOutcome | null): RunResult {
  const completedAt = node.admissions.now();
  return {
    completedAt,
    expiresAt: completedAt + node.retentionMilliseconds,
    rowsWritten: null,
    truncated: false,
    output: null,
    rejects: null,
    error: { code, message },
    reportText: outcome?.reportText ?? null,
  };
}

/** Records the end. A rejection means that nothing was recorded, and that the Run may end in another way. */
function finish(
  node: SupervisionParts,
  run: SupervisedRun,
  result: RunResult,
  outcome: TaskOutcome | null,
): MaybePromise<RunOver> {
  const { live, bodyEndedAfter, fileBytes, exchange, fingerprint, admission } = run;
  const ended = endedRun(live.run, result, node);
  const keepMilliseconds = node.retentionMilliseconds;
  const { expiresAt, output } = result;
  const end = { record: ended, fingerprint, keepMilliseconds, expiresAt, isCharged: output !== null };
  return andThen(admission.finish(end), (answer): RunOver => {
    if (answer !== 'done' && answer !== 'charged') return UNRECORDED;
    const details: RunEnded = {
      milliseconds: Math.round(performance.now() - bodyEndedAfter),
      busyMilliseconds: outcome?.busyMilliseconds ?? null,
      threads: outcome === null ? null : (outcome.threads ?? 1),
      fileBytes,
      rowsRead: outcome?.rowsRead ?? null,
      rowsWritten: result.rowsWritten,
      charged: answer === 'charged',
    };
    node.onRunEnded(ended, details, exchange);
    return { kind: 'finished', run: ended };
  });
}
