// How a waiting POST is answered: the finished Run, the error that left none, or 202 when the wait is over.
import type { Exchange } from '../http/exchange.ts';
import { busy } from '../http/refusal.ts';
import type { HeaderPair } from '../http/request-head.ts';
import { SharedStoreUnavailableError } from '../stores/store-unavailable.ts';
import type { CreateRunRequest } from './create-run-request.ts';
import type { LiveRun, RunOver } from './live-run.ts';
import type { NodeState } from './node-state.ts';
import { type RunRecord, runJson, runPath } from './run.ts';

/** A Run is asked for again after 1 s at first, then one second later for each of these, up to RETRY_SECONDS_MAX. */
const RETRY_STEP_MILLISECONDS = 30_000;
const RETRY_SECONDS_MAX = 10;

/** How often a Run of another node is read, in milliseconds: at first, and at last. */
const READ_MILLISECONDS_MIN = 25;
const READ_MILLISECONDS_MAX = 500;

/** For so long the reason is waited for why no Run remains. */
const REFUSAL_MILLISECONDS_MAX = 1_000;

/** Of a reading that belongs to a request whose rate was counted. */
const COUNTED = { operation: 'create_run', limit: null } as const;

/** Nothing may be promised that others cannot be told of, and the client must not wait for ever. */
const UNRECORDED: RunOver = {
  kind: 'void',
  refusal: busy('The Run cannot be recorded now. Send the request again.'),
};

const REPLAYED: HeaderPair = ['Idempotent-Replayed', 'true'];

/** Retry-After for a running Run: a clock that jumps moves it between these two. */
export function retryAfter({ desk }: NodeState, run: RunRecord): HeaderPair {
  const seconds = Math.floor((desk.now() - run.createdAt) / RETRY_STEP_MILLISECONDS);
  return ['Retry-After', String(Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)))];
}

/** 201 with a Run of this request's own, 200 with a replayed one. */
export function answerFinished(exchange: Exchange, run: RunRecord, replayed: boolean): void {
  exchange.runId = run.id;
  const location: HeaderPair = ['Location', runPath(run.id)];
  exchange.json(replayed ? 200 : 201, runJson(run), replayed ? [location, REPLAYED] : [location]);
}

/**
 * 200 with the Run of a request that this one repeats, which is over; of another node's, once it is, or 202 at `deadline`
 * (performance.now) or that of the drain.
 */
export async function answerRepeat(
  node: NodeState,
  { exchange, account }: CreateRunRequest,
  runId: string,
  deadline: number,
): Promise<void> {
  let isDrained = false;
  let wake = (): void => {};
  const forget = node.drain.onDeadline(() => {
    isDrained = true;
    wake();
  });
  try {
    for (let pause = READ_MILLISECONDS_MIN; !exchange.gone; pause = Math.min(2 * pause, READ_MILLISECONDS_MAX)) {
      const { run } = await node.runs.read(account.id, runId, COUNTED);
      if (run === null) {
        exchange.refuse(busy('The Run expired while its repeat was arriving. Send the request again.'));
        return;
      }
      if (run.status !== 'running') return answerFinished(exchange, run, true);
      const left = isDrained ? 0 : deadline - performance.now();
      // A Run that cannot be promised any more has just gone: the next reading says so.
      if (left <= 0 && (await node.desk.promise(account.id, runId))) return answerRunning(node, exchange, run, true);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, Math.max(0, Math.min(pause, left)));
      });
    }
  } finally {
    forget();
  }
}

export function answerRunning(node: NodeState, exchange: Exchange, run: RunRecord, replayed: boolean): void {
  exchange.runId = run.id;
  const headers: HeaderPair[] = [['Location', runPath(run.id)], retryAfter(node, run)];
  exchange.json(202, runJson(run), replayed ? [...headers, REPLAYED] : headers);
}

/** Answers when the Run is over, at `deadline` (performance.now) at the latest; then calls `answered`. */
export function answerWhenOver(
  node: NodeState,
  exchange: Exchange,
  live: LiveRun,
  deadline: number,
  replayed: boolean,
  answered: () => void,
): void {
  let given = false;
  const answer = (over: RunOver | null): void => {
    if (given) return;
    given = true;
    try {
      if (over === null) answerRunning(node, exchange, live.run, replayed);
      else if (over.kind === 'finished') answerFinished(exchange, over.run, replayed);
      else exchange.refuse(over.refusal);
    } catch (fault) {
      exchange.fault(fault);
    }
    answered();
  };
  const late = (): void => {
    const then = (promised: boolean): void => {
      if (promised) answer(null);
      // It has been decided that no Run remains: the refusal is on its way, but where the store stalls.
      else timer = setTimeout(() => answer(UNRECORDED), REFUSAL_MILLISECONDS_MAX);
    };
    promiseRun(node, live, exchange.requestId, then, () => answer(UNRECORDED));
  };
  let timer = setTimeout(late, Math.max(0, deadline - performance.now()));
  live.onOver((over) => {
    clearTimeout(timer);
    answer(over);
  });
}

/**
 * Promises the Run. Where the store fails nothing was promised: whoever waits is answered when the Run is over, or, where
 * the store is one that nodes share, as `unavailable` says.
 */
export function promiseRun(
  node: NodeState,
  live: LiveRun,
  requestId: string,
  then: (promised: boolean) => void = () => {},
  unavailable: () => void = () => {},
): void {
  const asked = live.promise();
  if (!(asked instanceof Promise)) then(asked);
  else {
    asked.then(then, (fault) => {
      node.onFault(fault, requestId);
      if (fault instanceof SharedStoreUnavailableError) unavailable();
    });
  }
}
