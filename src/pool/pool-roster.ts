// Which threads the pool has: starts them, ends those that do not react, replaces what is lost, and lets one more stand in
// where all are silent. It does not place Runs.
// States of a thread here: working (starting, ready) → ending (its Runs were reported, by force or by its own end) → gone, or
// stuck before that: it does not end, is counted, and another one takes its place under another number.
import { EXTRA_THREADS_MAX } from '../../workers/memory/budget.ts';
import type { ThreadStart } from '../../workers/protocol/messages.ts';
import { PoolThread } from './pool-thread.ts';
import type { PoolWorker } from './pool-worker.ts';

/** One more thread that works while all others are silent. It is not replaced, and ends when nobody needs it any more. */
const SPARE_THREADS_MAX = 1;

/**
 * Threads that do not end and are replaced all the same. Each burns a core and keeps its memory: a node that has lost more
 * is to be started anew, and says so.
 */
export const STUCK_THREADS_MAX = EXTRA_THREADS_MAX - SPARE_THREADS_MAX;

/** JavaScript and WebAssembly end within some ms; native code ends when it returns. */
const END_MILLISECONDS_MAX = 500;

/** How long the threads get to end by themselves when the pool closes. */
const STOP_MILLISECONDS_MAX = 2_000;

/**
 * And then how long until they are gone: one that has only just started, or a busy machine, takes longer than a thread at
 * work, and a process that is ended under it ends by a signal.
 */
const GONE_MILLISECONDS_MAX = 2_000;

/** A thread that cannot start is tried again after this time, so that a broken entry does not spin. */
const RESTART_MILLISECONDS = 100;

/** One that the system refuses is asked for again after this time: others have to end first. */
const REFUSED_MILLISECONDS = 5_000;

/** The spare thread ends when it has had nothing to do for so long: who holds up all others once may do it again. */
const SPARE_IDLE_MILLISECONDS_MAX = 30_000;

export interface RosterSettings {
  readonly threads: number;
  readonly hasSpare: boolean;
  /** Starts the thread's task. */
  readonly startWorker: (start: ThreadStart) => PoolWorker;
  /** What all threads are started with. */
  readonly shared: Omit<ThreadStart, 'thread' | 'port' | 'control' | 'cancel' | 'claims'>;
  /** A thread is ready, or one of its tasks has ended. */
  readonly onRoom: () => void;
  /** Its Runs are about to be interrupted. */
  readonly onLosing: (thread: PoolThread) => void;
  /** They were, though it may still be at work. */
  readonly onLost: (thread: number, fault: unknown) => void;
  readonly onStuck: (thread: number) => void;
  /** It holds nothing any more. */
  readonly onGone: (thread: number) => void;
}

interface Member {
  readonly thread: PoolThread;
  readonly worker: PoolWorker;
  readonly isSpare: boolean;
  /** Why it was ended by force. */
  fault: Error | null;
  /** When it began to end (performance.now). */
  endingAt: number | null;
  isStuck: boolean;
  /** A spare's: when it last had something to do (performance.now). */
  busyAt: number;
}

export class ThreadRoster {
  /** Those that work. */
  threads: PoolThread[] = [];
  /** The one among them that stands in. */
  spare: PoolThread | null = null;
  #settings: RosterSettings;
  /** By number. */
  #members: (Member | null)[];
  #wanted = 0;
  #closed = false;

  constructor(settings: RosterSettings) {
    this.#settings = settings;
    this.#members = new Array(settings.threads + EXTRA_THREADS_MAX).fill(null);
  }

  /** Threads of the system that there are. */
  get size(): number {
    return this.#all().length;
  }

  /** Threads that do not end. */
  get stuck(): number {
    return this.#all().filter(({ isStuck }) => isStuck).length;
  }

  /** Whether there is something that `look` waits for. */
  get isUnsettled(): boolean {
    return this.spare !== null || this.#all().some(({ endingAt, isStuck }) => endingAt !== null && !isStuck);
  }

  /** So many threads are to work from now on. */
  want(threads: number): void {
    this.#wanted = threads;
    this.#refill();
  }

  /** Ends a thread by force: its Runs are interrupted now, whatever it does. */
  end(thread: PoolThread, fault: Error): void {
    const member = this.#members[thread.thread]!;
    member.fault ??= fault;
    this.#ending(member, fault);
    member.worker.end();
  }

  /** All threads are silent while somebody waits: one more takes what is new. */
  standIn(): void {
    if (!this.#settings.hasSpare || this.#closed || this.stuck > STUCK_THREADS_MAX) return;
    // One that is just ending has its number until it is gone.
    const spares = this.#all().filter(({ isSpare, isStuck }) => isSpare && !isStuck).length;
    if (spares < SPARE_THREADS_MAX) this.#start(true);
  }

  look(now: number): void {
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

  /** Lets the threads end, then ends them. What still runs is interrupted. */
  async close(): Promise<void> {
    this.#closed = true;
    const now = performance.now();
    const members = this.#all();
    // One that is still being started has nothing to end, a silent one does not hear; the caller's own hears when it is done.
    const willing = members.filter(
      ({ thread, worker, endingAt }) => endingAt === null && (worker.isOwn || (thread.ready && !thread.isSilent(now))),
    );
    for (const { thread } of members) thread.post({ kind: 'stop' });
    await within(STOP_MILLISECONDS_MAX, Promise.all(willing.map(({ worker }) => worker.ended)));
    for (const { thread, worker } of members) {
      thread.lose();
      worker.end();
    }
    // Those that are stuck had their time.
    const ending = members.filter(({ isStuck }) => !isStuck);
    await within(GONE_MILLISECONDS_MAX, Promise.all(ending.map(({ worker }) => worker.gone)));
  }

  #all(): Member[] {
    return this.#members.filter((member) => member !== null);
  }

  /** As many as are wanted, in the place of those that are gone or stuck. */
  #refill(): void {
    if (this.#closed) return;
    const filled = this.#all().filter(({ isSpare, isStuck }) => !isSpare && !isStuck).length;
    if (this.stuck > STUCK_THREADS_MAX) return;
    for (let missing = this.#wanted - filled; missing > 0 && this.#start(false); missing -= 1);
  }

  /** False: the system has no thread now. */
  #start(isSpare: boolean): boolean {
    const { shared, startWorker, onRoom } = this.#settings;
    const number = this.#members.indexOf(null);
    const thread = new PoolThread({ ...shared, thread: number }, onRoom);
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
    void worker.gone.then(() => this.#gone(member));
    return true;
  }

  /** null: the system has no thread now, and those that there are go on. The first ones are needed. */
  #workerOf(thread: PoolThread, startWorker: RosterSettings['startWorker']): PoolWorker | null {
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

  #gone({ thread }: Member): void {
    this.#members[thread.thread] = null;
    this.#settings.onGone(thread.thread);
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
