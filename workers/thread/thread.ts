// The Runs of one worker thread, and how they take turns.
import type { MessagePort } from 'node:worker_threads';
import { TableCache } from '../execution/tables/run-tables.ts';
import type { InputFormat } from '../input/format.ts';
import { inputFormats } from '../input/index.ts';
import { ReadAheadThread } from '../input/read-ahead/read-ahead-thread.ts';
import { BytesSource } from '../input/source/bytes-source.ts';
import { FileSource } from '../input/source/file-source.ts';
import { AccountShare } from '../memory/account-share.ts';
import { BUDGET_LIMIT, BUDGET_UNIT_BYTES, type BudgetShare, largeRowOwner, threadShare } from '../memory/budget.ts';
import {
  type Collector,
  collectingShare,
  SharedMemories,
  spareMemoryBytesMax,
  ThreadCollector,
} from '../memory/collector.ts';
import { KernelPool } from '../memory/kernel-pool.ts';
import { TemplateCache } from '../plan/template-cache.ts';
import { Cancelled } from '../protocol/failure.ts';
import { faultText } from '../protocol/fault-text.ts';
import type { Frame } from '../protocol/frame.ts';
import {
  CANCEL_FLAGS,
  CONTROL_BEAT,
  CONTROL_TASK,
  type FileParts,
  NO_ACCOUNT,
  type RunOutcome,
  type RunTask,
  type ThreadStart,
  type ToWorker,
} from '../protocol/messages.ts';
import { FrameSender, taskOutcome } from '../protocol/outcome-codec.ts';
import { PartTurns } from '../protocol/part-turns.ts';
import { RunProgress, TaskClaims } from '../protocol/task-claims.ts';
import { TaskDecoder } from '../protocol/task-codec.ts';
import { runTemplate } from '../run/run.ts';
import type { RunJob } from '../run/run-job.ts';
import { processShare, SpareMemory } from '../run/run-share.ts';
import { headForParts } from '../run/split.ts';
import { CoreShare } from '../scheduling/core-share.ts';
import { type Coroutine, runCoroutine } from '../scheduling/coroutine.ts';
import { ThreadTurns } from '../scheduling/time-slices.ts';

// The Runs of one worker thread. Starts and cancels them as messages request, and forwards the growth of uploads to
// their sources. States of a Run: running -> done | cancelled | fault. The thread sends each end state to the main
// thread and then forgets the Run.

/**
 * Interval between the beats of a thread whose Runs wait for bytes, in milliseconds. Well below the silence after
 * which the main thread takes Runs from a thread.
 */
const IDLE_BEAT_MILLISECONDS = 40;

/**
 * Maximum number of active Runs over bytes in memory. Each runs for 8 ms at a time (SLICE_MILLISECONDS), so that the
 * next Run waits at most an eighth of a second for its turn. Further Runs are taken by another thread.
 */
const IN_MEMORY_AT_WORK_MAX = 16;

/** Dependencies of a thread besides its start parameters. */
export interface ThreadDependencies {
  /** Set for a thread that also does other work and therefore already has these objects. */
  readonly templates?: TemplateCache;
  readonly collector?: Collector;
  /** See RunJob. */
  readonly formats?: readonly InputFormat[];
}

/** Interval between reports of the progress of a Run. Most Runs end before the first one. */
const PROGRESS_MILLISECONDS = 500;

export class Thread {
  readonly #port: MessagePort;
  readonly #sender: FrameSender;
  readonly #counters: Int32Array;
  readonly #budget: BudgetShare;
  readonly #control: Int32Array;
  readonly #cancel: Int32Array;
  readonly #largeRow: Int32Array;
  readonly #turns = new ThreadTurns();
  readonly #number: number;
  readonly #progress: SharedArrayBuffer | null;
  readonly #kernels: KernelPool;
  readonly #cores: CoreShare;
  readonly #readAhead: ReadAheadThread;
  readonly #templates: TemplateCache;
  readonly #formats: readonly InputFormat[];
  readonly #tables = new TableCache();
  readonly #spareMemory = new SpareMemory();
  /** Sources of the active Runs over files. They receive the `grown` messages. */
  readonly #sources = new Map<number, FileSource>();
  readonly #claims: TaskClaims;
  /**
   * Runs over bytes in memory that wait for their turn. Such a Run rarely waits after its start, so that running them
   * one after the other is as fast as running them together, and needs the memory of only one kernel.
   */
  readonly #inMemory: RunTask[] = [];
  #isTakingInMemory = false;
  /** Runs over bytes in memory that took longer than one turn of the event loop. Other Runs start meanwhile. */
  readonly #longInMemory = new Set<Promise<void>>();
  /** Memory of shared Runs that are over, or that the thread has left. */
  readonly #memories: SharedMemories;
  readonly #beat = (): void => void Atomics.add(this.#control, CONTROL_BEAT, 1);

  constructor(start: ThreadStart, given: ThreadDependencies = {}) {
    const { templates = new TemplateCache(), formats = inputFormats } = given;
    this.#templates = templates;
    this.#formats = formats;
    this.#port = start.port;
    this.#sender = new FrameSender(start.port);
    this.#counters = new Int32Array(start.budget);
    const budgetBytes = this.#counters[BUDGET_LIMIT]! * BUDGET_UNIT_BYTES;
    const { collector = new ThreadCollector(budgetBytes) } = given;
    this.#budget = collectingShare(threadShare(this.#counters, start.thread), collector);
    this.#control = new Int32Array(start.control);
    this.#cancel = new Int32Array(start.cancel);
    this.#claims = new TaskClaims(start.claims);
    this.#largeRow = new Int32Array(start.largeRow);
    this.#number = start.thread;
    this.#progress = start.progress;
    this.#cores = new CoreShare(start.cores, start.thread);
    this.#readAhead = new ReadAheadThread(this.#cores);
    this.#kernels = new KernelPool(start.kernels, this.#budget, collector);
    this.#memories = new SharedMemories(collector, spareMemoryBytesMax(budgetBytes));
  }

  /** Handles messages until `stop`. */
  async serve(): Promise<void> {
    const tasks = new TaskDecoder();
    const beat = setInterval(this.#beat, IDLE_BEAT_MILLISECONDS);
    try {
      await new Promise<void>((resolve) => {
        this.#port.on('message', (frame: Frame) => {
          this.#beat();
          for (const message of tasks.messages(frame)) {
            if (message.kind === 'stop') resolve();
            else this.#receive(message);
          }
        });
        this.#sender.send({ kind: 'ready', thread: this.#number });
      });
    } finally {
      clearInterval(beat);
      this.#port.close();
      await this.#readAhead.end();
    }
  }

  #receive(message: Exclude<ToWorker, { kind: 'stop' }>): void {
    if (message.kind === 'start') {
      this.#start(message.task);
      return;
    }
    if (message.kind === 'cancel') Atomics.store(this.#cancel, message.task % CANCEL_FLAGS, message.task);
    const source = this.#sources.get(message.task);
    if (source === undefined) return; // the Run has ended meanwhile, or already has all bytes
    if (message.kind === 'cancel') source.cancel();
    else if (message.kind === 'suspend') source.suspend();
    else source.grown(message.bytes, message.ended);
  }

  #start(task: RunTask): void {
    const { source } = task;
    if (source.kind === 'bytes') {
      this.#inMemory.push(task);
      if (!this.#isTakingInMemory) void runCoroutine(this.#takeInMemory());
    } else if (this.#claims.take(task.task)) {
      void this.#runOverFile(task, new FileSource(source.path));
    }
  }

  async #runOverFile(task: RunTask, source: FileSource): Promise<void> {
    this.#cores.take();
    this.#sources.set(task.task, source);
    try {
      // One message may start many Runs. They take turns from their first time slice on.
      if (this.#sources.size > 1) await this.#turns.next(task.accountRow ?? NO_ACCOUNT);
      await runCoroutine(this.#run(task, source));
    } finally {
      this.#sources.delete(task.task);
      this.#cores.release();
    }
  }

  *#takeInMemory(): Coroutine<void> {
    this.#isTakingInMemory = true;
    for (let task = this.#inMemory.shift(); task !== undefined; task = this.#inMemory.shift()) {
      // A task that waited for long may have been given to another thread.
      if (task.source.kind !== 'bytes' || !this.#claims.take(task.task)) continue;
      const work = runCoroutine(this.#run(task, new BytesSource(task.source.bytes)));
      if (work instanceof Promise) yield this.#giveWay(work);
    }
    this.#isTakingInMemory = false;
  }

  /**
   * Resolves when the next Run over bytes in memory may start: when this Run has ended, or after one turn of the event loop
   * as soon as fewer than IN_MEMORY_AT_WORK_MAX such Runs are active.
   */
  async #giveWay(work: Promise<void>): Promise<void> {
    this.#longInMemory.add(work);
    void work.then(() => this.#longInMemory.delete(work));
    const nextTurn = new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.race([work, nextTurn]);
    while (this.#longInMemory.size >= IN_MEMORY_AT_WORK_MAX) await Promise.race(this.#longInMemory);
  }

  /** Reports the progress of a Run: in shared memory if it is shown there, and at most twice a second in a message. */
  #progressed(task: RunTask, shown: RunProgress | null): (rowsRead: number) => void {
    let reportedAt = performance.now();
    return (rowsRead) => {
      shown?.update(rowsRead);
      const now = performance.now();
      if (now - reportedAt < PROGRESS_MILLISECONDS) return;
      reportedAt = now;
      this.#sender.send({ kind: 'progress', task: task.task, rowsRead });
    };
  }

  *#run(task: RunTask, source: BytesSource | FileSource): Coroutine<void> {
    const budget = new AccountShare(this.#counters, this.#number, task.accountRow ?? NO_ACCOUNT, this.#budget);
    const progress = this.#progress === null ? null : new RunProgress(this.#progress, source);
    const beat = (): void => this.#beatFor(task);
    beat();
    try {
      if (this.#isCancelled(task)) throw new Cancelled();
      // One literal: copying a job with `...` took a tenth of the thread time of a small Run.
      const job: RunJob = {
        task,
        prepared: this.#templates.get(task.template),
        source,
        kernels: this.#kernels,
        budget,
        threadBudget: this.#budget,
        largeRow: this.#largeRow,
        largeRowOwner: largeRowOwner(this.#number),
        tables: this.#tables,
        formats: this.#formats,
        turn: () => this.#turns.next(task.accountRow ?? NO_ACCOUNT),
        cancelled: () => this.#isCancelled(task),
        beat,
        progressed: this.#progressed(task, progress),
        readAhead: this.#readAhead,
      };
      const share = task.parts === undefined ? null : yield* this.#shareOf(job, source as FileSource, task.parts);
      this.#done(task, share ?? (yield* runTemplate(job)));
    } catch (error) {
      this.#lost(task, error);
    } finally {
      budget.leave();
      source.close();
      // The Run may have had no use for memory of an earlier Run.
      if (task.parts?.head === null && task.parts.keys !== null) this.#memories.drop(task.parts.keys.memory);
    }
  }

  /** Processes parts of the file. Returns null if the Run has to be processed as a whole. Throws Cancelled. */
  *#shareOf({ readAhead, ...job }: RunJob, source: FileSource, parts: FileParts): Coroutine<RunOutcome | null> {
    const { task } = job;
    const turns = new PartTurns(parts.turns, parts.partBytes);
    const { head: knownHead, keyPhase, isFirst } = parts;
    const begun = knownHead === null ? yield* headForParts(job) : { ...parts, head: knownHead, opensLate: false };
    if (begun === null) return null;
    const { head, keys, opensLate } = begun;
    if (knownHead === null) turns.lowerPartBytes(begun.partBytes);
    const first = {
      opensLate,
      opened: (): void => this.#sender.sendNow({ kind: 'share_opened', task: task.task, head, keys }),
      arrival: (): Promise<void> => {
        source.seek(source.sizeBytes);
        return source.wait();
      },
    };
    let mayReturn = false;
    try {
      const outcome = yield* processShare({
        ...job,
        turns,
        keys,
        keyPhase,
        head,
        // Bytes that are read a second time are not progress.
        progress: keyPhase.phase === 'match' ? null : this.#progress,
        spareMemory: this.#spareMemory,
        first: isFirst ? first : null,
        isNeeded: () => this.#sources.size > 1 || this.#isTakingInMemory,
      });
      source.rewind();
      // A thread that leaves a Run before its end may come back.
      mayReturn = !isFirst && outcome?.failure === null && turns.left > 0;
      return outcome;
    } finally {
      if (keys !== null) this.#memories.drop(keys.memory, mayReturn);
    }
  }

  /**
   * Called by a Run whenever it starts to use the thread. If the beat stops, the pool then knows which Run was
   * running.
   */
  #beatFor({ task }: RunTask): void {
    Atomics.store(this.#control, CONTROL_TASK, task);
    this.#beat();
  }

  #isCancelled({ task }: RunTask): boolean {
    return Atomics.load(this.#cancel, task % CANCEL_FLAGS) === task;
  }

  #done(task: RunTask, outcome: RunOutcome): void {
    this.#sender.send({ kind: 'done', task: task.task, outcome: taskOutcome(outcome) });
  }

  #lost(task: RunTask, error: unknown): void {
    if (error instanceof Cancelled) this.#sender.send({ kind: 'cancelled', task: task.task });
    else {
      this.#sender.send({ kind: 'fault', task: task.task, ...faultText(error) });
    }
  }
}
