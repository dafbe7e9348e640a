// What a pool of threads is started with, what it tells of them, and what a Run may want of it.
import type { ThreadStart } from '../../workers/protocol/messages.ts';

export interface PoolSettings {
  readonly threads: number;
  /** Shared counters of the memory budget, see workers/memory/budget.ts. */
  readonly budget: SharedArrayBuffer;
  /** A thread was lost with its Runs, and will be replaced; it may still be at work. */
  readonly onThreadLost?: (thread: number, fault: unknown) => void;
  /** A lost thread does not end: it is in native code. Another one takes its place, unless too many are. */
  readonly onThreadStuck?: (thread: number) => void;
  /** A thread is no more: gives back to the budget what it had borrowed. */
  readonly onThreadGone: (thread: number) => void;
  /** A thread failed before it had its task (it could not be loaded) and is being replaced. Without it: an exception. */
  readonly onLoadFault?: (fault: unknown) => void;
  /**
   * Serves thread 0 in the caller's own: nothing has to be started for it, but work there keeps the caller waiting. The
   * others start with `startAll`.
   */
  readonly ownThread?: (start: ThreadStart) => Promise<void>;
  /** One more thread is started where all are silent while a Run waits. */
  readonly hasSpare?: boolean;
  /** A thread that has been silent for so long is ended, with the Runs that it has begun; unless said it is not. */
  readonly silenceMillisecondsMax?: number;
  /** That Runs and the read-ahead threads of large files may keep busy: unless said the machine's but one, which the event loop has. */
  readonly cores?: number;
  /** See RunProgress: where somebody looks at how far Runs are. */
  readonly progress?: SharedArrayBuffer;
  /** Of each thread, YOUNG_GENERATION_MIB_MAX unless said. */
  readonly youngGenerationMibMax?: number;
  /** Module whose export `serve` takes a ThreadStart; the engine's unless a test says otherwise. */
  readonly entry?: URL;
}

/** What else a Run may want of the pool. */
export interface PooledRunSettings {
  /** Told once when a thread has begun the Run, some time after; not when it has ended by then. */
  readonly begun?: () => void;
  /** The bytes of its source once more, for another thread; without it a long source in memory stays where it was placed. */
  readonly bytesAgain?: () => Uint8Array;
}
