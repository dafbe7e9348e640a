// The phase `compute` of a Run whose rows several threads process by key (execution/keys/row-streams.ts explains the
// phases). No part of the file is read: each thread takes streams of rows, runs the operation on them, and writes the
// new cells.
import { join } from 'node:path';
import { finderIn, storedTypes } from '../batch/schema.ts';
import { StreamResults, streamReader } from '../execution/keys/row-streams.ts';
import { StreamFile, StreamFiles } from '../execution/spill/stream-files.ts';
import type { FileHead } from '../input/reader.ts';
import { FileSource } from '../input/source/file-source.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { ARENA_BYTES, Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES, runShare } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import { type KeyedStep, keyedStep } from '../plan/plan.ts';
import { Cancelled, Failed, MemoryWanted } from '../protocol/failure.ts';
import { exchangeFolder, type KeyPhase } from '../protocol/messages.ts';
import type { PartTurns } from '../protocol/part-turns.ts';
import { type Coroutine, inSlices, inSteps } from '../scheduling/coroutine.ts';
import { isSliced, nextTurnOfLoop, SliceClock } from '../scheduling/time-slices.ts';
import type { OperatorContext } from '../template/operation.ts';
import { beginningOf } from './run.ts';
import type { RunJob } from './run-job.ts';

export interface StreamJob extends Omit<RunJob, 'source' | 'progressed' | 'parts' | 'readAhead' | 'watch'> {
  readonly turns: PartTurns;
  readonly head: FileHead;
  readonly keyPhase: KeyPhase;
  /** True for the share that has the memory that is reserved for the Run. */
  readonly isFirst: boolean;
  /** True if another Run needs the thread, so that a thread that is lent leaves after its current stream. */
  isNeeded(): boolean;
}

export interface StreamShare {
  /** Numbers of the streams that the thread has processed. */
  readonly streams: readonly number[];
  /** Names of the files with their new cells. */
  readonly names: readonly string[];
  readonly busyMilliseconds: number;
}

/**
 * Processes streams until all have been taken, or until a thread that is lent has to leave. Throws Failed and Cancelled.
 */
export function* computeStreams(job: StreamJob): Coroutine<StreamShare> {
  const budget = runShare(job.budget);
  const folder = new SpillFolder(exchangeFolder(job.task), `${job.task.task}-cells-`);
  const streams: number[] = [];
  try {
    if (!job.isFirst && !budget.take(RUN_RESERVATION_BYTES)) return { streams, names: [], busyMilliseconds: 0 };
    const step = yield* stepOf(job);
    const computation = new StreamComputation(job, step, folder);
    try {
      for (let stream = nextStream(job); stream !== null; stream = nextStream(job)) {
        yield* computation.run(stream);
        streams.push(stream);
      }
      computation.end();
      return { streams, names: folder.names, busyMilliseconds: computation.busyMilliseconds };
    } finally {
      computation.close();
    }
  } catch (error) {
    if (error instanceof MemoryWanted)
      throw new Failed('RUN_RESOURCE_LIMIT', 'A row needs more memory than a stream has.');
    throw error;
  } finally {
    folder.closeFiles();
    budget.releaseAll();
  }
}

function nextStream({ turns, isFirst, isNeeded }: StreamJob): number | null {
  if (!isFirst && isNeeded()) return null;
  const stream = turns.takePart();
  return typeof stream === 'number' ? stream : null;
}

/** The keyed step of the plan. Reads nothing, because the head of the file is known. */
function* stepOf({ turns, head, keyPhase, isFirst, isNeeded, ...job }: StreamJob): Coroutine<KeyedStep> {
  if (job.task.source.kind !== 'file') throw new Error('a source in memory is not processed in parts');
  const source = new FileSource(job.task.source.path);
  source.grown(0, true);
  try {
    const beginning = yield* beginningOf({ ...job, task: { ...job.task, part: { number: 1, head } }, source });
    const step = beginning && keyedStep(beginning.plan);
    if (step === null) throw new Failed('RUN_RESOURCE_LIMIT', 'The plan of the file was refused.');
    return step;
  } finally {
    source.close();
  }
}

/** Memory of a share for its streams, which use it one after the other: new memory costs a page fault for each 4 KiB. */
class StreamComputation {
  readonly #job: StreamJob;
  readonly #step: KeyedStep;
  readonly #rows: StreamFiles;
  readonly #folder: SpillFolder;
  readonly #cells: StreamFile;
  readonly #kernel: Kernel;
  readonly #clock: SliceClock;
  #borrowedBytes = 0;

  constructor(job: StreamJob, step: KeyedStep, cells: SpillFolder) {
    this.#job = job;
    this.#step = step;
    this.#folder = new SpillFolder(exchangeFolder(job.task));
    this.#kernel = job.kernels.borrow();
    this.#clock = new SliceClock(() => {
      job.beat();
      if (job.cancelled()) throw new Cancelled();
    });
    this.#rows = new StreamFiles(this.#folder, job.keyPhase.rows);
    this.#cells = new StreamFile(cells);
  }

  get busyMilliseconds(): number {
    return this.#clock.busyMilliseconds;
  }

  *run(stream: number): Coroutine<void> {
    const { task, budget, kernels } = this.#job;
    const kernel = this.#kernel;
    const asideBytes = Math.max(0, task.reservationBytes - RUN_RESERVATION_BYTES);
    const paidBytes = task.reservationBytes - asideBytes;
    const views = kernels.viewsOf(kernel);
    const heap = new Heap(kernel.memory, kernel.exports.heapStart(), budget, paidBytes, asideBytes, NO_LOAN, views);
    const spill = new SpillFolder(join(exchangeFolder(task), `stream-${stream}`));
    try {
      const arena = new Arena(heap, ARENA_BYTES, (bytes) => kernels.madeTexts(bytes));
      const context = this.#contextOf(arena, spill);
      const results = new StreamResults(context, storedTypes(this.#step.made), this.#cells, stream);
      yield* this.#operate(stream, context, results);
      results.end();
    } finally {
      this.#borrowedBytes += heap.borrowedBytes;
      spill.remove();
    }
  }

  end(): void {
    this.#cells.end();
  }

  close(): void {
    this.#folder.closeFiles();
    this.#job.kernels.release(this.#kernel, this.#borrowedBytes);
  }

  *#operate(stream: number, context: OperatorContext, results: StreamResults): Coroutine<void> {
    const { definition, plan } = this.#step.step;
    const next = streamReader(context, this.#step.streams, this.#rows.stream(stream));
    const starting = definition.start(plan, { ...context, next: (made) => results.add(made) });
    const operator = isSliced(starting)
      ? yield* inSlices(starting, { clock: this.#clock, giveWay: () => this.#rest() })
      : starting;
    for (let batch = next(); batch !== null; batch = next()) {
      context.arena.clear();
      for (const _ of operator.push(batch)) if (this.#clock.isDue()) yield this.#rest();
      if (this.#clock.check()) yield this.#rest();
    }
    context.arena.clear();
    if (operator.finish !== undefined)
      yield* inSteps(operator.finish(), context.arena, this.#clock, () => this.#rest());
    const { cells_changed, errors } = context.report;
    const isCounted = Object.keys(errors).some((code) => code !== 'NUMBERS_AS_TEXT');
    if (cells_changed > 0 || isCounted)
      throw new Failed('RUN_RESOURCE_LIMIT', 'Rows have errors that are counted in order.');
  }

  #rest(): Promise<void> {
    return this.#clock.rest(this.#job.turn ?? nextTurnOfLoop);
  }

  /** The operation sees only the columns that it reads, and a column of order numbers. */
  #contextOf(arena: Arena, spill: SpillFolder): OperatorContext {
    const { task, head, budget } = this.#job;
    const { step, reads, made } = this.#step;
    const orders = { id: -1, name: '', type: 'number' } as const;
    const input = [...reads, orders];
    return {
      input,
      output: [orders, ...made],
      indexOf: finderIn(input),
      layout: [reads.length, ...made.map(() => -1)],
      headers: new Map(),
      next: () => [],
      ahead: null,
      kernel: this.#kernel,
      arena,
      budget,
      spill,
      tables: new Map(),
      report: {
        operation: step.operation.name,
        id: step.operation.id,
        rows_in: 0,
        rows_out: 0,
        cells_changed: 0,
        errors: {},
      },
      errors: REFUSED_ERRORS,
      where: null,
      cellWhere: new Map(),
      beforeRows() {
        throw new Error('a keyed operation reads no tables');
      },
      clock: this.#clock,
      defersRows() {},
      startedAt: task.startedAt,
      fileName: task.fileName ?? null,
      meta: head.meta ?? {},
      fileOf: null,
      secretsDirectory: task.secretsDirectory,
    };
  }
}

/** The file is read as a whole if a row needs more memory than the budget has. */
const NO_LOAN = { tryLend: () => false, hasLent: false };

function refuseErrors(): never {
  throw new Failed('RUN_RESOURCE_LIMIT', 'Row errors are reported in the order of the file.');
}

const REFUSED_ERRORS = { report: refuseErrors, failCheck: refuseErrors, counts: {} };
