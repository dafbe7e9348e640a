// Leads one Run from the start of its work to its end: the time limit, the drain, a client that nobody will answer, and
// what the engine's end means. It does not talk to clients: they wait on the LiveRun.
import { Failed, type Failure, type FailureCode } from '../../workers/failure.ts';
import type { TaskOutcome } from '../../workers/messages.ts';
import { busy, type Refusal } from '../http/refusal.ts';
import type { HttpErrorCode } from '../http/status.ts';
import { after, type Soon } from '../soon.ts';
import type { Admission } from './admit.ts';
import type { EngineEnd, EngineRun } from './engine-run.ts';
import type { Ownership } from './idempotency.ts';
import type { LiveRun, RunOver } from './live-run.ts';
import type { NodeState } from './node-state.ts';
import { finishRun, type RunResult } from './run.ts';

export interface Conducted {
  readonly live: LiveRun;
  readonly engine: EngineRun;
  readonly admission: Admission;
  readonly ownership: Ownership | null;
  readonly fingerprint: string;
  readonly fileBytes: number;
  readonly requestId: string;
  /** Name of the output for its Run and ending. */
  readonly outputName: (ending: string) => string;
  /** Calls back when nobody can ever learn the Run's id; at once when that is so now. */
  readonly onDeserted: (listener: () => void) => void;
}

/** Failures with which a Run ends as a failed Run even while its POST waits; everything else is an HTTP error then. */
const FAILED_RUN_CODES: ReadonlySet<FailureCode> = new Set([
  'RUN_INTERRUPTED',
  'RUN_TIMEOUT',
  'RUN_RESOURCE_LIMIT',
  'TEMPLATE_ROW_ERROR',
  'TEMPLATE_TOO_MANY_ERRORS',
  'TEMPLATE_CHECK_FAILED',
]);

const FAULT: Failure = {
  code: 'INTERNAL_ERROR',
  message: 'The service has made a mistake. Its log has the request id.',
};

const INTERRUPTED: Failure = {
  code: 'RUN_INTERRUPTED',
  message: 'The service was interrupted before the Run completed. Send the request again with the same key.',
};

type Ending =
  | { readonly kind: 'engine'; readonly end: EngineEnd }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'drained' }
  | { readonly kind: 'deserted' };

/** Resolves when the Run is over and everybody who waits has been told. Never rejects. */
export async function conductRun(node: NodeState, run: Conducted): Promise<void> {
  const { live, engine, admission, ownership } = run;
  let over: RunOver;
  let engineIsDone = false;
  try {
    const ending = await nextEnding(node, run);
    engineIsDone = ending.kind === 'engine';
    if (!engineIsDone) engine.cancel();
    const judged = judge(node, run, ending);
    over = judged instanceof Promise ? await judged : judged;
  } catch (fault) {
    const failure = fault instanceof Failed ? fault.failure : FAULT;
    if (failure === FAULT) node.onFault(fault, run.requestId);
    engine.cancel();
    over = await failed(node, run, failure, null);
  }
  const removed = over.kind === 'void' ? node.runs.remove(live.run.id) : undefined;
  if (removed instanceof Promise) await removed;
  // Whoever is told may come back at once: what the Run held is free by then.
  admission.giveBack(engineIsDone);
  if (over.kind === 'finished') ownership?.finish(over.run);
  else ownership?.abandon();
  live.end(over);
}

/** The first of what can end a Run. */
function nextEnding(node: NodeState, { live, engine, onDeserted }: Conducted): Promise<Ending> {
  return new Promise((resolve) => {
    const left = live.run.createdAt + node.runMilliseconds - Date.now();
    const timer = setTimeout(() => end({ kind: 'timeout' }), Math.max(0, left));
    let forget = (): void => {};
    const end = (ending: Ending): void => {
      clearTimeout(timer);
      forget();
      resolve(ending);
    };
    forget = node.drain.onDeadline(() => end({ kind: 'drained' }));
    engine.onEnd((ended) => end({ kind: 'engine', end: ended }));
    onDeserted(() => end({ kind: 'deserted' }));
  });
}

function judge(node: NodeState, run: Conducted, ending: Ending): Soon<RunOver> {
  if (ending.kind === 'deserted') {
    run.live.drop();
    return { kind: 'void', refusal: busy('The client of this Run has left.') };
  }
  if (ending.kind === 'drained') return failed(node, run, INTERRUPTED, null);
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

async function succeeded(node: NodeState, run: Conducted, outcome: TaskOutcome, outputPath: string): Promise<RunOver> {
  if (outcome.output === null) throw new Error('the engine reported success without an output');
  const keeping = node.outputs.keep(outcome.output, outputPath);
  const stored = keeping instanceof Promise ? await keeping : keeping;
  try {
    const completedAt = Date.now();
    const expiresAt = completedAt + node.retentionMilliseconds;
    const charging = run.admission.charge(run.fingerprint, expiresAt);
    const charged = charging instanceof Promise ? await charging : charging;
    const { rowsWritten, truncated, reportText } = outcome;
    const { mimeType, ending } = outcome.output;
    const output = { stored, name: run.outputName(ending), mimeType };
    const result = { completedAt, expiresAt, rowsWritten, truncated, output, error: null, reportText };
    const over = finish(node, run, result, outcome, charged);
    return over instanceof Promise ? await over : over;
  } catch (fault) {
    await node.outputs.remove(stored);
    throw fault;
  }
}

/** A failed Run, or nothing at all when an HTTP error can still be given. */
function failed(node: NodeState, run: Conducted, failure: Failure, outcome: TaskOutcome | null): Soon<RunOver> {
  const { code, message } = failure;
  if (!FAILED_RUN_CODES.has(code) && run.live.drop()) return { kind: 'void', refusal: refusalOf(failure) };
  const completedAt = Date.now();
  return finish(
    node,
    run,
    {
      completedAt,
      expiresAt: completedAt + node.retentionMilliseconds,
      rowsWritten: null,
      truncated: false,
      output: null,
      error: { code, message },
      reportText: outcome?.reportText ?? null,
    },
    outcome,
    false,
  );
}

function finish(
  node: NodeState,
  { live, fileBytes, requestId }: Conducted,
  result: RunResult,
  outcome: TaskOutcome | null,
  charged: boolean,
): Soon<RunOver> {
  finishRun(live.run, result, node);
  node.onRunEnded(live.run, {
    requestId,
    milliseconds: result.completedAt - live.run.createdAt,
    busyMilliseconds: outcome?.busyMilliseconds ?? null,
    fileBytes,
    rowsRead: outcome?.rowsRead ?? null,
    rowsWritten: result.rowsWritten,
    charged,
  });
  // Last: a fault before leads to a second end, and only one is kept.
  return after(node.runs.finished(live.run), () => ({ kind: 'finished', run: live.run }));
}

function refusalOf(failure: Failure): Refusal {
  // The codes of failed Runs were sorted out before.
  return { ...failure, code: failure.code as HttpErrorCode };
}
