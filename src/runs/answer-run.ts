// How a waiting POST is answered: the finished Run, the error that left none, or 202 when the wait is over.
import type { Exchange, HeaderPair } from '../http/exchange.ts';
import { busy } from '../http/refusal.ts';
import { after, type Soon } from '../soon.ts';
import type { CreateRunRequest } from './create-run-request.ts';
import type { LiveRun, RunOver } from './live-run.ts';
import type { RunStore } from './registry.ts';
import { type RunRecord, runJson, runPath } from './run.ts';

/** A Run is asked for again after 1 s at first, then one second later for each of these, up to RETRY_SECONDS_MAX. */
const RETRY_STEP_MILLISECONDS = 30_000;
const RETRY_SECONDS_MAX = 10;

const REPLAYED: HeaderPair = ['Idempotent-Replayed', 'true'];

/** Retry-After for a running Run. */
export function retryAfter(run: RunRecord): HeaderPair {
  const seconds = Math.floor((Date.now() - run.createdAt) / RETRY_STEP_MILLISECONDS);
  return ['Retry-After', String(Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)))];
}

/** 201 with a Run of this request's own, 200 with a replayed one. */
export function answerFinished(exchange: Exchange, run: RunRecord, replayed: boolean): void {
  exchange.runId = run.id;
  const location: HeaderPair = ['Location', runPath(run.id)];
  exchange.json(replayed ? 200 : 201, runJson(run), replayed ? [location, REPLAYED] : [location]);
}

/** 200 with the finished Run of a request that this one repeats. */
export function answerRepeat(runs: RunStore, { exchange, account }: CreateRunRequest, runId: string): Soon<void> {
  return after(runs.get(account.id, runId, Date.now()), (run) => {
    if (run !== null) answerFinished(exchange, run, true);
    else exchange.refuse(busy('The Run expired while its repeat was arriving. Send the request again.'));
  });
}

export function answerRunning(exchange: Exchange, run: RunRecord, replayed: boolean): void {
  exchange.runId = run.id;
  const headers: HeaderPair[] = [['Location', runPath(run.id)], retryAfter(run)];
  exchange.json(202, runJson(run), replayed ? [...headers, REPLAYED] : headers);
}

/** Answers when the Run is over, at `deadline` (milliseconds since 1970) at the latest; then calls `answered`. */
export function answerWhenOver(
  exchange: Exchange,
  live: LiveRun,
  deadline: number,
  replayed: boolean,
  answered: () => void,
): void {
  let given = false;
  const answer = (over: RunOver | null): void => {
    given = true;
    try {
      if (over === null) answerRunning(exchange, live.run, replayed);
      else if (over.kind === 'finished') answerFinished(exchange, over.run, replayed);
      else exchange.refuse(over.refusal);
    } catch (fault) {
      exchange.fault(fault);
    }
    answered();
  };
  const late = (): void => {
    // Otherwise it has just been decided that no Run remains: the refusal is on its way.
    if (live.promise()) answer(null);
  };
  const timer = setTimeout(late, Math.max(0, deadline - Date.now()));
  live.onOver((over) => {
    clearTimeout(timer);
    if (!given) answer(over);
  });
}
