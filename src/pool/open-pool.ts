// The pool of a node: what becomes of its threads is logged and counted, and what they held goes back to the budget.
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { ServeConfig } from '../config.ts';
import type { Log } from '../telemetry/log.ts';
import { ThreadPool } from './pool.ts';

/**
 * A thread shows that it is alive each 8 ms of work. One that has not for so long on the slowest machine will not: the
 * Runs that it has begun would wait for the time limit of the one that holds it up.
 */
const SILENCE_MILLISECONDS_MAX = 60_000;

/** @param entry module of the threads, undefined: the engine's @param onLost told of each thread that was lost */
export function openPool(
  config: ServeConfig,
  entry: URL | undefined,
  budget: MemoryBudget,
  log: Log,
  onLost: () => void,
): ThreadPool {
  const pool = new ThreadPool({
    ...(entry === undefined ? {} : { entry }),
    threads: config.workers,
    budget: budget.buffer,
    hasSpare: true,
    silenceMillisecondsMax: SILENCE_MILLISECONDS_MAX,
    onThreadLost: (thread, fault) => {
      onLost();
      // It was ended because the node stops: its Runs were interrupted, as is meant.
      if (pool.isHurried) log.info('thread_lost', { thread });
      else log.fault('thread_lost', fault, { thread });
    },
    onThreadStuck: (thread) => log.warn('thread_stuck', { thread, stuck: pool.stuckThreads }),
    onThreadGone: (thread) => budget.forgetThread(thread),
    onLoadFault: (fault) => log.fault('thread_not_loaded', fault, {}),
  });
  return pool;
}
