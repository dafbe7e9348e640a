// The worker threads: one long-lived task each, and our own placement of Runs. It knows nothing of HTTP or of the registry;
// which threads there are is in pool-roster.ts.
// States of a Run here: queued (no thread may take it) → placed (offered to a thread) → begun → ended; placed → queued or
// placed elsewhere, when its thread does not answer.
import { THREAD_ENTRY } from '../../workers/built-files.ts';
import { largeRowOwner } from '../../workers/memory/budget.ts';
import { COPIED_BYTES_MAX } from '../../workers/protocol/frame.ts';
import type { RunTask, ThreadStart } from '../../workers/protocol/messages.ts';
import { forgetCores } from '../../workers/thread/core-share.ts';
import { type RosterSettings, STUCK_THREADS_MAX, ThreadRoster } from './pool-roster.ts';
import type { PooledRunSettings, PoolSettings } from './pool-settings.ts';
import type { PoolThread, TaskEnd, ThreadTask } from './pool-thread.ts';
import { ownWorker, type PoolWorker, startWorker } from './pool-worker.ts';
import { RunTimes } from './run-times.ts';
import { sharedParts } from './shared-parts.ts';

/** A Run in the pool. */
export interface PooledRun {
  readonly task: number;
  /** The source file has so many bytes now. */
  grown(bytes: number, ended: boolean): void;
  /** Its end is reported as any other, unless it has ended already. */
  cancel(): void;
  /** As `cancel`, but only when it waits for bytes: what it has can be worked on goes on. */
  setAside(): void;
}

/** A thread's rows live outside its heap; V8's 48 MiB for what is soon forgotten would only be filled with garbage. */
export const YOUNG_GENERATION_MIB_MAX = 12;

/** How often threads are looked at while there are Runs. */
const WATCH_MILLISECONDS = 20;

/** A Run that has waited for so long behind those of a thread that answers goes to one where nothing waits. */
const WAIT_MILLISECONDS_MAX = 100;

/** A thread that stands still and has not ended a cancelled Run within this time is terminated, its other Runs with it. */
const CANCEL_MILLISECONDS_MAX = 5_000;

/** ... and in a hurry. */
const HURRIED_CANCEL_MILLISECONDS_MAX = 250;

/** Where every thread has been silent for this long, the node is no good place for more. */
const UNREADY_MILLISECONDS = 5_000;

/** A thread takes some 60 ms to start. */
const START_MILLISECONDS_MAX = 10_000;
const START_LOOK_MILLISECONDS = 5;

/** Numbers of tasks are Int32 in shared memory. A node that has had them all begins again: those of long ago are over. */
const TASKS_MAX = 2 ** 31;

export class ThreadPool {
  #settings: PoolSettings;
  #roster: ThreadRoster;
  readonly times = new RunTimes();
  #queue: ThreadTask[] = [];
  #taskCount = 0;
  #shared: RosterSettings['shared'];
  #watch: NodeJS.Timeout | null = null;
  isHurried = false;

  constructor(settings: PoolSettings) {
    const { threads, hasSpare = false } = settings;
    this.#settings = settings;
    this.#shared = sharedParts(settings);
    this.#roster = new ThreadRoster({
      threads,
      hasSpare,
      startWorker: (start) => this.#startWorker(start),
      shared: this.#shared,
      onRoom: () => this.#drainQueue(),
      onLosing: (thread) => this.#takeBack(thread),
      onLost: (thread, fault) => settings.onThreadLost?.(thread, fault),
      onStuck: (thread) => settings.onThreadStuck?.(thread),
      onGone: (thread) => this.#gone(thread),
    });
    this.#roster.want(settings.ownThread === undefined ? threads : 1);
  }

  /** Starts the threads that were not started yet. */
  startAll(): void {
    this.#roster.want(this.#settings.threads);
  }

  /** Threads that can take Runs. */
  get liveThreads(): number {
    return this.#roster.threads.filter(({ ready }) => ready).length;
  }

  /** Threads of the system that there are. */
  get size(): number {
    return this.#roster.size;
  }

  /** Threads that were lost and have not ended. */
  get stuckThreads(): number {
    return this.#roster.stuck;
  }

  /** Why no Run should come here; null: they may. */
  get trouble(): string | null {
    const now = performance.now();
    const ready = this.#roster.threads.filter((thread) => thread.ready);
    if (this.stuckThreads > STUCK_THREADS_MAX) return 'too many lost workers do not end';
    if (ready.length === 0) return 'no worker lives';
    return ready.every((thread) => thread.silentFor(now) >= UNREADY_MILLISECONDS) ? 'no worker answers' : null;
  }

  /** Resolves when a thread is ready, or after a while without one: then /readyz tells. */
  async firstReady(): Promise<void> {
    const deadline = performance.now() + START_MILLISECONDS_MAX;
    while (this.liveThreads === 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, START_LOOK_MILLISECONDS));
    }
  }

  get runs(): number {
    return this.#roster.threads.reduce((sum, { load }) => sum + load, this.#queue.length);
  }

  /** The number of the next task, for paths that carry it. */
  nextTask(): number {
    const task = this.#taskCount;
    this.#taskCount = (task + 1) % TASKS_MAX;
    return task;
  }

  /** Starts a task whose number came from nextTask. `ended` is called exactly once, never before this returns. */
  run(task: RunTask, ended: (end: TaskEnd) => void, { begun, bytesAgain }: PooledRunSettings = {}): PooledRun {
    const now = performance.now();
    const entry: ThreadTask = {
      task,
      ...this.times.follow(task.task, now, ended, begun),
      isGiven: task.source.kind === 'bytes' && task.source.bytes.length > COPIED_BYTES_MAX,
      bytesAgain: bytesAgain ?? null,
      thread: null,
      placedAt: 0,
      isBegun: false,
      grown: null,
      cancelledAt: null,
    };
    if (!this.#place(entry, now)) this.#queue.push(entry);
    this.#watch ??= setInterval(() => this.#look(), WATCH_MILLISECONDS);
    return {
      task: task.task,
      grown: (bytes, isEnded) => {
        entry.grown = { bytes, ended: isEnded };
        entry.thread?.grow(entry);
      },
      cancel: () => this.#cancel(entry),
      setAside: () => this.#setAside(entry),
    };
  }

  /** Compiled once for all threads. */
  get kernels(): WebAssembly.Module {
    return this.#shared.kernels;
  }

  /** Of the parts of a Run: see OutputTurns. */
  get turns(): SharedArrayBuffer {
    return this.#shared.turns;
  }

  /** From now on a thread that does not react to a cancel is ended at once: the node is about to stop. */
  hurry(): void {
    this.isHurried = true;
  }

  /** Lets the threads end, then ends them. What still runs is interrupted. A thread that does not end is left: `size`. */
  async close(): Promise<void> {
    if (this.#watch !== null) clearInterval(this.#watch);
    await this.#roster.close();
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

  #gone(thread: number): void {
    Atomics.compareExchange(new Int32Array(this.#shared.largeRow), 0, largeRowOwner(thread), 0);
    forgetCores(this.#shared.cores, thread);
    this.#settings.onThreadGone(thread);
  }

  /** To a ready thread that is not silent. */
  #place(entry: ThreadTask, now: number): boolean {
    return this.#bestFor(entry, now, null)?.run(entry, now) ?? false;
  }

  #bestFor(entry: ThreadTask, now: number, suits: ((thread: PoolThread) => boolean) | null): PoolThread | null {
    const { threads, spare } = this.#roster;
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

  #drainQueue(): void {
    if (this.#queue.length === 0) return;
    const now = performance.now();
    while (this.#queue.length > 0 && this.#place(this.#queue[0] as ThreadTask, now)) this.#queue.shift();
  }

  #cancel(entry: ThreadTask): void {
    const index = entry.thread === null ? this.#queue.indexOf(entry) : -1;
    if (index >= 0) this.#queue.splice(index, 1);
    if (index >= 0 || entry.thread?.withdraw(entry)) setImmediate(() => entry.ended({ kind: 'cancelled' }));
    else entry.thread?.cancel(entry, performance.now());
  }

  /** What lies in memory does not wait for bytes. */
  #setAside(entry: ThreadTask): void {
    const { thread, task } = entry;
    if (thread === null) this.#cancel(entry);
    else if (task.source.kind === 'bytes') return;
    else if (thread.withdraw(entry)) setImmediate(() => entry.ended({ kind: 'cancelled' }));
    else thread.setAside(entry);
  }

  #look(): void {
    const now = performance.now();
    const cancelMilliseconds = this.isHurried ? HURRIED_CANCEL_MILLISECONDS_MAX : CANCEL_MILLISECONDS_MAX;
    const waiting = new Map<PoolThread, ThreadTask[]>();
    for (const thread of this.#roster.threads) waiting.set(thread, thread.look());
    for (const thread of waiting.keys()) {
      const isOverdue = thread.isOverdue(now, cancelMilliseconds);
      if (!isOverdue && thread.silentFor(now) < (this.#settings.silenceMillisecondsMax ?? Infinity)) continue;
      const why = isOverdue ? 'it did not end a Run that was cancelled' : 'it did not answer for too long';
      this.#roster.end(thread, new Error(`the thread was ended: ${why}`));
    }
    this.#roster.look(now);
    this.#moveWaiting(waiting, now);
    this.#drainQueue();
    if (this.runs === 0 && !this.#roster.isUnsettled && this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }

  /** Gives what a thread has not begun, and does not seem to begin soon, to one that answers. */
  #moveWaiting(waiting: ReadonlyMap<PoolThread, readonly ThreadTask[]>, now: number): void {
    let isStranded = this.#queue.length > 0;
    for (const [thread, entries] of waiting) {
      const isSilent = thread.isSilent(now);
      for (const entry of entries) {
        if (!isSilent && now - entry.placedAt < WAIT_MILLISECONDS_MAX) continue;
        const suits = (other: PoolThread): boolean =>
          other !== thread && (isSilent || waiting.get(other)?.length === 0);
        const other = this.#bestFor(entry, now, suits);
        if (other === null) isStranded ||= isSilent;
        else if (isMovable(entry) && thread.withdraw(entry)) {
          if (isSilent) thread.distrust();
          renew(entry);
          if (!other.run(entry, now)) this.#queue.push(entry);
        }
      }
    }
    const isAnswered = this.#roster.threads.some((thread) => !thread.ready || !thread.isSilent(now));
    if (isStranded && !isAnswered) this.#roster.standIn();
  }

  /** What a thread that is being lost has not begun may still be run by another one. */
  #takeBack(thread: PoolThread): void {
    for (const entry of thread.look()) {
      if (!isMovable(entry) || !thread.withdraw(entry)) continue;
      renew(entry);
      this.#queue.push(entry);
    }
  }
}

function isMovable({ isGiven, bytesAgain }: ThreadTask): boolean {
  return !isGiven || bytesAgain !== null;
}

/** Makes a task whole again that was withdrawn. */
function renew(entry: ThreadTask): void {
  const { isGiven, bytesAgain, task } = entry;
  if (isGiven && bytesAgain !== null) entry.task = { ...task, source: { kind: 'bytes', bytes: bytesAgain() } };
}
