// One worker thread as the main thread sees it: its Runs, its messages of one turn gathered into one post, its heartbeat.
// It neither starts nor ends threads: pool-roster.ts does.
// States: starting (its messages wait in the port) → ready → lost (its Runs were interrupted, it takes no others).
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { FRAME_MESSAGES_MAX, type Frame } from '../../workers/protocol/frame.ts';
import type { FromWorker, RunTask, TaskOutcome, ThreadStart, ToWorker } from '../../workers/protocol/messages.ts';
import { CANCEL_FLAGS, CONTROL_BEAT, CONTROL_SLOTS } from '../../workers/protocol/messages.ts';
import { messagesOf } from '../../workers/protocol/outcome-codec.ts';
import { newClaims, TaskClaims } from '../../workers/protocol/task-claims.ts';
import { TaskEncoder } from '../../workers/protocol/task-codec.ts';

/** How a task ended. `interrupted`: its thread was lost. */
export type TaskEnd =
  | { readonly kind: 'done'; readonly outcome: TaskOutcome }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string };

export interface ThreadTask {
  task: RunTask;
  /** Called exactly once. */
  readonly ended: (end: TaskEnd) => void;
  /** Called once a thread has begun it, some time after; not when it has ended by then. */
  readonly begun: () => void;
  /** Its bytes are given away to the thread, and not there for another one. */
  readonly isGiven: boolean;
  /** Those bytes once more; null: it stays where it was placed. */
  readonly bytesAgain: (() => Uint8Array) | null;
  /** Where it was placed. */
  thread: PoolThread | null;
  /** When it was placed there (performance.now). */
  placedAt: number;
  isBegun: boolean;
  /** What the source had grown to when it was last said. */
  grown: { readonly bytes: number; readonly ended: boolean } | null;
  /** When a cancel was sent (performance.now). */
  cancelledAt: number | null;
}

/**
 * A thread with Runs whose beat stands still for this long is silent: it gets no new Runs, and those that it has not begun
 * go to another. Its beat is due each 8 ms of work (workers/run/run.ts), and a Run of 1 KB that waits for it, or for a thread
 * that is started in its place (60 ms), is to be through within 250 ms.
 */
const SILENCE_MILLISECONDS = 100;

/**
 * One whose beat goes on has this much longer: its Runs take turns, and a cancelled one sees it when its turn comes. A
 * dozen Runs with long batches on a busy machine take more than a few seconds for that.
 */
const CANCEL_TURNS_MILLISECONDS_MAX = 60_000;

/** Work is counted in bytes of uploads. What a Run costs beside its bytes: some 40 µs, in which the engine reads 4 KiB. */
const RUN_WORK_BYTES = 4 * 1024;

/** A Run of at most so much work joins others in one thread. */
const SMALL_WORK_BYTES_MAX = RUN_WORK_BYTES + 16 * 1024;

/**
 * Small Runs go to one thread until it has so much to do, some 5 ms: a second thread that is woken for some of them costs
 * more than it takes over. With 64 clients on two cores 11 to 17 % more Runs a second than in turns.
 */
const SHARED_WORK_BYTES_MAX = 512 * 1024;

/** A file is larger than what stays in memory, and may still grow: beside it nothing is shared. */
const FILE_WORK_BYTES = SHARED_WORK_BYTES_MAX;

/** Nothing joins a thread that has work and has ended none for so long: a costly Run holds up those behind it. */
const SHARED_PAUSE_MILLISECONDS_MAX = 10;

/**
 * An entry in the map of tasks. A map that grew old leaves its former tables, with all that was in them, to the collector
 * of what is old: a task that has ended is taken out of its entry, so that nothing of its request is left with them.
 */
interface TaskEntry {
  held: ThreadTask | null;
  readonly workBytes: number;
}

export class PoolThread {
  readonly thread: number;
  /** What the thread's one task is started with; the port must be transferred. */
  readonly start: ThreadStart;
  ready = false;
  #port: MessagePort;
  #beat: Int32Array;
  #cancel: Int32Array;
  #claims: TaskClaims;
  #tasks = new Map<number, TaskEntry>();
  #sender = new TaskEncoder();
  #workBytes = 0;
  #lastBeat = 0;
  #lastBeatAt = performance.now();
  /** When it last began to have work, or said something. */
  #lastHeardAt = 0;
  /** When it last had none. */
  #lastIdleAt = 0;
  #distrustedBeat: number | null = null;
  #onEnded: () => void;

  /** @param onEnded called after each task that ended, and when it is ready */
  constructor(start: Omit<ThreadStart, 'port' | 'control' | 'cancel' | 'claims'>, onEnded: () => void) {
    const { port1, port2 } = new MessageChannel();
    const control = new SharedArrayBuffer(CONTROL_SLOTS * Int32Array.BYTES_PER_ELEMENT);
    const cancel = new SharedArrayBuffer(CANCEL_FLAGS * Int32Array.BYTES_PER_ELEMENT);
    const claims = newClaims();
    this.thread = start.thread;
    this.start = { ...start, port: port2, control, cancel, claims };
    this.#port = port1;
    this.#beat = new Int32Array(control);
    this.#cancel = new Int32Array(cancel);
    this.#claims = new TaskClaims(claims);
    this.#onEnded = onEnded;
    // Numbers of tasks begin at 0, and so do the flags of new memory.
    this.#cancel.fill(-1);
    port1.on('message', (frame: Frame) => {
      this.#lastHeardAt = performance.now();
      this.#distrustedBeat = null;
      for (const message of messagesOf(frame)) this.#receive(message);
    });
  }

  get load(): number {
    return this.#tasks.size;
  }

  /** Whether it has Runs and its beat has stood still for too long at `now` (performance.now). */
  isSilent(now: number): boolean {
    return this.silentFor(now) >= SILENCE_MILLISECONDS;
  }

  /** For how many milliseconds it has been silent at `now` (performance.now), as far as the beat was looked at; 0 without Runs. */
  silentFor(now: number): number {
    const beat = Atomics.load(this.#beat, CONTROL_BEAT);
    if (beat !== this.#lastBeat) {
      this.#lastBeat = beat;
      this.#lastBeatAt = now;
    }
    if (beat !== this.#distrustedBeat) return this.load === 0 ? 0 : now - Math.max(this.#lastBeatAt, this.#lastIdleAt);
    return now - this.#lastBeatAt;
  }

  /** What it was offered was given to another one: it is silent until it beats or says something. */
  distrust(): void {
    this.#distrustedBeat = this.#lastBeat;
  }

  /** Tells of the tasks that it has begun since the last look. Returns those that it has not. */
  look(): ThreadTask[] {
    const waiting: ThreadTask[] = [];
    for (const { held } of this.#tasks.values()) {
      if (held === null || held.isBegun) continue;
      if (this.#claims.isOffered(held.task.task)) waiting.push(held);
      else {
        held.isBegun = true;
        held.begun();
      }
    }
    return waiting;
  }

  /** Where it stands among the threads that may take a task at `now` (performance.now): the lowest takes it. */
  rank({ source }: RunTask, now: number): number {
    const work = workBytesOf(source);
    const isPaused = this.load > 0 && now - this.#lastHeardAt > SHARED_PAUSE_MILLISECONDS_MAX;
    const isShared = work <= SMALL_WORK_BYTES_MAX && this.#workBytes + work <= SHARED_WORK_BYTES_MAX && !isPaused;
    return isShared ? -1 - this.#workBytes : this.#workBytes;
  }

  /** Offers it to the thread. False: there is no room for the offer. */
  run(held: ThreadTask, now: number): boolean {
    const { task } = held;
    if (!this.#claims.offer(task.task)) return false;
    const workBytes = workBytesOf(task.source);
    if (this.load === 0) {
      this.#lastHeardAt = now;
      this.#lastIdleAt = now;
    }
    this.#workBytes += workBytes;
    this.#tasks.set(task.task, { held, workBytes });
    this.post({ kind: 'start', task });
    held.thread = this;
    held.placedAt = now;
    this.grow(held);
    return true;
  }

  /** Takes a task back. False: it has begun or ended here. */
  withdraw(held: ThreadTask): boolean {
    const { task } = held.task;
    const entry = this.#tasks.get(task);
    if (entry === undefined || !this.#claims.take(task)) return false;
    this.#forget(task, entry);
    held.thread = null;
    return true;
  }

  /** Tells what the source has grown to. Nothing happens when the task has ended. */
  grow({ task: { task }, grown }: ThreadTask): void {
    if (grown !== null && this.#tasks.has(task)) this.post({ kind: 'grown', task, ...grown });
  }

  /** Nothing happens when the task has ended. */
  cancel(held: ThreadTask, now: number): void {
    const { task } = held.task;
    if (!this.#tasks.has(task)) return;
    held.cancelledAt ??= now;
    Atomics.store(this.#cancel, task % CANCEL_FLAGS, task);
    this.post({ kind: 'cancel', task });
  }

  /** Nothing happens when the task has ended. */
  setAside({ task: { task } }: ThreadTask): void {
    if (this.#tasks.has(task)) this.post({ kind: 'set_aside', task });
  }

  /** Whether at `now` a cancelled task should have ended: after so many milliseconds of patience where it is silent. */
  isOverdue(now: number, patience: number): boolean {
    const wholePatience = this.silentFor(now) >= patience ? patience : patience + CANCEL_TURNS_MILLISECONDS_MAX;
    for (const { held } of this.#tasks.values()) {
      const cancelledAt = held?.cancelledAt ?? null;
      if (cancelledAt !== null && now - cancelledAt > wholePatience) return true;
    }
    return false;
  }

  /** The bytes of a task's source must not be used any more. */
  post(message: ToWorker): void {
    if (this.#sender.size === 0) setImmediate(() => this.#flush());
    this.#sender.add(message);
    if (this.#sender.size >= FRAME_MESSAGES_MAX) this.#flush();
  }

  /** The thread has ended: so have its Runs. */
  lose(): void {
    this.ready = false;
    this.#port.close();
    const entries = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const { held } of entries) held?.ended({ kind: 'interrupted' });
  }

  #flush(): void {
    if (this.#sender.size === 0) return;
    const frame = this.#sender.frame();
    this.#port.postMessage(frame, frame.buffers);
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.ready = true;
      this.#lastBeatAt = performance.now();
      this.#onEnded();
      return;
    }
    const entry = this.#tasks.get(message.task);
    if (entry === undefined) return;
    const held = entry.held as ThreadTask;
    this.#forget(message.task, entry);
    held.ended(message.kind === 'done' ? { kind: 'done', outcome: message.outcome } : message);
    this.#onEnded();
  }

  #forget(task: number, entry: TaskEntry): void {
    entry.held = null;
    this.#workBytes -= entry.workBytes;
    this.#tasks.delete(task);
  }
}

function workBytesOf(source: RunTask['source']): number {
  return source.kind === 'file' ? FILE_WORK_BYTES : RUN_WORK_BYTES + source.bytes.length;
}
