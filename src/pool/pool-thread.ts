// One worker thread from the view of the main thread: its Runs, batching of messages per event loop turn, its
// heartbeat. Neither starts nor ends threads (thread-registry.ts). States: starting (its messages wait in the port) →
// ready → lost (its Runs were interrupted, it accepts no others).
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { FaultText } from '../../workers/protocol/fault-text.ts';
import { FRAME_MESSAGES_MAX, type Frame } from '../../workers/protocol/frame.ts';
import type {
  FromWorker,
  RunTask,
  ShareOpened,
  TaskOutcome,
  ThreadStart,
  ToWorker,
} from '../../workers/protocol/messages.ts';
import {
  CANCEL_FLAGS,
  CONTROL_BEAT,
  CONTROL_SLOTS,
  CONTROL_TASK,
  NO_ACCOUNT,
  NO_TASK,
} from '../../workers/protocol/messages.ts';
import { messagesOf } from '../../workers/protocol/outcome-codec.ts';
import { newClaims, TaskClaims } from '../../workers/protocol/task-claims.ts';
import { TaskEncoder } from '../../workers/protocol/task-codec.ts';

/** Result of a task. `interrupted` means that its thread was lost. */
export type TaskEnd =
  | { readonly kind: 'done'; readonly outcome: TaskOutcome }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'interrupted' }
  | ({ readonly kind: 'fault' } & FaultText);

/** A Run in the pool. */
export interface PooledRun {
  readonly task: number;
  /** Rows read so far, at most half a second old while the Run works. */
  rowsRead(): number;
  /** Reports the current size of the source file. */
  grown(bytes: number, ended: boolean): void;
  /** Its end is reported like any other, unless it has already ended. */
  cancel(): void;
  /** Same as `cancel`, but only if it waits for bytes; otherwise it continues to process the bytes that it has. */
  suspend(): void;
}

export interface ThreadTask {
  task: RunTask;
  /** Called exactly once. */
  readonly ended: (end: TaskEnd) => void;
  /** Called once, some time after a thread has begun the task. Not called if the task has already ended. */
  readonly begun: () => void;
  /** True if the task's bytes were transferred to the thread, so that they are not available for another thread. */
  readonly isGiven: boolean;
  /** Called when the thread processes the file in parts (see ShareOpened). Null if it must not. */
  readonly opened: ((share: ShareOpened) => void) | null;
  /** True if the thread is lent to a Run of another thread, and leaves it when another Run needs the thread. */
  readonly isLent: boolean;
  /** Returns the transferred bytes again; null if the task must stay with its thread. */
  readonly bytesAgain: (() => Uint8Array) | null;
  /** The thread to which the task is assigned. */
  thread: PoolThread | null;
  /** Time of the assignment (performance.now). */
  placedAt: number;
  isBegun: boolean;
  /** Rows read so far, as the thread last reported. */
  rowsRead: number;
  /** Last reported size of the source. */
  grown: { readonly bytes: number; readonly ended: boolean } | null;
  /** Time at which a cancel was sent (performance.now). */
  cancelledAt: number | null;
}

/**
 * A thread with Runs whose heartbeat has not changed for this long is silent: it gets no new Runs, and the Runs that it
 * has not begun move to another thread. A heartbeat is due every 8 ms of work (workers/run/run.ts). A Run of 1 KB that
 * waits for it, or for a replacement thread (60 ms), should finish within 250 ms.
 */
const SILENCE_MILLISECONDS = 100;

/**
 * Additional time for a cancelled Run in a thread whose heartbeat continues: its Runs take turns, and the cancelled one
 * notices only in its next turn. A dozen Runs with long batches on a busy machine need more than a few seconds for
 * that.
 */
const CANCEL_TURNS_MILLISECONDS_MAX = 60_000;

/**
 * Cost of a Run in addition to its bytes, as an equivalent number of bytes: about 40 µs, in which the engine reads 4
 * KiB. Work is measured in bytes of uploads.
 */
const RUN_WORK_BYTES = 4 * 1024;

/** Maximum work of a Run that may share a thread with others. */
const SMALL_WORK_BYTES_MAX = RUN_WORK_BYTES + 16 * 1024;

/**
 * Small Runs go to one thread until it has this much work, about 5 ms: waking a second thread for some of them costs
 * more than it saves. With 64 clients on two cores, this gives 11 to 17 % more Runs per second than round-robin.
 */
const SHARED_WORK_BYTES_MAX = 512 * 1024;

/** Assumed work of a file. It is larger than what stays in memory and may still grow, so nothing shares its thread. */
const FILE_WORK_BYTES = SHARED_WORK_BYTES_MAX;

/** Less than a file, so that further Runs rather go to a thread that is lent. */
const LENT_WORK_BYTES = FILE_WORK_BYTES - 1;

/**
 * Maximum time since a thread has ended a Run. After a longer time, no further Run joins the thread, because a slow Run
 * blocks the Runs after it.
 */
const SHARED_PAUSE_MILLISECONDS_MAX = 10;

/**
 * An entry in the map of tasks. A map that has grown old leaves its former tables, with their content, to the collector
 * of the old generation. Therefore an ended task is removed from its entry, so that its request is not kept alive.
 */
interface TaskEntry {
  held: ThreadTask | null;
  readonly workBytes: number;
}

export class PoolThread {
  readonly thread: number;
  /** Start data of the thread's single task. The port must be transferred. */
  readonly start: ThreadStart;
  ready = false;
  #port: MessagePort;
  /** Shared with the thread: its heartbeat, and the current task. */
  #control: Int32Array;
  #cancel: Int32Array;
  #claims: TaskClaims;
  #tasks = new Map<number, TaskEntry>();
  #sender = new TaskEncoder();
  #workBytes = 0;
  #lastBeat = 0;
  #lastBeatAt = performance.now();
  /** Last time at which the thread received work while idle, or sent a message. */
  #lastHeardAt = 0;
  /** Last time at which the thread was idle. */
  #lastIdleAt = 0;
  #distrustedBeat: number | null = null;
  #onEnded: () => void;

  /** @param onEnded called after each task that has ended, and when the thread is ready */
  constructor(start: Omit<ThreadStart, 'port' | 'control' | 'cancel' | 'claims'>, onEnded: () => void) {
    const { port1, port2 } = new MessageChannel();
    const control = new SharedArrayBuffer(CONTROL_SLOTS * Int32Array.BYTES_PER_ELEMENT);
    const cancel = new SharedArrayBuffer(CANCEL_FLAGS * Int32Array.BYTES_PER_ELEMENT);
    const claims = newClaims();
    this.thread = start.thread;
    this.start = { ...start, port: port2, control, cancel, claims };
    this.#port = port1;
    this.#control = new Int32Array(control);
    this.#control[CONTROL_TASK] = NO_TASK;
    this.#cancel = new Int32Array(cancel);
    this.#claims = new TaskClaims(claims);
    this.#onEnded = onEnded;
    // Task numbers begin at 0, and new memory contains zeros, which must not count as cancel flags.
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

  /** True if it has Runs and its heartbeat has not changed for too long at `now` (performance.now). */
  isSilent(now: number): boolean {
    return this.silentFor(now) >= SILENCE_MILLISECONDS;
  }

  /** Milliseconds of silence at `now` (performance.now), since the heartbeat was last checked; 0 without Runs. */
  silentFor(now: number): number {
    const beat = Atomics.load(this.#control, CONTROL_BEAT);
    if (beat !== this.#lastBeat) {
      this.#lastBeat = beat;
      this.#lastBeatAt = now;
    }
    if (beat !== this.#distrustedBeat) return this.load === 0 ? 0 : now - Math.max(this.#lastBeatAt, this.#lastIdleAt);
    return now - this.#lastBeatAt;
  }

  /** True if the thread is silent at `now` (performance.now) because a Run of this account does not yield. */
  isBlockedBy(accountRow: number, now: number): boolean {
    if (accountRow === NO_ACCOUNT || !this.isSilent(now)) return false;
    const working = this.#tasks.get(Atomics.load(this.#control, CONTROL_TASK))?.held ?? null;
    return working?.task.accountRow === accountRow;
  }

  /**
   * Called when its offered task was given to another thread: it counts as silent until its heartbeat changes or it
   * sends a message.
   */
  distrust(): void {
    this.#distrustedBeat = this.#lastBeat;
  }

  /** Reports the tasks begun since the last call. Returns the tasks that have not begun. */
  check(): ThreadTask[] {
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

  /** Rank among the threads that may take a task at `now` (performance.now). The lowest rank takes it. */
  rank({ source }: RunTask, now: number): number {
    const work = workBytesOf(source);
    const isPaused = this.load > 0 && now - this.#lastHeardAt > SHARED_PAUSE_MILLISECONDS_MAX;
    const isShared = work <= SMALL_WORK_BYTES_MAX && this.#workBytes + work <= SHARED_WORK_BYTES_MAX && !isPaused;
    return isShared ? -1 - this.#workBytes : this.#workBytes;
  }

  /** Offers the task to the thread. Returns false if there is no space for the offer. */
  run(held: ThreadTask, now: number): boolean {
    const { task } = held;
    if (!this.#claims.offer(task.task)) return false;
    const workBytes = held.isLent ? LENT_WORK_BYTES : workBytesOf(task.source);
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

  /** Withdraws a task. Returns false if it has begun or ended here. */
  withdraw(held: ThreadTask): boolean {
    const { task } = held.task;
    const entry = this.#tasks.get(task);
    if (entry === undefined || !this.#claims.take(task)) return false;
    this.#forget(task, entry);
    held.thread = null;
    return true;
  }

  /** Sends the new size of the source. Does nothing if the task has ended. */
  grow({ task: { task }, grown }: ThreadTask): void {
    if (grown !== null && this.#tasks.has(task)) this.post({ kind: 'grown', task, ...grown });
  }

  /** Does nothing if the task has ended. */
  cancel(held: ThreadTask, now: number): void {
    const { task } = held.task;
    if (!this.#tasks.has(task)) return;
    held.cancelledAt ??= now;
    Atomics.store(this.#cancel, task % CANCEL_FLAGS, task);
    this.post({ kind: 'cancel', task });
  }

  /** Does nothing if the task has ended. */
  suspend({ task: { task } }: ThreadTask): void {
    if (this.#tasks.has(task)) this.post({ kind: 'suspend', task });
  }

  /** True if a cancelled task should have ended by `now`: after `patience` milliseconds if the thread is silent. */
  isOverdue(now: number, patience: number): boolean {
    const patienceTotal = this.silentFor(now) >= patience ? patience : patience + CANCEL_TURNS_MILLISECONDS_MAX;
    for (const { held } of this.#tasks.values()) {
      const cancelledAt = held?.cancelledAt ?? null;
      if (cancelledAt !== null && now - cancelledAt > patienceTotal) return true;
    }
    return false;
  }

  /** Afterwards the bytes of a task's source must not be used. */
  post(message: ToWorker): void {
    if (this.#sender.size === 0) setImmediate(() => this.#flush());
    this.#sender.add(message);
    if (this.#sender.size >= FRAME_MESSAGES_MAX) this.#flush();
  }

  /** Called when the thread has ended, and its Runs with it. */
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
    if (message.kind === 'progress') {
      held.rowsRead = message.rowsRead;
      return;
    }
    if (message.kind === 'share_opened') {
      held.opened?.(message);
      return;
    }
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
