// The thread registry of the pool: starts threads, ends unresponsive ones, replaces lost ones, and waits until a system
// thread has exited.
import { Piscina } from 'piscina';
import { EXTRA_THREADS_MAX } from '../../workers/memory/budget.ts';
import type { ThreadStart } from '../../workers/protocol/messages.ts';
import { PoolThread } from './pool-thread.ts';

// One system thread with its one long task: started, terminated, and watched until it has exited, because a thread in
// native code ends only when that code returns. The only importer of piscina.

/**
 * Heap limit of a thread, the last defence after all limits of a Run: a thread that exceeds it ends with its Runs
 * (RUN_INTERRUPTED) and is replaced, instead of exhausting the memory of the others. The worst cases in test/stress
 * need 150. Measured on Node 20: accumulating strings, lists and JSON end only the thread, but a single array or map
 * that exceeds the remaining memory aborts the process, with or without a limit. Therefore the limit is far above what
 * one cell can allocate at once.
 */
const OLD_GENERATION_MIB_MAX = 512;

export interface PoolWorker {
  /** Resolves when the task of the thread ends: with null, or with the error that ended the task. */
  readonly ended: Promise<unknown>;
  /** Resolves when the thread no longer exists. */
  readonly exited: Promise<void>;
  /** True for the thread of the library's caller, which ends only on request. */
  readonly isOwn: boolean;
  /** Terminates the thread, whatever it is doing. Does nothing if the thread has ended. */
  end(): void;
}

export interface PoolWorkerSettings {
  /** Module whose export `serve` takes a ThreadStart. */
  readonly entry: URL;
  readonly youngGenerationMibMax: number;
  /**
   * Called if the thread failed before it received its task (it could not be loaded). If null, an exception is thrown.
   */
  readonly onLoadFault: ((fault: unknown) => void) | null;
}

/**
 * Starts a Piscina instance with one thread. The pool, not Piscina, decides which threads exist and which Runs they
 * get.
 */
export function startWorker(start: ThreadStart, settings: PoolWorkerSettings): PoolWorker {
  const piscina = new Piscina({
    filename: settings.entry.href,
    name: 'serve',
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: {
      maxYoungGenerationSizeMb: settings.youngGenerationMibMax,
      maxOldGenerationSizeMb: OLD_GENERATION_MIB_MAX,
    },
  });
  const worker = piscina.threads[0]!;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const unloaded = new Promise<unknown>((resolve) => {
    piscina.on('error', (fault: unknown) => {
      if (settings.onLoadFault === null) throw fault;
      settings.onLoadFault(fault);
      resolve(fault);
    });
  });
  const task = piscina.run(start, { transferList: [start.port] }).then(
    () => null,
    (fault: unknown) => fault,
  );
  let isEnding = false;
  // While the thread is ending, a second call of `destroy` would make Piscina start another thread in its place.
  const end = (): void => {
    if (!isEnding) void piscina.destroy();
    isEnding = true;
  };
  const ended = Promise.race([task, unloaded]).then((fault) => {
    // Otherwise Piscina would start another thread in place of the one that died.
    end();
    return fault;
  });
  return { ended, exited, isOwn: false, end };
}

/** Wraps the caller's own thread, which ends when its work does. */
export function ownWorker(work: Promise<void>): PoolWorker {
  const ended = work.then(
    () => null,
    (fault: unknown) => fault,
  );
  return { ended, exited: ended.then(() => undefined), isOwn: true, end: () => undefined };
}

// The thread registry of the pool: starts threads, ends unresponsive ones, replaces lost ones, and adds a spare thread
// if all are silent. Does not assign Runs. States of a thread here: working (starting, ready) → ending (its Runs were
// reported as interrupted) → exited. A thread that does not end is stuck: it is counted, and another thread with
// another number replaces it.

/**
 * Number of spare threads, which work while all others are silent. A spare is not replaced, and ends when it is no
 * longer needed.
 */
const SPARE_THREADS_MAX = 1;

/**
 * Maximum number of threads that do not end and are replaced nevertheless. Each occupies a core and its memory. If
 * more threads do not end, the node reports that it must be restarted.
 */
export const STUCK_THREADS_MAX = EXTRA_THREADS_MAX - SPARE_THREADS_MAX;

/**
 * Maximum time for a thread to end after termination: JavaScript and WebAssembly end within some ms; native code ends
 * when it returns.
 */
const END_MILLISECONDS_MAX = 500;

/** Time for the threads to end by themselves when the pool closes. */
const STOP_MILLISECONDS_MAX = 2_000;

/**
 * Additional time until they have exited. A thread that has just started, or a busy machine, needs longer than usual,
 * and ending the process while threads exist ends it with a signal.
 */
const EXIT_MILLISECONDS_MAX = 2_000;

/** Delay before a thread that could not start is started again, so that a broken entry module causes no busy loop. */
const RESTART_MILLISECONDS = 100;

/** Delay before a thread that the system refused is requested again: other threads must end first. */
const REFUSED_MILLISECONDS = 5_000;

/**
 * Idle time after which the spare thread ends. It does not end immediately, because the Run that blocked the other
 * threads may do so again.
 */
const SPARE_IDLE_MILLISECONDS_MAX = 30_000;

export interface ThreadRegistrySettings {
  readonly threads: number;
  readonly hasSpare: boolean;
  /** Starts the task of the thread. */
  readonly startWorker: (start: ThreadStart) => PoolWorker;
  /** Start data shared by all threads. */
  readonly shared: Omit<ThreadStart, 'thread' | 'port' | 'control' | 'cancel' | 'claims'>;
  /** Called when a thread is ready, or one of its tasks has ended. */
  readonly onCapacity: () => void;
  /** Called before the Runs of a lost thread are interrupted. */
  readonly onLosing: (thread: PoolThread) => void;
  /** Called after the Runs of a lost thread were interrupted. The thread may still be running. */
  readonly onLost: (thread: number, fault: unknown) => void;
  readonly onStuck: (thread: number) => void;
  /** Called when a thread has exited and no longer holds any memory. */
  readonly onExit: (thread: number) => void;
}

interface Member {
  readonly thread: PoolThread;
  readonly worker: PoolWorker;
  readonly isSpare: boolean;
  /** The reason that was passed to `end`; null: `end` was not called. */
  fault: Error | null;
  /** Time at which the termination began (performance.now). */
  endingAt: number | null;
  isStuck: boolean;
  /** For a spare: last time at which it had work (performance.now). */
  busyAt: number;
}

export class ThreadRegistry {
  /** The working threads. */
  threads: PoolThread[] = [];
  /** The spare thread among them. */
  spare: PoolThread | null = null;
  #settings: ThreadRegistrySettings;
  /** Indexed by number. */
  #members: (Member | null)[];
  #wanted = 0;
  #closed = false;

  constructor(settings: ThreadRegistrySettings) {
    this.#settings = settings;
    this.#members = new Array(settings.threads + EXTRA_THREADS_MAX).fill(null);
  }

  /** Number of existing system threads. */
  get size(): number {
    return this.#all().length;
  }

  /** Number of threads that do not end. */
  get stuck(): number {
    return this.#all().filter(({ isStuck }) => isStuck).length;
  }

  /** True if a state change is pending that `check` must detect. */
  get isUnsettled(): boolean {
    return this.spare !== null || this.#all().some(({ endingAt, isStuck }) => endingAt !== null && !isStuck);
  }

  /** Sets the number of working threads. */
  want(threads: number): void {
    this.#wanted = threads;
    this.#refill();
  }

  /** Terminates a thread: its Runs are interrupted immediately, whatever it is doing. */
  end(thread: PoolThread, fault: Error): void {
    const member = this.#members[thread.thread]!;
    member.fault ??= fault;
    this.#ending(member, fault);
    member.worker.end();
  }

  /** Called when all threads are silent while a Run waits: adds a thread for new Runs. */
  startSpare(): void {
    if (!this.#settings.hasSpare || this.#closed || this.stuck > STUCK_THREADS_MAX) return;
    // A spare that is ending keeps its number until it has exited.
    const spares = this.#all().filter(({ isSpare, isStuck }) => isSpare && !isStuck).length;
    if (spares < SPARE_THREADS_MAX) this.#start(true);
  }

  check(now: number): void {
    for (const member of this.#all()) {
      if (member.endingAt !== null && !member.isStuck && now - member.endingAt >= END_MILLISECONDS_MAX) {
        member.isStuck = true;
        this.#settings.onStuck(member.thread.thread);
        this.#refill();
      }
      if (!member.isSpare || member.endingAt !== null) continue;
      if (member.thread.load > 0) member.busyAt = now;
      else if (member.thread.ready && now - member.busyAt >= SPARE_IDLE_MILLISECONDS_MAX) this.#retire(member, now);
    }
  }

  /** Asks the threads to end, then terminates them. Running Runs are interrupted. */
  async close(): Promise<void> {
    this.#closed = true;
    const now = performance.now();
    const members = this.#all();
    // A thread that is still starting has nothing to end, and a silent one does not respond; the caller's own thread
    // responds when it is done.
    const willing = members.filter(
      ({ thread, worker, endingAt }) => endingAt === null && (worker.isOwn || (thread.ready && !thread.isSilent(now))),
    );
    for (const { thread } of members) thread.post({ kind: 'stop' });
    await within(STOP_MILLISECONDS_MAX, Promise.all(willing.map(({ worker }) => worker.ended)));
    for (const { thread, worker } of members) {
      thread.lose();
      worker.end();
    }
    // Stuck threads have already had their time.
    const ending = members.filter(({ isStuck }) => !isStuck);
    await within(EXIT_MILLISECONDS_MAX, Promise.all(ending.map(({ worker }) => worker.exited)));
  }

  #all(): Member[] {
    return this.#members.filter((member) => member !== null);
  }

  /** Replaces the threads that have ended or hang. */
  #refill(): void {
    if (this.#closed) return;
    const filled = this.#all().filter(({ isSpare, isStuck }) => !isSpare && !isStuck).length;
    if (this.stuck > STUCK_THREADS_MAX) return;
    for (let missing = this.#wanted - filled; missing > 0 && this.#start(false); missing -= 1);
  }

  /** Returns false if the system cannot provide a thread now. */
  #start(isSpare: boolean): boolean {
    const { shared, startWorker, onCapacity } = this.#settings;
    const number = this.#members.indexOf(null);
    const thread = new PoolThread({ ...shared, thread: number }, onCapacity);
    const worker = this.#workerOf(thread, startWorker);
    if (worker === null) return false;
    const member: Member = {
      thread,
      worker,
      isSpare,
      fault: null,
      endingAt: null,
      isStuck: false,
      busyAt: performance.now(),
    };
    this.#members[number] = member;
    this.threads.push(thread);
    if (isSpare) this.spare = thread;
    void worker.ended.then((fault) => this.#ending(member, member.fault ?? fault));
    void worker.exited.then(() => this.#exited(member));
    return true;
  }

  /** Returns null if the system cannot provide a thread now and others exist. Throws if no other exists. */
  #workerOf(thread: PoolThread, startWorker: ThreadRegistrySettings['startWorker']): PoolWorker | null {
    try {
      return startWorker(thread.start);
    } catch (fault) {
      if (this.size === 0) throw fault;
      this.#settings.onLost(thread.thread, fault);
      if (!this.#closed) setTimeout(() => this.#refill(), REFUSED_MILLISECONDS);
      return null;
    }
  }

  #ending(member: Member, fault: unknown): void {
    const { thread } = member;
    if (member.endingAt !== null) return;
    this.#leave(member, performance.now());
    if (!this.#closed) this.#settings.onLosing(thread);
    thread.lose();
    if (!this.#closed) this.#settings.onLost(thread.thread, fault);
  }

  #retire(member: Member, now: number): void {
    this.#leave(member, now);
    member.thread.post({ kind: 'stop' });
  }

  #leave(member: Member, now: number): void {
    member.endingAt = now;
    this.threads = this.threads.filter((thread) => thread !== member.thread);
    if (this.spare === member.thread) this.spare = null;
  }

  #exited({ thread }: Member): void {
    this.#members[thread.thread] = null;
    this.#settings.onExit(thread.thread);
    if (!this.#closed) setTimeout(() => this.#refill(), RESTART_MILLISECONDS);
  }
}

/** Resolves when the work is done or the time is over. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
