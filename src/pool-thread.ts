// One worker thread as the main thread sees it: its Runs, its messages of one turn gathered into one post, its heartbeat.
// It neither starts nor ends threads: pool.ts does.
// States: starting (its messages wait in the port) → ready → lost (its Runs were interrupted; a new one takes its number).
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { FromWorker, RunTask, TaskOutcome, ThreadStart, ToWorker } from '../workers/messages.ts';
import { CANCEL_FLAGS, CONTROL_BEAT, CONTROL_SLOTS } from '../workers/messages.ts';
import { messagesOf } from '../workers/outcome-packer.ts';
import { PARCEL_MESSAGES_MAX, type Parcel } from '../workers/parcel.ts';
import { TaskPacker } from '../workers/task-packer.ts';

/** How a task ended. `interrupted`: its thread was lost. */
export type TaskEnd =
  | { readonly kind: 'done'; readonly outcome: TaskOutcome }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'fault'; readonly message: string; readonly stack: string };

export interface ThreadTask {
  readonly task: RunTask;
  /** Called exactly once. */
  readonly ended: (end: TaskEnd) => void;
  /** Where it was placed. */
  thread: PoolThread | null;
  /** What the source had grown to when it was last said. */
  grown: { readonly bytes: number; readonly ended: boolean } | null;
  /** Set when a cancel was sent: when the thread must have reacted. */
  cancelBy: number | null;
}

/** A thread whose beat stands still for this long gets no new Runs. */
export const SILENCE_MILLISECONDS = 250;

/** A thread that stands still and has not ended a cancelled Run within this time is terminated, its other Runs with it. */
export const CANCEL_MILLISECONDS_MAX = 5_000;

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
 * A place in the map of tasks. A map that grew old leaves its former tables, with all that was in them, to the collector
 * of what is old: a task that has ended is taken out of its place, so that nothing of its request is left with them.
 */
interface Place {
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
  #tasks = new Map<number, Place>();
  #outbox = new TaskPacker();
  #workBytes = 0;
  #lastBeat = 0;
  #lastBeatAt = performance.now();
  /** When it last began to have work, or said something. */
  #lastHeardAt = 0;
  #onEnded: () => void;

  /** @param onEnded called after each task that ended */
  constructor(start: Omit<ThreadStart, 'port' | 'control' | 'cancel'>, onEnded: () => void) {
    const { port1, port2 } = new MessageChannel();
    const control = new SharedArrayBuffer(CONTROL_SLOTS * Int32Array.BYTES_PER_ELEMENT);
    const cancel = new SharedArrayBuffer(CANCEL_FLAGS * Int32Array.BYTES_PER_ELEMENT);
    this.thread = start.thread;
    this.start = { ...start, port: port2, control, cancel };
    this.#port = port1;
    this.#beat = new Int32Array(control);
    this.#cancel = new Int32Array(cancel);
    this.#onEnded = onEnded;
    // Numbers of tasks begin at 0, and so do the flags of new memory.
    this.#cancel.fill(-1);
    port1.on('message', (parcel: Parcel) => {
      this.#lastHeardAt = performance.now();
      for (const message of messagesOf(parcel)) this.#receive(message);
    });
  }

  get load(): number {
    return this.#tasks.size;
  }

  /** Whether it has been silent for too long at `now` (performance.now). */
  isSilent(now: number): boolean {
    const beat = Atomics.load(this.#beat, CONTROL_BEAT);
    if (beat !== this.#lastBeat) {
      this.#lastBeat = beat;
      this.#lastBeatAt = now;
    }
    return now - this.#lastBeatAt >= SILENCE_MILLISECONDS;
  }

  /** Where it stands among the threads that may take a task at `now` (performance.now): the lowest takes it. */
  rank({ source }: RunTask, now: number): number {
    const work = workBytesOf(source);
    const isPaused = this.load > 0 && now - this.#lastHeardAt > SHARED_PAUSE_MILLISECONDS_MAX;
    const isShared = work <= SMALL_WORK_BYTES_MAX && this.#workBytes + work <= SHARED_WORK_BYTES_MAX && !isPaused;
    return isShared ? -1 - this.#workBytes : this.#workBytes;
  }

  run(task: ThreadTask): void {
    const workBytes = workBytesOf(task.task.source);
    if (this.load === 0) this.#lastHeardAt = performance.now();
    this.#workBytes += workBytes;
    this.#tasks.set(task.task.task, { held: task, workBytes });
    this.post({ kind: 'start', task: task.task });
    task.thread = this;
    this.grow(task);
  }

  /** Tells what the source has grown to. Nothing happens when the task has ended. */
  grow({ task: { task }, grown }: ThreadTask): void {
    if (grown !== null && this.#tasks.has(task)) this.post({ kind: 'grown', task, ...grown });
  }

  /** Nothing happens when the task has ended. */
  cancel(held: ThreadTask, cancelBy: number): void {
    const { task } = held.task;
    if (!this.#tasks.has(task)) return;
    held.cancelBy ??= cancelBy;
    Atomics.store(this.#cancel, task % CANCEL_FLAGS, task);
    this.post({ kind: 'cancel', task });
  }

  /** Whether a cancelled task should have ended before `now`. */
  isOverdue(now: number): boolean {
    const patience = now - this.#lastBeatAt >= CANCEL_MILLISECONDS_MAX ? 0 : CANCEL_TURNS_MILLISECONDS_MAX;
    for (const { held } of this.#tasks.values()) {
      const cancelBy = held?.cancelBy ?? null;
      if (cancelBy !== null && cancelBy + patience < now) return true;
    }
    return false;
  }

  /** The bytes of a task's source must not be used any more. */
  post(message: ToWorker): void {
    if (this.#outbox.size === 0) setImmediate(() => this.#flush());
    this.#outbox.add(message);
    if (this.#outbox.size >= PARCEL_MESSAGES_MAX) this.#flush();
  }

  /** The thread has ended: so have its Runs. */
  lose(): void {
    this.ready = false;
    this.#port.close();
    const places = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const { held } of places) held?.ended({ kind: 'interrupted' });
  }

  #flush(): void {
    if (this.#outbox.size === 0) return;
    const parcel = this.#outbox.parcel();
    this.#port.postMessage(parcel, parcel.buffers);
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'ready') {
      this.ready = true;
      this.#lastBeatAt = performance.now();
      this.#onEnded();
      return;
    }
    const place = this.#tasks.get(message.task);
    if (place === undefined) return;
    const held = place.held as ThreadTask;
    place.held = null;
    this.#workBytes -= place.workBytes;
    this.#tasks.delete(message.task);
    held.ended(message.kind === 'done' ? { kind: 'done', outcome: message.outcome } : message);
    this.#onEnded();
  }
}

function workBytesOf(source: RunTask['source']): number {
  return source.kind === 'file' ? FILE_WORK_BYTES : RUN_WORK_BYTES + source.bytes.length;
}
