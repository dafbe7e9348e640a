// The Runs of one worker thread: starts them as messages say, tells their sources how far the files have grown, cancels
// them. States of a Run here: running → done | cancelled | fault, each told to the main thread, then forgotten.
import type { MessagePort } from 'node:worker_threads';
import { type BudgetShare, largeRowOwner, threadShare } from './budget.ts';
import { type Collector, ThreadCollector } from './collector.ts';
import { CoreShare } from './core-share.ts';
import { Cancelled } from './failure.ts';
import { BytesSource } from './input/bytes-source.ts';
import { FileSource } from './input/file-source.ts';
import { Scout } from './input/scout/scout.ts';
import { KernelPool } from './kernel/kernel-pool.ts';
import {
  CANCEL_FLAGS,
  CONTROL_BEAT,
  type RunOutcome,
  type RunTask,
  type ThreadStart,
  type ToWorker,
} from './messages.ts';
import { Outbox } from './outbox.ts';
import { taskOutcome } from './outcome-packer.ts';
import { MemorySink } from './output/memory-sink.ts';
import { OutputTurns } from './output/output-turns.ts';
import type { Parcel } from './parcel.ts';
import { runTemplate } from './run.ts';
import { TableCache } from './tables/table-cache.ts';
import { TaskUnpacker } from './task-packer.ts';
import { TemplateCache } from './template/template-cache.ts';
import { settle, type Waits } from './waits.ts';

/** Milliseconds between two beats of a thread that has nothing to do: below the silence that keeps new Runs away. */
const IDLE_BEAT_MILLISECONDS = 100;

/** The output of a part is about as large as the part (PART_SIZES). */
const PART_ROOM_BYTES = 12 * 1024 * 1024;

/** What a thread that also does other things has already. */
interface Shared {
  readonly templates?: TemplateCache;
  readonly collector?: Collector;
}

export class Thread {
  readonly #port: MessagePort;
  readonly #outbox: Outbox;
  readonly #budget: BudgetShare;
  readonly #control: Int32Array;
  readonly #cancel: Int32Array;
  readonly #largeRow: Int32Array;
  readonly #turns: OutputTurns;
  /** Of parts that have ended: their room is used again. */
  readonly #partBytes: MemorySink[] = [];
  readonly #number: number;
  readonly #kernels: KernelPool;
  readonly #cores: CoreShare;
  readonly #scout: Scout;
  readonly #templates: TemplateCache;
  readonly #tables = new TableCache();
  readonly #sources = new Map<number, BytesSource | FileSource>();
  /** Runs over bytes in memory hardly wait, so one after the other is as fast as together, in one kernel's memory. */
  readonly #inMemory: RunTask[] = [];
  #isInMemoryAtWork = false;

  constructor(start: ThreadStart, { templates = new TemplateCache(), collector = new ThreadCollector() }: Shared = {}) {
    this.#templates = templates;
    this.#port = start.port;
    this.#outbox = new Outbox(start.port);
    this.#budget = threadShare(new Int32Array(start.budget), start.thread);
    this.#control = new Int32Array(start.control);
    this.#cancel = new Int32Array(start.cancel);
    this.#largeRow = new Int32Array(start.largeRow);
    this.#turns = new OutputTurns(start.turns);
    this.#number = start.thread;
    this.#cores = new CoreShare(start.cores, start.thread);
    this.#scout = new Scout(this.#cores);
    this.#kernels = new KernelPool(start.kernels, this.#budget, collector);
  }

  /** Takes messages until `stop`. */
  async serve(): Promise<void> {
    const tasks = new TaskUnpacker();
    const beat = setInterval(() => this.#beat(), IDLE_BEAT_MILLISECONDS);
    try {
      await new Promise<void>((resolve) => {
        this.#port.on('message', (parcel: Parcel) => {
          this.#beat();
          for (const message of tasks.messages(parcel)) {
            if (message.kind === 'stop') resolve();
            else this.#receive(message);
          }
        });
        this.#outbox.send({ kind: 'ready', thread: this.#number });
      });
    } finally {
      clearInterval(beat);
      this.#port.close();
      await this.#scout.end();
    }
  }

  #receive(message: Exclude<ToWorker, { kind: 'stop' }>): void {
    if (message.kind === 'start') {
      this.#start(message.task);
      return;
    }
    if (message.kind === 'cancel') Atomics.store(this.#cancel, message.task % CANCEL_FLAGS, message.task);
    const source = this.#sources.get(message.task);
    if (source === undefined) return; // it waits for its turn, or has ended while the message was on its way
    if (message.kind === 'cancel') {
      if (source instanceof FileSource) source.cancel();
    } else if (source instanceof FileSource) source.grown(message.bytes, message.ended);
  }

  #start(task: RunTask): void {
    const { source } = task;
    if (source.kind === 'file') void this.#runOverFile(task, new FileSource(source.path, task.part?.from));
    else {
      this.#inMemory.push(task);
      if (!this.#isInMemoryAtWork) void settle(this.#runInMemory());
    }
  }

  async #runOverFile(task: RunTask, source: FileSource): Promise<void> {
    this.#cores.take();
    try {
      await settle(this.#run(task, source));
    } finally {
      this.#cores.give();
    }
  }

  *#runInMemory(): Waits<void> {
    this.#isInMemoryAtWork = true;
    for (let task = this.#inMemory.shift(); task !== undefined; task = this.#inMemory.shift()) {
      if (task.source.kind === 'bytes') yield* this.#run(task, new BytesSource(task.source.bytes));
    }
    this.#isInMemoryAtWork = false;
  }

  *#run(task: RunTask, source: BytesSource | FileSource): Waits<void> {
    this.#sources.set(task.task, source);
    const bytes = this.#partBytes.pop() ?? new MemorySink(Number.POSITIVE_INFINITY, PART_ROOM_BYTES);
    try {
      if (this.#isCancelled(task)) throw new Cancelled();
      const outcome = yield* runTemplate({
        task,
        prepared: this.#templates.get(task.template),
        source,
        kernels: this.#kernels,
        budget: this.#budget,
        largeRow: this.#largeRow,
        largeRowOwner: largeRowOwner(this.#number),
        shared: { turns: this.#turns, bytes },
        tables: this.#tables,
        scout: this.#scout,
        cancelled: () => this.#isCancelled(task),
        beat: () => this.#beat(),
      });
      this.#done(task, outcome);
    } catch (error) {
      this.#lost(task, error);
    } finally {
      this.#partBytes.push(bytes);
      this.#sources.delete(task.task);
      source.close();
    }
  }

  #isCancelled({ task }: RunTask): boolean {
    return Atomics.load(this.#cancel, task % CANCEL_FLAGS) === task;
  }

  #done(task: RunTask, outcome: RunOutcome): void {
    this.#outbox.send({ kind: 'done', task: task.task, outcome: taskOutcome(outcome) });
  }

  #lost(task: RunTask, error: unknown): void {
    if (error instanceof Cancelled) this.#outbox.send({ kind: 'cancelled', task: task.task });
    else {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      this.#outbox.send({ kind: 'fault', task: task.task, message, stack: stack ?? '' });
    }
  }

  #beat(): void {
    Atomics.add(this.#control, CONTROL_BEAT, 1);
  }
}
