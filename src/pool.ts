// The worker threads: one long-lived task each, our own placement of Runs, and new threads for lost ones. It knows
// nothing of HTTP or of the registry; the only importer of piscina.
// States of a Run here: queued (no thread may take it) → placed → ended.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { largeRowOwner } from '../workers/budget.ts';
import { forgetCores, newCoreCounts } from '../workers/core-share.ts';
import { compileKernels } from '../workers/kernel/kernel.ts';
import { type RunTask, type ThreadStart, TURNS_BYTES } from '../workers/messages.ts';
import type { TaskEnd, ThreadTask } from './pool-thread.ts';
import { CANCEL_MILLISECONDS_MAX, PoolThread } from './pool-thread.ts';

export type { TaskEnd } from './pool-thread.ts';

export interface PoolSettings {
  readonly threads: number;
  /** Shared counters of the memory budget, see workers/budget.ts. */
  readonly budget: SharedArrayBuffer;
  /** A thread has ended: gives back to the budget what it had borrowed. */
  readonly onThreadLost: (thread: number, fault: unknown) => void;
  /** A thread failed before it had its task (it could not be loaded) and is being replaced. Without it: an exception. */
  readonly onLoadFault?: (fault: unknown) => void;
  /**
   * Serves thread 0 in the caller's own: nothing has to be started for it, but work there keeps the caller waiting. The
   * others start with `startAll`.
   */
  readonly ownThread?: (start: ThreadStart) => Promise<void>;
  /** That Runs and the scouts of large files may keep busy: unless said the machine's but one, which the event loop has. */
  readonly cores?: number;
  /** Of each thread, YOUNG_GENERATION_MIB_MAX unless said. */
  readonly youngGenerationMibMax?: number;
  /** Module whose export `serve` takes a ThreadStart; the engine's unless a test says otherwise. */
  readonly entry?: URL;
}

/** A Run in the pool. */
export interface PooledRun {
  readonly task: number;
  /** The source file has so many bytes now. */
  grown(bytes: number, ended: boolean): void;
  /** Its end is told as any other, unless it has ended already. */
  cancel(): void;
}

/** A thread's rows live outside its heap; V8's 48 MiB for what is soon forgotten would only be filled with garbage. */
export const YOUNG_GENERATION_MIB_MAX = 12;

/** How often threads are looked at while there are Runs. */
const WATCH_MILLISECONDS = 50;

/** How long the threads get to end by themselves when the pool closes. */
const STOP_MILLISECONDS_MAX = 2_000;

/** A thread takes some 60 ms to start. */
const START_MILLISECONDS_MAX = 10_000;
const START_LOOK_MILLISECONDS = 5;

/** A thread that cannot start is tried again after this time, so that a broken entry does not spin. */
const RESTART_MILLISECONDS = 100;

export class ThreadPool {
  #settings: PoolSettings;
  #piscina: Piscina;
  #threads: PoolThread[] = [];
  #aborts: AbortController[] = [];
  #ends: Promise<void>[] = [];
  #queue: ThreadTask[] = [];
  #taskCount = 0;
  #cores: SharedArrayBuffer;
  #largeRow = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  #turns = new SharedArrayBuffer(TURNS_BYTES);
  #kernels = compileKernels();
  #watch: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.#cores = newCoreCounts(settings.cores ?? availableParallelism() - 1, settings.threads);
    const entry = settings.entry ?? new URL('../workers/main.js', import.meta.url);
    const hasOwn = settings.ownThread !== undefined;
    const others = hasOwn ? settings.threads - 1 : settings.threads;
    this.#piscina = new Piscina({
      filename: entry.href,
      name: 'serve',
      minThreads: hasOwn ? 0 : others,
      maxThreads: Math.max(1, others),
      concurrentTasksPerWorker: 1,
      atomics: 'disabled',
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: settings.youngGenerationMibMax ?? YOUNG_GENERATION_MIB_MAX },
    });
    if (settings.onLoadFault !== undefined) this.#piscina.on('error', settings.onLoadFault);
    if (hasOwn) this.#start(0);
    else this.startAll();
  }

  /** Starts the threads that were not started yet. */
  startAll(): void {
    for (let thread = this.#threads.length; thread < this.#settings.threads; thread += 1) this.#start(thread);
  }

  /** Threads that can take Runs. */
  get liveThreads(): number {
    return this.#threads.filter(({ ready }) => ready).length;
  }

  /** Resolves when a thread is ready, or after a while without one: then /readyz tells. */
  async firstReady(): Promise<void> {
    const deadline = performance.now() + START_MILLISECONDS_MAX;
    while (this.liveThreads === 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, START_LOOK_MILLISECONDS));
    }
  }

  get runs(): number {
    return this.#threads.reduce((sum, { load }) => sum + load, this.#queue.length);
  }

  /** The number of the next task, for paths that carry it. */
  nextTask(): number {
    return this.#taskCount++;
  }

  /** Starts a task whose number came from nextTask. `ended` is called exactly once, never before this returns. */
  run(task: RunTask, ended: (end: TaskEnd) => void): PooledRun {
    const entry: ThreadTask = { task, ended, thread: null, grown: null, cancelBy: null };
    if (!this.#place(entry)) this.#queue.push(entry);
    this.#watch ??= setInterval(() => this.#look(), WATCH_MILLISECONDS);
    return {
      task: task.task,
      grown: (bytes, isEnded) => {
        entry.grown = { bytes, ended: isEnded };
        entry.thread?.grow(entry);
      },
      cancel: () => this.#cancel(entry),
    };
  }

  /** Compiled once for all threads. */
  get kernels(): WebAssembly.Module {
    return this.#kernels;
  }

  /** Of the parts of a Run: see OutputTurns. */
  get turns(): SharedArrayBuffer {
    return this.#turns;
  }

  /** Lets the threads end, then ends them. What still runs is interrupted. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    for (const thread of this.#threads) thread.post({ kind: 'stop' });
    const patience = new Promise<void>((resolve) => setTimeout(resolve, STOP_MILLISECONDS_MAX).unref());
    // One that is still being started has nothing to end; the caller's own would go on.
    const isStarted = (thread: number): boolean => this.#isOwn(thread) || this.#threads[thread]!.ready;
    const ends = this.#ends.filter((_, thread) => isStarted(thread));
    await Promise.race([Promise.all(ends), patience]);
    for (const thread of this.#threads) thread.lose();
    for (const { ended } of this.#queue.splice(0)) ended({ kind: 'interrupted' });
    await this.#piscina.destroy();
  }

  #start(thread: number): void {
    const { budget, ownThread } = this.#settings;
    const shared = { budget, cores: this.#cores, largeRow: this.#largeRow, turns: this.#turns, kernels: this.#kernels };
    const poolThread = new PoolThread({ thread, ...shared }, () => this.#drainQueue());
    const abort = new AbortController();
    this.#threads[thread] = poolThread;
    this.#aborts[thread] = abort;
    // The one task of its thread: with a signal piscina ends the thread, which is wanted here and nowhere else.
    const options = { signal: abort.signal, transferList: [poolThread.start.port] };
    const task = this.#isOwn(thread) ? ownThread!(poolThread.start) : this.#piscina.run(poolThread.start, options);
    const end = task.then(
      () => this.#lost(poolThread, null),
      (fault: unknown) => this.#lost(poolThread, fault),
    );
    this.#ends[thread] = end;
  }

  #isOwn(thread: number): boolean {
    return this.#settings.ownThread !== undefined && thread === 0;
  }

  #lost(thread: PoolThread, fault: unknown): void {
    Atomics.compareExchange(new Int32Array(this.#largeRow), 0, largeRowOwner(thread.thread), 0);
    forgetCores(this.#cores, thread.thread);
    thread.lose();
    if (this.#closed) return;
    this.#settings.onThreadLost(thread.thread, fault);
    setTimeout(() => {
      if (!this.#closed) this.#start(thread.thread);
    }, RESTART_MILLISECONDS);
  }

  /** To a ready thread that is not silent. */
  #place(entry: ThreadTask): boolean {
    const now = performance.now();
    let best: PoolThread | null = null;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const thread of this.#threads) {
      if (!thread.ready || thread.isSilent(now)) continue;
      const rank = thread.rank(entry.task, now);
      if (rank >= bestRank) continue;
      best = thread;
      bestRank = rank;
    }
    if (best === null) return false;
    best.run(entry);
    return true;
  }

  #drainQueue(): void {
    while (this.#queue.length > 0 && this.#place(this.#queue[0] as ThreadTask)) this.#queue.shift();
  }

  #cancel(entry: ThreadTask): void {
    if (entry.thread !== null) {
      entry.thread.cancel(entry, performance.now() + CANCEL_MILLISECONDS_MAX);
      return;
    }
    const index = this.#queue.indexOf(entry);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    setImmediate(() => entry.ended({ kind: 'cancelled' }));
  }

  #look(): void {
    const now = performance.now();
    for (const thread of this.#threads) {
      thread.isSilent(now);
      if (thread.isOverdue(now)) this.#aborts[thread.thread]?.abort();
    }
    this.#drainQueue();
    if (this.runs === 0 && this.#watch !== null) {
      clearInterval(this.#watch);
      this.#watch = null;
    }
  }
}
