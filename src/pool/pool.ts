// The worker threads of a process, and how a node opens its pool and measures it.
import { availableParallelism } from 'node:os';
import { THREAD_ENTRY } from '../../workers/built-files.ts';
import { compileKernels } from '../../workers/kernel/bindings/kernel.ts';
import { largeRowOwner } from '../../workers/memory/budget.ts';
import { COPIED_BYTES_MAX } from '../../workers/protocol/frame.ts';
import { NO_ACCOUNT, type RunTask, type ThreadStart } from '../../workers/protocol/messages.ts';
import { busyCores, forgetCores, newCoreCounts } from '../../workers/scheduling/core-share.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { ServeConfig } from '../config.ts';
import type { Log } from '../telemetry/log.ts';
import type { PooledRun, PoolThread, TaskEnd, ThreadTask } from './pool-thread.ts';
import { SharedRun, type SharedTask, type Sharing, type SharingPool, SpareKeys } from './shared-run.ts';
import {
  ownWorker,
  type PoolWorker,
  STUCK_THREADS_MAX,
  startWorker,
  ThreadRegistry,
  type ThreadRegistrySettings,
} from './thread-registry.ts';

// Settings of a thread pool, its notifications about threads, and options of a Run.

export interface PoolSettings {
  readonly threads: number;
  /** Shared counters of the memory budget, see workers/memory/budget.ts. */
  readonly budget: SharedArrayBuffer;
  /** A thread was lost with its Runs and will be replaced. It may still be running. */
  readonly onThreadLost?: (thread: number, fault: unknown) => void;
  /**
   * A lost thread does not end, because it is in native code. Another thread replaces it, unless too many are stuck.
   */
  readonly onThreadStuck?: (thread: number) => void;
  /** A thread has ended: returns its borrowed memory to the budget. */
  readonly onThreadExit: (thread: number) => void;
  /**
   * A thread failed before it received its task (it could not be loaded) and is being replaced. Without this callback,
   * an exception is thrown.
   */
  readonly onLoadFault?: (fault: unknown) => void;
  /** Called when a thread is ready, or one of its tasks has ended. */
  readonly onCapacity?: () => void;
  /**
   * Runs thread 0 inside the caller's own thread: no thread has to be started for it, but its work blocks the caller.
   */
  readonly ownThread?: (start: ThreadStart) => Promise<void>;
  /** If true, only the first thread is started now, and the others with `startAll`. */
  readonly startsOne?: boolean;
  /** If true, a spare thread is started when all threads are silent while a Run waits. */
  readonly hasSpare?: boolean;
  /**
   * Maximum silence, after which a thread is terminated with the Runs that it has begun. By default, there is no
   * maximum.
   */
  readonly silenceMillisecondsMax?: number;
  /**
   * Number of cores for Runs and the read-ahead threads of large files. By default, all but one, which is for the event
   * loop.
   */
  readonly cores?: number;
  /** See RunProgress. Set if the progress of Runs is displayed. */
  readonly progress?: SharedArrayBuffer;
  /** For each thread; YOUNG_GENERATION_MIB_MAX by default. */
  readonly youngGenerationMibMax?: number;
  /** Module whose export `serve` takes a ThreadStart. The engine's by default; tests use others. */
  readonly entry?: URL;
}

/** Further options of a Run in the pool. */
interface PooledRunSettings {
  /** Called once, some time after a thread has begun the Run. Not called if the Run has ended by then. */
  readonly begun?: () => void;
  /**
   * Returns the bytes of its source again, for another thread. Without it, a long source in memory stays with its first
   * thread.
   */
  readonly bytesAgain?: () => Uint8Array;
  /** Set if idle threads may take part in the Run. */
  readonly sharing?: Sharing | null;
}

/** Further options of a task that is part of a Run. */
interface TaskSettings extends Pick<PooledRunSettings, 'bytesAgain'> {
  readonly begun?: () => void;
  readonly opened?: ThreadTask['opened'];
  readonly isLent?: boolean;
}

// Start data of all threads of a pool: shared memory, and the compiled kernels.

function startData({ threads, budget, cores, progress }: PoolSettings): ThreadRegistrySettings['shared'] {
  return {
    budget,
    cores: newCoreCounts(cores ?? availableParallelism() - 1, threads),
    largeRow: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    kernels: compileKernels(),
    progress: progress ?? null,
  };
}

// Measures how long Runs have been in the pool, and how long they waited for a thread. For metrics and alerts only.

interface Followed<End> {
  begun(): void;
  ended(end: End): void;
}

export class RunTimes {
  /** Start time of each Run, by task. A Map keeps insertion order, so the first entry is the oldest. */
  #given = new Map<number, number>();
  #waitMilliseconds = 0;
  #begun = 0;

  /** Returns functions to call in place of `begun` and `ended`. */
  follow<End>(task: number, now: number, ended: (end: End) => void, begun?: () => void): Followed<End> {
    this.#given.set(task, now);
    return {
      begun: () => {
        this.#begun += 1;
        this.#waitMilliseconds += performance.now() - now;
        begun?.();
      },
      ended: (end) => {
        this.#given.delete(task);
        ended(end);
      },
    };
  }

  /** Age of the oldest Run in seconds, or 0 without Runs. */
  oldestSeconds(now = performance.now()): number {
    for (const given of this.#given.values()) return (now - given) / 1000;
    return 0;
  }

  /** Total over all Runs that a thread has begun since the start. */
  get waited(): { readonly seconds: number; readonly runs: number } {
    return { seconds: this.#waitMilliseconds / 1000, runs: this.#begun };
  }
}

// The worker threads: each has one long-lived task, and the pool assigns Runs to them. Knows nothing about HTTP or the
// catalog; thread-registry.ts manages the threads. States of a Run here: queued (no thread can take it) → placed
// (offered to a thread) → begun → ended. A placed Run is queued or placed elsewhere if its thread does not respond.

/**
 * Limit for the young generation of a thread's heap. Rows are outside the heap; V8's default of 48 MiB would only be
 * filled with garbage. With half of this limit, a thread collected after every 110 small Runs, which was a sixth of
 * its processor time; with twice this limit, it takes as long as with this one.
 */
export const YOUNG_GENERATION_MIB_MAX = 24;

/** On a node with little memory: each thread may fill its young generation with garbage beside the budget. */
const YOUNG_GENERATION_MIB_MIN = 12;
const YOUNG_GENERATION_BUDGET_SHARE = 32;
const MIB_BYTES = 1024 * 1024;

/** Limit for the young generation of each thread of a node with this memory budget, in MiB. */
export function youngGenerationMib(budgetBytes: number): number {
  const share = Math.floor(budgetBytes / YOUNG_GENERATION_BUDGET_SHARE / MIB_BYTES);
  return Math.min(YOUNG_GENERATION_MIB_MAX, Math.max(YOUNG_GENERATION_MIB_MIN, share));
}

/** Interval at which threads are checked while there are Runs. */
const WATCH_MILLISECONDS = 20;

/** Maximum wait of a Run behind others in a responsive thread, before it moves to a thread without waiting Runs. */
const WAIT_MILLISECONDS_MAX = 100;

/**
 * Maximum time for a cancelled Run to end in a thread without a heartbeat. Then the thread is terminated with its other
 * Runs.
 */
const CANCEL_MILLISECONDS_MAX = 5_000;

/** The same while the node is stopping. */
const HURRIED_CANCEL_MILLISECONDS_MAX = 250;

/** If all threads have been silent for this long, the node is not ready. */
const UNREADY_MILLISECONDS = 5_000;

/** A thread takes about 60 ms to start. */
const START_MILLISECONDS_MAX = 10_000;
const START_LOOK_MILLISECONDS = 5;

/**
 * Task numbers are Int32 values in shared memory. After the last one, numbering starts again: the first tasks have
 * ended long ago.
 */
const TASKS_MAX = 2 ** 31;

export class ThreadPool {
  #settings: PoolSettings;
  #registry: ThreadRegistry;
  readonly times = new RunTimes();
  #queue: ThreadTask[] = [];
  #sharedRuns = new Set<SharedRun>();
  readonly #keys: SpareKeys;
  #isClosed = false;
  #taskCount = 0;
  #shared: ThreadRegistrySettings['shared'];
  #watch: NodeJS.Timeout | null = null;
  isHurried = false;

  constructor(settings: PoolSettings) {
    const { threads, hasSpare = false } = settings;
    this.#settings = settings;
    this.#keys = new SpareKeys(settings.budget);
    this.#shared = startData(settings);
    this.#registry = new ThreadRegistry({
      threads,
      hasSpare,
      startWorker: (start) => this.#startWorker(start),
      shared: this.#shared,
      onCapacity: () => {
        this.#drainQueue();
        for (const run of this.#sharedRuns) run.lend();
        settings.onCapacity?.();
      },
      onLosing: (thread) => this.#reclaim(thread),
      onLost: (thread, fault) => settings.onThreadLost?.(thread, fault),
      onStuck: (thread) => settings.onThreadStuck?.(thread),
      onExit: (thread) => this.#exited(thread),
    });
    this.#registry.want(settings.startsOne === true ? 1 : threads);
  }

  /** Starts the threads that have not been started yet. */
  startAll(): void {
    this.#registry.want(this.#settings.threads);
  }

  /** Number of threads that can take Runs. */
  get liveThreads(): number {
    return this.#registry.threads.filter(({ ready }) => ready).length;
  }

  /** Number of existing system threads. */
  get size(): number {
    return this.#registry.size;
  }

  /** Number of threads that were lost and have not ended. */
  get stuckThreads(): number {
    return this.#registry.stuck;
  }

  /** Number of threads with Runs that have not responded for a while. */
  get silentThreads(): number {
    const now = performance.now();
    return this.#registry.threads.filter((thread) => thread.isSilent(now)).length;
  }

  /** Reason why this node should not receive Runs, or null. */
  get unreadyReason(): string | null {
    const now = performance.now();
    const ready = this.#registry.threads.filter((thread) => thread.ready);
    if (this.stuckThreads > STUCK_THREADS_MAX) return 'too many lost workers do not end';
    if (ready.length === 0) return 'no worker lives';
    return ready.every((thread) => thread.silentFor(now) >= UNREADY_MILLISECONDS) ? 'no worker answers' : null;
  }

  /** Resolves when a thread is ready, or after a timeout; /readyz then reports the problem. */
  async firstReady(): Promise<void> {
    const deadline = performance.now() + START_MILLISECONDS_MAX;
    while (this.liveThreads === 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, START_LOOK_MILLISECONDS));
    }
  }

  /** Number of Runs, and of shares of Runs. */
  get runs(): number {
    return this.#registry.threads.reduce((sum, { load }) => sum + load, this.#queue.length);
  }

  /**
   * True if a thread has no Run, and the files of the other threads occupy fewer cores than there are threads. While an
   * upload arrives, the main thread needs a core as well: on two cores, W1 took 10 % longer when it had to share one.
   */
  #canLend(isArriving: boolean): boolean {
    const busy = busyCores(this.#shared.cores) + (isArriving ? 1 : 0);
    if (this.#isClosed || busy >= this.#settings.threads) return false;
    const now = performance.now();
    const { threads, spare } = this.#registry;
    return threads.some((thread) => {
      return thread !== spare && thread.ready && thread.load === 0 && !thread.isSilent(now);
    });
  }

  /** Number of the next task, for paths that contain it. */
  nextTask(): number {
    const task = this.#taskCount;
    this.#taskCount = (task + 1) % TASKS_MAX;
    return task;
  }

  /**
   * Starts a task whose number came from nextTask. `ended` is called exactly once, after this function has returned. A
   * closed pool interrupts the task.
   */
  run(task: RunTask, ended: (end: TaskEnd) => void, settings: PooledRunSettings = {}): PooledRun {
    const { begun, bytesAgain, sharing = null } = settings;
    const times = this.times.follow(task.task, performance.now(), ended, begun);
    if (sharing === null) return this.#give(task, times.ended, { begun: times.begun, bytesAgain });
    let isFirst = true;
    const pool: SharingPool = {
      canLend: (isArriving) => this.#canLend(isArriving),
      nextTask: () => this.nextTask(),
      start: (one, oneEnded, opened) => {
        const given = this.#give(one, oneEnded, isFirst ? { begun: times.begun, opened } : { opened });
        isFirst = false;
        return given;
      },
      lend: (share, shareEnded) => this.#give(share, shareEnded, { isLent: true }),
      takeKeys: () => this.#keys.take(),
      holdKeys: (units, accountRow) => this.#keys.hold(units, accountRow),
      giveKeys: (keys, isFree, spareUnits) => this.#keys.give(keys, isFree, spareUnits),
    };
    const run = new SharedRun(pool, task, sharing, (end) => {
      this.#sharedRuns.delete(run);
      times.ended(end);
    });
    this.#sharedRuns.add(run);
    return run;
  }

  #give(task: RunTask, ended: (end: TaskEnd) => void, settings: TaskSettings): SharedTask {
    const { begun = () => {}, bytesAgain, opened = null, isLent = false } = settings;
    const now = performance.now();
    const entry: ThreadTask = {
      task,
      ended,
      begun,
      opened,
      isLent,
      isGiven: task.source.kind === 'bytes' && task.source.bytes.length > COPIED_BYTES_MAX,
      bytesAgain: bytesAgain ?? null,
      thread: null,
      placedAt: 0,
      isBegun: false,
      rowsRead: 0,
      grown: null,
      cancelledAt: null,
    };
    if (this.#isClosed) queueMicrotask(() => entry.ended({ kind: 'interrupted' }));
    else {
      if (!this.#place(entry, now)) this.#queue.push(entry);
      this.#watch ??= setInterval(() => this.#check(), WATCH_MILLISECONDS);
    }
    return {
      task: task.task,
      // A method, because V8 gives each object whose literal has a getter a hidden class of its own, which keeps the
      // whole Run until the next full collection: collections took a third of the main thread's time with small Runs.
      thread: () => entry.thread?.thread ?? null,
      rowsRead: () => entry.rowsRead,
      grown: (bytes, isEnded) => {
        entry.grown = { bytes, ended: isEnded };
        entry.thread?.grow(entry);
      },
      cancel: () => this.#cancel(entry),
      suspend: () => this.#suspend(entry),
    };
  }

  /** Compiled once for all threads. */
  get kernels(): WebAssembly.Module {
    return this.#shared.kernels;
  }

  /**
   * From now on, a thread that does not react to a cancel is terminated immediately, because the node is about to stop.
   */
  hurry(): void {
    this.isHurried = true;
  }

  /**
   * Asks the threads to end, then terminates them. Running Runs are interrupted. Threads that do not end are left;
   * `size` returns their number.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    await this.#registry.close();
    for (const { ended } of this.#queue.splice(0)) ended({ kind: 'interrupted' });
  }

  #startWorker(start: ThreadStart): PoolWorker {
    const { ownThread, entry, youngGenerationMibMax, onLoadFault } = this.#settings;
    if (ownThread !== undefined && start.thread === 0) return ownWorker(ownThread(start));
    return startWorker(start, {
      entry: entry ?? THREAD_ENTRY,
      youngGenerationMibMax: youngGenerationMibMax ?? YOUNG_GENERATION_MIB_MAX,
      onLoadFault: onLoadFault ?? null,
    });
  }

  #exited(thread: number): void {
    Atomics.compareExchange(new Int32Array(this.#shared.largeRow), 0, largeRowOwner(thread), 0);
    forgetCores(this.#shared.cores, thread);
    this.#settings.onThreadExit(thread);
  }

  /** Assigns the task to a ready thread that is not silent. */
  #place(entry: ThreadTask, now: number): boolean {
    return this.#bestFor(entry, now, null)?.run(entry, now) ?? false;
  }

  #bestFor(entry: ThreadTask, now: number, suits: ((thread: PoolThread) => boolean) | null): PoolThread | null {
    if (this.#isHeldBack(entry, now)) return null;
    const { threads, spare } = this.#registry;
    let best: PoolThread | null = null;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const thread of threads) {
      if (!thread.ready || thread === spare || thread.isSilent(now) || suits?.(thread) === false) continue;
      const rank = thread.rank(entry.task, now);
      if (rank >= bestRank) continue;
      best = thread;
      bestRank = rank;
    }
    if (best === null && spare?.ready && !spare.isSilent(now) && suits?.(spare) !== false) return spare;
    return best;
  }

  /**
   * The last responsive thread is reserved for accounts that block no other thread. Without this rule, the Runs of one
   * account could block every thread.
   */
  #isHeldBack({ task: { accountRow = NO_ACCOUNT } }: ThreadTask, now: number): boolean {
    const { threads } = this.#registry;
    if (!threads.some((thread) => thread.isBlockedBy(accountRow, now))) return false;
    return threads.filter((thread) => thread.ready && !thread.isSilent(now)).length < 2;
  }

  /** In the order of arrival. A Run that must wait does not block the Runs after it. */
  #drainQueue(): void {
    if (this.#queue.length === 0) return;
    const now = performance.now();
    this.#queue = this.#queue.filter((entry) => !this.#place(entry, now));
  }

  #cancel(entry: ThreadTask): void {
    const index = entry.thread === null ? this.#queue.indexOf(entry) : -1;
    if (index >= 0) this.#queue.splice(index, 1);
    if (index >= 0 || entry.thread?.withdraw(entry)) setImmediate(() => entry.ended({ kind: 'cancelled' }));
    else entry.thread?.cancel(entry, performance.now());
  }

  /** A source in memory does not wait for bytes. */
  #suspend(entry: ThreadTask): void {
    const { thread, task } = entry;
    if (thread === null) this.#cancel(entry);
    else if (task.source.kind === 'bytes') return;
    else if (thread.withdraw(entry)) setImmediate(() => entry.ended({ kind: 'cancelled' }));
    else thread.suspend(entry);
  }

  #check(): void {
    const now = performance.now();
    const cancelMilliseconds = this.isHurried ? HURRIED_CANCEL_MILLISECONDS_MAX : CANCEL_MILLISECONDS_MAX;
    const waiting = new Map<PoolThread, ThreadTask[]>();
    for (const thread of this.#registry.threads) waiting.set(thread, thread.check());
    for (const thread of waiting.keys()) {
      const isOverdue = thread.isOverdue(now, cancelMilliseconds);
      if (!isOverdue && thread.silentFor(now) < (this.#settings.silenceMillisecondsMax ?? Infinity)) continue;
      const why = isOverdue ? 'it did not end a Run that was cancelled' : 'it did not answer for too long';
      this.#registry.end(thread, new Error(`the thread was ended: ${why}`));
    }
    this.#registry.check(now);
    this.#moveWaiting(waiting, now);
    this.#drainQueue();
    for (const run of this.#sharedRuns) run.lend();
    if (this.runs === 0 && !this.#registry.isUnsettled && this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }

  /** Moves tasks that a thread has not begun, and probably will not begin soon, to a responsive thread. */
  #moveWaiting(waiting: ReadonlyMap<PoolThread, readonly ThreadTask[]>, now: number): void {
    let isStranded = this.#queue.some((entry) => !this.#isHeldBack(entry, now));
    for (const [thread, entries] of waiting) {
      const isSilent = thread.isSilent(now);
      for (const entry of entries) {
        if (!isSilent && now - entry.placedAt < WAIT_MILLISECONDS_MAX) continue;
        const suits = (other: PoolThread): boolean =>
          other !== thread && (isSilent || waiting.get(other)?.length === 0);
        const other = this.#bestFor(entry, now, suits);
        if (other === null) isStranded ||= isSilent && !this.#isHeldBack(entry, now);
        else if (isMovable(entry) && thread.withdraw(entry)) {
          if (isSilent) thread.distrust();
          renew(entry);
          if (!other.run(entry, now)) this.#queue.push(entry);
        }
      }
    }
    const isAnswered = this.#registry.threads.some((thread) => !thread.ready || !thread.isSilent(now));
    if (isStranded && !isAnswered) this.#registry.startSpare();
  }

  /** Tasks that a lost thread has not begun can still run in another one. */
  #reclaim(thread: PoolThread): void {
    for (const entry of thread.check()) {
      if (!isMovable(entry) || !thread.withdraw(entry)) continue;
      renew(entry);
      this.#queue.push(entry);
    }
  }
}

function isMovable({ isGiven, bytesAgain }: ThreadTask): boolean {
  return !isGiven || bytesAgain !== null;
}

/** Restores a withdrawn task. */
function renew(entry: ThreadTask): void {
  const { isGiven, bytesAgain, task } = entry;
  if (isGiven && bytesAgain !== null) entry.task = { ...task, source: { kind: 'bytes', bytes: bytesAgain() } };
}

// Opens the thread pool of a node: logs and counts events of threads, and returns the memory of lost threads to the
// budget.

/**
 * Maximum silence of a thread. A thread shows activity every 8 ms of work. After this time, even on the slowest
 * machine, it will not recover, and the Runs that it has begun would wait for the time limit of the blocking Run.
 */
const SILENCE_MILLISECONDS_MAX = 60_000;

/**
 * @param entry module of the threads, undefined for the engine's
 * @param onLost called for each lost thread
 */
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
    youngGenerationMibMax: youngGenerationMib(budget.limitBytes),
    hasSpare: true,
    silenceMillisecondsMax: SILENCE_MILLISECONDS_MAX,
    onThreadLost: (thread, fault) => {
      onLost();
      // The thread was ended because the node stops; its Runs were interrupted intentionally.
      if (pool.isHurried) log.info('thread_lost', { thread });
      else log.fault('thread_lost', fault, { thread });
    },
    onThreadStuck: (thread) => log.warn('thread_stuck', { thread, stuck: pool.stuckThreads }),
    onThreadExit: (thread) => budget.forgetThread(thread),
    onLoadFault: (fault) => log.fault('thread_not_loaded', fault, {}),
  });
  return pool;
}
