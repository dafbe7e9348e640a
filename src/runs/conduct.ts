// Leads one Run from the start of its work to its end: the time limit, the drain, a client that nobody will answer, and
// what the engine's end means. It does not talk to clients: they wait on the LiveRun.
import { Failed, type Failure } from '../../workers/protocol/failure.ts';
import { REJECTS_SUFFIX, type RunOutcomeOutput, type TaskOutcome } from '../../workers/protocol/messages.ts';
import { andThen, type MaybePromise } from '../collections/maybe-promise.ts';
import { busy, type Refusal } from '../http/refusal.ts';
import { isHttpError } from '../http/status.ts';
import { REJECTS_MIME_TYPE, rejectsName } from '../outputs/output-name.ts';
import type { StoredOutput } from '../outputs/output-store.ts';
import type { BeginAnswer } from '../stores/admission-desk.ts';
import { SharedStoreUnavailableError, StoreUnavailableError } from '../stores/store-unavailable.ts';
import type { Admission } from './admission.ts';
import type { EngineEnd, EngineRun } from './engine-run.ts';
import { INTERRUPTED } from './interrupted-run.ts';
import type { LiveRun, RunOver } from './live-run.ts';
import type { NodeState } from './node-state.ts';
import { endedRun, type RunResult } from './run.ts';

export interface Conducted {
  readonly live: LiveRun;
  /** When the last byte of its body came (performance.now). */
  readonly bodyEndedAfter: number;
  readonly engine: EngineRun;
  readonly admission: Admission;
  readonly fingerprint: string;
  readonly fileBytes: number;
  readonly requestId: string;
  /** Name of the output for its Run and ending. */
  readonly outputName: (ending: string) => string;
  /** Calls back when nobody can ever learn the Run's id; at once when that is so now. */
  readonly onDeserted: (listener: () => void) => void;
}

const FAULT: Failure = {
  code: 'INTERNAL_ERROR',
  message: 'The service has made a mistake. Its log has the request id.',
};

/** The disk did not take its charge: a later request may have better luck. */
const UNCHARGED: Failure = {
  code: 'RUN_INTERRUPTED',
  message: 'The Run could not be recorded. Send the request again with the same key.',
};

/** A Run that takes so long is shown to others: most are over before. */
const SHOWN_AFTER_MILLISECONDS = 200;

/** A Run that no thread has begun for so long will not be begun: those that hold the threads are stopped before. */
const WAIT_MILLISECONDS_MAX = 600_000;

/** Others have given the Run up, or it could not be recorded. */
const UNRECORDED = { kind: 'void', refusal: busy('The Run could not be recorded. Send the request again.') } as const;

type Ending =
  | { readonly kind: 'engine'; readonly end: EngineEnd }
  | { readonly kind: 'timeout' }
  /** No thread has begun it. */
  | { readonly kind: 'waited' }
  | { readonly kind: 'drained' }
  /** Others have given it up. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'deserted' };

/** Resolves when the Run is over and everybody who waits has been informed. Never rejects. */
export async function conductRun(node: NodeState, run: Conducted): Promise<void> {
  const { live, engine, admission } = run;
  let over: RunOver;
  let engineIsDone = false;
  try {
    const ending = await nextEnding(node, run);
    engineIsDone = ending.kind === 'engine';
    if (!engineIsDone) engine.cancel();
    const judged = judge(node, run, ending);
    over = judged instanceof Promise ? await judged : judged;
  } catch (fault) {
    const failure = failureOf(fault);
    if (!(fault instanceof Failed)) node.onFault(fault, run.requestId);
    engine.cancel();
    over = await failedAtLast(node, run, failure);
  }
  // Whoever is informed may come back at once: what the Run held is free by then.
  if (engineIsDone) admission.memory.giveBack();
  admission.settle(over.kind === 'finished' ? run.fingerprint : null);
  live.end(over);
}

/** The first of what can end a Run. Its time begins with the work on it, and not while it waits behind others. */
function nextEnding(node: NodeState, run: Conducted): Promise<Ending> {
  const { engine, onDeserted } = run;
  return new Promise((resolve) => {
    // Most Runs are over before the first, and need no other.
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
    onDeserted(() => end({ kind: 'deserted' }));
  });
}

/** Where the store fails, it is asked again at the end of the Run. @param onLost its claim is nobody's any more */
function show(node: NodeState, { admission, live, fingerprint, requestId }: Conducted, onLost: () => void): void {
  const then = (answer: BeginAnswer): void => {
    if (answer === 'lost') onLost();
  };
  try {
    const begun = admission.begin(live.run, fingerprint);
    if (begun instanceof Promise) begun.then(then, (fault) => node.onFault(fault, requestId));
    else then(begun);
  } catch (fault) {
    node.onFault(fault, requestId);
  }
}

function judge(node: NodeState, run: Conducted, ending: Ending): MaybePromise<RunOver> {
  if (ending.kind === 'deserted')
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
  const text = end.kind === 'fault' ? end.message : 'a Run ended as cancelled that nobody had cancelled';
  const fault = new Error(text);
  if (end.kind === 'fault') fault.stack = end.stack;
  node.onFault(fault, run.requestId);
  return failed(node, run, FAULT, null);
}

function succeeded(node: NodeState, run: Conducted, outcome: TaskOutcome, outputPath: string): MaybePromise<RunOver> {
  if (outcome.output === null) throw new Error('the engine reported success without an output');
  const { id: runId } = run.live.run;
  const keepMilliseconds = node.retentionMilliseconds;
  const keeping = node.outputs.keep(outcome.output, outputPath, { runId, keepMilliseconds, file: 'output' });
  return andThen(keeping, (stored) => record(node, run, outcome, outcome.output!, stored, outputPath));
}

/** Records a Run whose output is kept; where that fails, or no Run remains, the output goes again. */
async function record(
  node: NodeState,
  run: Conducted,
  outcome: TaskOutcome,
  { mimeType, ending }: RunOutcomeOutput,
  stored: StoredOutput,
  outputPath: string,
): Promise<RunOver> {
  let storedRejects: StoredOutput | null = null;
  try {
    if (outcome.rejects !== null) storedRejects = await keepRejects(node, run, outcome.rejects, outputPath);
    const completedAt = node.desk.now();
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
    // A shared store that does not answer may have recorded it: the output goes with its hour.
    if (!(fault instanceof SharedStoreUnavailableError)) await removeAll(node, stored, storedRejects);
    throw fault;
  }
}

function keepRejects(
  node: NodeState,
  { live }: Conducted,
  rejects: RunOutcomeOutput,
  outputPath: string,
): MaybePromise<StoredOutput> {
  const keepMilliseconds = node.retentionMilliseconds;
  const path = outputPath + REJECTS_SUFFIX;
  return node.outputs.keep(rejects, path, { runId: live.run.id, keepMilliseconds, file: 'rejects' });
}

async function removeAll(node: NodeState, output: StoredOutput, rejects: StoredOutput | null): Promise<void> {
  await node.outputs.remove(output);
  if (rejects !== null) await node.outputs.remove(rejects);
}

/** A failed Run, or nothing at all when an HTTP error can still be given. */
function failed(node: NodeState, run: Conducted, failure: Failure, outcome: TaskOutcome | null): MaybePromise<RunOver> {
  const { code } = failure;
  if (isHttpError(code)) return dropped(node, run, { ...failure, code }, failure, outcome);
  return finish(node, run, failedResult(node, failure, outcome), outcome);
}

/** Nothing remains; where the Run was promised, a failed one does. */
function dropped(
  node: NodeState,
  run: Conducted,
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

/** After a fault. Where not even this can be recorded, nobody may wait for ever. */
async function failedAtLast(node: NodeState, run: Conducted, failure: Failure): Promise<RunOver> {
  try {
    if (failure === UNCHARGED) return await dropped(node, run, UNRECORDED.refusal, failure, null);
    return await failed(node, run, failure, null);
  } catch (fault) {
    node.onFault(fault, run.requestId);
    return UNRECORDED;
  }
}

function failedResult(node: NodeState, { code, message }: Failure, outcome: TaskOutcome | null): RunResult {
  const completedAt = node.desk.now();
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

/** Records the end. When it rejects, nothing was recorded, and the Run may end otherwise. */
function finish(
  node: NodeState,
  run: Conducted,
  result: RunResult,
  outcome: TaskOutcome | null,
): MaybePromise<RunOver> {
  const { live, bodyEndedAfter, fileBytes, requestId, fingerprint, admission } = run;
  const ended = endedRun(live.run, result, node);
  const keepMilliseconds = node.retentionMilliseconds;
  const { expiresAt, output } = result;
  const end = { record: ended, fingerprint, keepMilliseconds, expiresAt, isCharged: output !== null };
  return andThen(admission.finish(end), (answer): RunOver => {
    if (answer !== 'done' && answer !== 'charged') return UNRECORDED;
    node.onRunEnded(ended, {
      requestId,
      milliseconds: Math.round(performance.now() - bodyEndedAfter),
      busyMilliseconds: outcome?.busyMilliseconds ?? null,
      fileBytes,
      rowsRead: outcome?.rowsRead ?? null,
      rowsWritten: result.rowsWritten,
      charged: answer === 'charged',
    });
    return { kind: 'finished', run: ended };
  });
}
