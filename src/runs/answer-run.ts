// Responses to a waiting POST: the finished Run, the error if no Run remains, or 202 when the wait is over.

import { busy } from '../http/error-codes.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HeaderPair } from '../http/request-head.ts';
import type { AdmissionStore } from '../stores/admission-store.ts';
import { type RunStore, SharedStoreUnavailableError } from '../stores/stores.ts';
import type { CreateRunRequest } from './admit.ts';
import type { Drain } from './drain.ts';
import { type LiveRun, type RunOver, type RunRecord, runJson, runPath } from './run.ts';

/** The parts of the node that a response to a waiting request needs. */
export interface AnswerParts {
  readonly admissions: AdmissionStore;
  readonly runs: RunStore;
  readonly drain: Drain;
  readonly onFault: (fault: unknown, requestId: string) => void;
}

/** Retry-After starts at 1 s and grows by 1 s for each such step of the Run's age, up to RETRY_SECONDS_MAX. */
const RETRY_STEP_MILLISECONDS = 30_000;
const RETRY_SECONDS_MAX = 10;

/** First and longest interval between two reads of a Run of another node, in milliseconds. */
const READ_MILLISECONDS_MIN = 25;
const READ_MILLISECONDS_MAX = 500;

/** Maximum wait for the refusal of a Run that does not remain, in milliseconds. */
const REFUSAL_MILLISECONDS_MAX = 1_000;

/** Rate argument of reads for a request that already counts towards its rate limit. */
const COUNTED = { operation: 'create_run', limit: null } as const;

/**
 * Response if the Run could not be recorded: its id must not be promised while others cannot see the Run, and the
 * client must not wait forever.
 */
const UNRECORDED: RunOver = {
  kind: 'void',
  refusal: busy('The Run cannot be recorded now. Send the request again.'),
};

const REPLAYED: HeaderPair = ['Idempotent-Replayed', 'true'];

/** Retry-After for a running Run. Clamped to 1 to RETRY_SECONDS_MAX seconds, also when the clock jumps. */
export function retryAfter({ admissions }: Pick<AnswerParts, 'admissions'>, run: RunRecord): HeaderPair {
  const seconds = Math.floor((admissions.now() - run.createdAt) / RETRY_STEP_MILLISECONDS);
  return ['Retry-After', String(Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)))];
}

/** Responds with 201 for the request's own Run, or 200 for a replayed Run. */
export function answerFinished(exchange: Exchange, run: RunRecord, replayed: boolean): void {
  exchange.runId = run.id;
  const location: HeaderPair = ['Location', runPath(run.id)];
  exchange.json(replayed ? 200 : 201, runJson(run), replayed ? [location, REPLAYED] : [location]);
}

/**
 * Responds to a repeat with the Run of the original request: 200 once the Run is over, or 202 at `deadline`
 * (performance.now) or at the drain deadline, whichever is first. The Run may belong to another node.
 */
export async function answerRepeat(
  node: AnswerParts,
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
    for (
      let pause = READ_MILLISECONDS_MIN;
      !exchange.isDisconnected;
      pause = Math.min(2 * pause, READ_MILLISECONDS_MAX)
    ) {
      const { run } = await node.runs.read(account.id, runId, COUNTED);
      if (run === null) {
        exchange.refuse(busy('The Run expired while its repeat was arriving. Send the request again.'));
        return;
      }
      if (run.status !== 'running') return answerFinished(exchange, run, true);
      const left = isDrained ? 0 : deadline - performance.now();
      // A Run that cannot be promised any more has just been removed; the next read reports this.
      if (left <= 0 && (await node.admissions.promise(account.id, runId)))
        return answerRunning(node, exchange, run, true);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, Math.max(0, Math.min(pause, left)));
      });
    }
  } finally {
    forget();
  }
}

export function answerRunning(
  node: Pick<AnswerParts, 'admissions'>,
  exchange: Exchange,
  run: RunRecord,
  replayed: boolean,
): void {
  exchange.runId = run.id;
  const headers: HeaderPair[] = [['Location', runPath(run.id)], retryAfter(node, run)];
  exchange.json(202, runJson(run), replayed ? [...headers, REPLAYED] : headers);
}

/** Responds when the Run is over, or at `deadline` (performance.now), whichever is first. Then calls `answered`. */
export function answerWhenOver(
  node: AnswerParts,
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
      // No Run remains, and the refusal follows, unless the store hangs.
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
 * Promises the Run. If the store fails, nothing was promised: the waiting client gets its response when the Run is
 * over. If the failed store is shared between nodes, `unavailable` is called.
 */
export function promiseRun(
  node: AnswerParts,
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
