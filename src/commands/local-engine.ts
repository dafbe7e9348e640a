// The engine for local files: its threads, memory budget and temporary folder, and Runs that are processed in parts.
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { OutputTurns } from '../../workers/output/sink/file-sink.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import {
  REJECTS_SUFFIX,
  type RunOutcome,
  type RunTask,
  type TaskOverrides,
  type TaskPart,
  type TaskTable,
  type ThreadStart,
} from '../../workers/protocol/messages.ts';
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode, type RunReport } from '../../workers/protocol/report.ts';
import { forgetProgress, PROGRESS_BYTES, progressOf } from '../../workers/protocol/task-claims.ts';
import { type PartSizes, partsOf } from '../../workers/run/split.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { Thread } from '../../workers/thread/thread.ts';
import { MemoryBudget } from '../admission/memory-budget.ts';
import { type PooledRun, ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import { localInput, makeTemporaryFolder } from './local-input.ts';
import type { LocalResult } from './run-summary.ts';

// Runs the parts of one Run in the threads of a pool and joins their results. See workers/run/split.ts.

export interface PartsJob {
  readonly pool: ThreadPool;
  /** The task of the whole Run. */
  readonly task: RunTask;
  readonly parts: readonly TaskPart[];
  /** Throws if a task did not end regularly, because of a fault of the program or a lost thread. */
  readonly outcomeOf: (end: TaskEnd) => RunOutcome;
}

/** The outcome of the whole Run; null: a part failed, and the output has been removed. Throws like `outcomeOf`. */
async function runParts(job: PartsJob): Promise<RunOutcome | null> {
  const { path } = job.task.output;
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  new OutputTurns(job.pool.turns).begin();
  const ends = await new Relay(job).ends();
  // Parts that were cancelled because another part failed carry no information about the file.
  const outcomes = ends.filter((end) => end !== null && end.kind !== 'cancelled').map((end) => job.outcomeOf(end!));
  if (outcomes.length === ends.length && outcomes.every(({ failure }) => failure === null)) return joined(outcomes);
  rmSync(path, { force: true });
  return null;
}

function hasSucceeded(end: TaskEnd): boolean {
  return end.kind === 'done' && end.outcome.failure === null;
}

/** Gives each thread one part at a time. A thread that is still starting gets no part. */
class Relay {
  readonly #job: PartsJob;
  readonly #ends: (TaskEnd | null)[];
  readonly #running = new Map<number, PooledRun>();
  #next = 0;
  #failed = false;
  #resolve: () => void = () => {};

  constructor(job: PartsJob) {
    this.#job = job;
    this.#ends = job.parts.map(() => null);
  }

  /** Results by part; null for parts that were not started because another part had failed. */
  async ends(): Promise<readonly (TaskEnd | null)[]> {
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.#startMore();
    await over;
    return this.#ends;
  }

  #startMore(): void {
    const { pool, parts } = this.#job;
    const wanted = Math.max(1, pool.liveThreads);
    while (!this.#failed && this.#running.size < wanted && this.#next < parts.length) this.#start(parts[this.#next++]!);
    if (this.#running.size === 0) this.#resolve();
  }

  #start(part: TaskPart): void {
    const { pool, task } = this.#job;
    const run = pool.run({ ...task, task: pool.nextTask(), part }, (end) => this.#ended(part, end));
    this.#running.set(part.number, run);
    run.grown(part.to, true);
  }

  #ended(part: TaskPart, end: TaskEnd): void {
    this.#ends[part.number] = end;
    this.#running.delete(part.number);
    if (!hasSucceeded(end)) {
      this.#failed = true;
      for (const run of this.#running.values()) run.cancel();
    }
    this.#startMore();
  }
}

function joined(parts: readonly RunOutcome[]): RunOutcome {
  const [first, ...others] = parts as readonly [RunOutcome, ...RunOutcome[]];
  const { report } = first;
  let { rowsWritten, busyMilliseconds } = first;
  let sizeBytes = first.output!.sizeBytes;
  for (const part of others) {
    addReport(report, part.report);
    rowsWritten = rowsWritten! + part.rowsWritten!;
    busyMilliseconds += part.busyMilliseconds;
    sizeBytes += part.output!.sizeBytes;
  }
  return { ...first, rowsWritten, busyMilliseconds, output: { ...first.output!, sizeBytes } };
}

/** Adds the report of the next part, whose row numbers count from the first row of that part. */
function addReport(report: RunReport, part: RunReport): void {
  const rowsBefore = report.rows_read;
  addCounts(report.input.errors, part.input.errors, rowsBefore);
  for (const [index, operation] of report.operations.entries()) {
    const more = part.operations[index]!;
    operation.rows_in += more.rows_in;
    operation.rows_out += more.rows_out;
    operation.cells_changed += more.cells_changed;
    addCounts(operation.errors, more.errors, rowsBefore);
  }
  report.output.formulas_guarded += part.output.formulas_guarded;
  report.rows_written += part.rows_written;
  report.rows_read += part.rows_read;
}

function addCounts(into: CodeCounts, from: CodeCounts, rowsBefore: number): void {
  for (const [key, { count, rows }] of Object.entries(from)) {
    const code = key as RowErrorCode;
    const known = into[code] ?? { count: 0, rows: [] };
    known.count += count;
    known.rows = [...known.rows, ...rows.map((row) => row + rowsBefore)].slice(0, REPORT_ROWS_MAX);
    into[code] = known;
  }
}

// The engine for local files: gives one command the threads, memory budget and temporary folder that the service has.

/** Outputs up to this size are returned in memory instead of in a file. */
const OUTPUT_MEMORY_BYTES_MAX = 1024 * 1024;

/**
 * Maximum young generation per thread, in MiB. The threads of one command repeat a few kinds of work and retain
 * hardly any objects.
 */
const YOUNG_GENERATION_MIB_MAX = 6;

/** No limits apply: a local run has no plan, so only the machine limits it. */
const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

export interface LocalEngineSettings {
  /** Maximum number of threads, including the calling thread. */
  readonly threads: number;
  /** Number of cores to use. If greater than the number of threads, large files are read ahead. */
  readonly cores: number;
  /** Number of files that will be run. A single file may be processed in parts. */
  readonly inputs: number;
  /** True: the work is done in the calling thread, which is the default. False: the calling thread stays free. */
  readonly ownThread?: boolean;
  readonly memoryBudgetBytes: number;
  readonly template: TemplateText;
  readonly tables: Readonly<Record<string, TaskTable>>;
  /** Folder of the secrets; null: no secrets. */
  readonly secretsDirectory: string | null;
  readonly overrides: TaskOverrides;
  /** PART_SIZES unless a test needs smaller parts; if set, a file is processed in parts even with one thread. */
  readonly partSizes?: PartSizes;
}

export class LocalEngine {
  readonly #settings: LocalEngineSettings;
  readonly #folder = makeTemporaryFolder('template-run-');
  readonly #budget: MemoryBudget;
  readonly #progress = new SharedArrayBuffer(PROGRESS_BYTES);
  readonly #pool: ThreadPool;
  readonly #startedAt = new Date().toISOString();
  readonly #templates = new TemplateCache();
  readonly #outputs = new Map<string, string>();
  /** Path from which each input is read. Needed because standard input can be copied only once. */
  readonly #inputs = new Map<string, string>();
  #inputBytes = 0;
  #closing: Promise<void> | null = null;
  /** Reason why a thread was lost, for the error report. The Runs of the thread only learn that it was lost. */
  #threadFault: unknown = null;

  constructor(settings: LocalEngineSettings) {
    this.#settings = settings;
    this.#budget = new MemoryBudget(settings.memoryBudgetBytes, settings.threads);
    this.#pool = new ThreadPool({
      threads: settings.threads,
      cores: settings.cores,
      youngGenerationMibMax: YOUNG_GENERATION_MIB_MAX,
      ...(settings.ownThread === false
        ? {}
        : { ownThread: (start: ThreadStart) => new Thread(start, { templates: this.#templates }).serve() }),
      budget: this.#budget.buffer,
      progress: this.#progress,
      onThreadLost: (_, fault) => {
        this.#threadFault = fault;
      },
      onThreadExit: (thread) => this.#budget.forgetThread(thread),
    });
    if (settings.inputs > 1) this.#pool.startAll();
  }

  /**
   * @param input a path, or "-" for standard input. Throws a system error if it cannot be read.
   * @param template replaces the Template of the settings
   * @param fileName name of the file for expressions; null if it has none
   */
  async run(
    input: string,
    template: TemplateText = this.#settings.template,
    fileName: string | null = input === '-' ? null : basename(input),
  ): Promise<LocalResult> {
    const start = performance.now();
    const task = this.#pool.nextTask();
    const outputPath = join(this.#folder, `${task}.output`);
    this.#outputs.set(input, outputPath);
    const path = this.#inputs.get(input) ?? (await localInput(input, join(this.#folder, `${task}.input`)));
    this.#inputs.set(input, path);
    const { size } = statSync(path);
    this.#inputBytes += size;
    const whole = { ...this.#task(task, path, outputPath), fileName, template };
    const inParts = await this.#runInParts(whole, size);
    const outcome = inParts?.outcome ?? (await this.#runWhole(whole, size));
    const parts = inParts?.parts ?? 1;
    return { input, outcome, parts, outputPath, milliseconds: performance.now() - start };
  }

  async #runInParts(task: RunTask, sizeBytes: number): Promise<{ outcome: RunOutcome; parts: number } | null> {
    const { inputs, threads, partSizes } = this.#settings;
    if (inputs > 1 || (threads < 2 && partSizes === undefined)) return null;
    const prepared = this.#templates.get(task.template);
    const parts = await partsOf(
      { task, sizeBytes, prepared, kernels: this.#pool.kernels, formats: inputFormats },
      partSizes,
    );
    if (parts === null) return null;
    this.#pool.startAll();
    const outcomeOf = (end: TaskEnd): RunOutcome => this.#outcomeOf(end);
    const outcome = await runParts({ pool: this.#pool, task, parts, outcomeOf });
    // The Run is then repeated as a whole, so its progress starts again.
    if (outcome === null) forgetProgress(this.#progress);
    return outcome && { outcome, parts: parts.length };
  }

  async #runWhole(task: RunTask, sizeBytes: number): Promise<RunOutcome> {
    const end = await new Promise<TaskEnd>((ended) => {
      this.#pool.run(task, ended).grown(sizeBytes, true);
    });
    return this.#outcomeOf(end);
  }

  #outcomeOf(end: TaskEnd): RunOutcome {
    if (end.kind === 'fault') throw new Error(`${end.message}\n${end.stack}`);
    if (end.kind !== 'done') throw new Error('the thread of the Run was lost', { cause: this.#threadFault });
    const { reportText, ...outcome } = end.outcome;
    return { ...outcome, report: JSON.parse(reportText) as RunReport };
  }

  /** Bytes of outputs written to disk so far. Small outputs stay in memory and are not counted. */
  get writtenBytes(): number {
    const sizes = [...this.#outputs.values()].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Rows read so far, and bytes read from the inputs. */
  get progress(): { readonly rows: number; readonly bytes: number } {
    return progressOf(this.#progress);
  }

  /** Total bytes of the inputs that have been started, whose sizes are known. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  /** Removes the remaining output files of an input. */
  discard(input: string): void {
    const path = this.#outputs.get(input);
    if (path === undefined) return;
    for (const file of [path, path + REJECTS_SUFFIX]) rmSync(file, { force: true });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#pool.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #task(task: number, path: string, outputPath: string): Omit<RunTask, 'template'> {
    const { overrides, tables, secretsDirectory } = this.#settings;
    return {
      task,
      source: { kind: 'file', path },
      ending: extname(path).slice(1).toLowerCase(),
      overrides,
      limits: NO_LIMITS,
      output: { path: outputPath, memoryBytesMax: OUTPUT_MEMORY_BYTES_MAX },
      spillDirectory: join(this.#folder, `${task}.spill`),
      tables,
      secretsDirectory,
      startedAt: this.#startedAt,
      showsHeaders: true,
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  }
}
