// The engine for local files: its threads, memory budget and temporary folder, and Runs that are processed in parts.
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { PartTurns } from '../../workers/output/sink/file-sink.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import { faultOf } from '../../workers/protocol/fault-text.ts';
import {
  type FileParts,
  type PartOutcome,
  REJECTS_SUFFIX,
  type RunOutcome,
  type RunTask,
  type SharePiece,
  type TaskOverrides,
  type TaskTable,
  type ThreadStart,
} from '../../workers/protocol/messages.ts';
import { type CodeCounts, REPORT_ROWS_MAX, type RowErrorCode, type RunReport } from '../../workers/protocol/report.ts';
import { forgetProgress, PROGRESS_BYTES, progressOf } from '../../workers/protocol/task-claims.ts';
import { type PartSizes, partsOf, seemsSplittable } from '../../workers/run/split.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { Thread } from '../../workers/thread/thread.ts';
import { MemoryBudget } from '../admission/memory-budget.ts';
import { type PooledRun, ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import { grownSince, localInput, makeTemporaryFolder } from './local-input.ts';
import type { LocalResult } from './run-summary.ts';

// Runs the parts of one Run in the threads of a pool and joins their results. See workers/run/split.ts.

export interface SharedRunJob {
  readonly pool: ThreadPool;
  /** The task of the whole Run. */
  readonly task: RunTask;
  readonly parts: FileParts;
  /** Throws if a task did not end regularly, because of a fault of the program or a lost thread. */
  readonly outcomeOf: (end: TaskEnd) => RunOutcome;
}

/** Gives each thread a share of one Run as soon as the thread is ready. */
class SharedRun {
  readonly #job: SharedRunJob;
  readonly #turns: PartTurns;
  readonly #ends: TaskEnd[] = [];
  readonly #running = new Set<PooledRun>();
  #started = 0;
  #failed = false;
  #resolve: () => void = () => {};

  constructor(job: SharedRunJob) {
    this.#job = job;
    this.#turns = new PartTurns(job.pool.turns);
  }

  /** The outcome of the whole Run; null: a part failed, and the output has been removed. Throws like `outcomeOf`. */
  async outcome(): Promise<RunOutcome | null> {
    const { task, parts, outcomeOf } = this.#job;
    const { path } = task.output;
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    this.#turns.begin();
    const over = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.startMore();
    await over;
    // Shares that were cancelled because another one failed carry no information about the file.
    const outcomes = this.#ends.filter(({ kind }) => kind !== 'cancelled').map(outcomeOf);
    const whole = this.#failed ? null : joined(outcomes, parts.starts.length);
    if (whole === null) rmSync(path, { force: true });
    return whole;
  }

  /** Called at the start, and when a thread is ready or one of its tasks has ended. */
  startMore(): void {
    const { pool, parts } = this.#job;
    const wanted = Math.max(1, pool.liveThreads);
    while (!this.#failed && this.#started < wanted && this.#turns.taken < parts.starts.length) this.#start();
  }

  #start(): void {
    const { pool, task, parts } = this.#job;
    this.#started++;
    const run = pool.run({ ...task, task: pool.nextTask(), parts }, (end) => this.#ended(run, end));
    this.#running.add(run);
  }

  #ended(run: PooledRun, end: TaskEnd): void {
    this.#ends.push(end);
    this.#running.delete(run);
    if (end.kind !== 'done' || end.outcome.failure !== null) {
      this.#failed = true;
      for (const other of this.#running) other.cancel();
    }
    if (this.#running.size === 0) this.#resolve();
  }
}

/** Joins the outcomes of all shares. Null if no thread had the memory for the parts that are missing. */
function joined(shares: readonly RunOutcome[], partCount: number): RunOutcome | null {
  const pieces = shares.flatMap((share) => share.pieces!);
  if (pieces.reduce((count, { parts }) => count + parts.length, 0) < partCount) return null;
  const firstRows = firstRowsOf(pieces.flatMap(({ parts }) => parts));
  const ordered = pieces.toSorted((one, other) => one.parts[0]!.number - other.parts[0]!.number);
  // The report of the first part describes how the header was read.
  const [{ report }, ...others] = ordered as [SharePiece, ...SharePiece[]];
  for (const piece of others) addReport(report, piece, firstRows);
  const sum = (of: (piece: SharePiece) => number): number => pieces.reduce((total, piece) => total + of(piece), 0);
  // A thread that started late has no part and therefore no output.
  const { output, ...first } = shares.find((share) => share.output !== null)!;
  return {
    ...first,
    report,
    rowsWritten: sum(({ rowsWritten }) => rowsWritten),
    busyMilliseconds: shares.reduce((total, share) => total + share.busyMilliseconds, 0),
    output: { ...output!, sizeBytes: sum(({ sizeBytes }) => sizeBytes) },
  };
}

/** Number of rows in the file before each part. */
function firstRowsOf(parts: readonly PartOutcome[]): readonly number[] {
  const rows: number[] = [];
  for (const part of parts) rows[part.number] = part.rows;
  let before = 0;
  return rows.map((count) => {
    before += count;
    return before - count;
  });
}

/** Adds the report of a piece. Both reports have the operations of the Template. */
function addReport(report: RunReport, { parts, report: piece }: SharePiece, firstRows: readonly number[]): void {
  const rowOf = (row: number): number => {
    let before = 0;
    for (const { number, rows } of parts) {
      if (row <= before + rows) return firstRows[number]! + row - before;
      before += rows;
    }
    throw new Error('a row after the last part');
  };
  addCounts(report.input.errors, piece.input.errors, rowOf);
  for (const [index, operation] of report.operations.entries()) {
    const more = piece.operations[index]!;
    operation.rows_in += more.rows_in;
    operation.rows_out += more.rows_out;
    operation.cells_changed += more.cells_changed;
    addCounts(operation.errors, more.errors, rowOf);
  }
  report.output.formulas_guarded += piece.output.formulas_guarded;
  report.rows_written += piece.rows_written;
  report.rows_read += piece.rows_read;
}

/** Adds counts, and sorts the codes by their first row. */
function addCounts(into: CodeCounts, from: CodeCounts, rowOf: (row: number) => number): void {
  for (const [key, { count, rows }] of Object.entries(from)) {
    const code = key as RowErrorCode;
    const known = into[code] ?? { count: 0, rows: [] };
    known.count += count;
    known.rows = [...known.rows, ...rows.map(rowOf)].sort((one, other) => one - other).slice(0, REPORT_ROWS_MAX);
    into[code] = known;
  }
  const codes = Object.entries(into) as [RowErrorCode, { count: number; rows: number[] }][];
  codes.sort(([, one], [, other]) => (one.rows[0] ?? 0) - (other.rows[0] ?? 0));
  for (const [code] of codes) delete into[code];
  for (const [code, counts] of codes) into[code] = counts;
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
  /** The Run that several threads share now. */
  #shared: SharedRun | null = null;

  constructor(settings: LocalEngineSettings) {
    this.#settings = settings;
    this.#budget = new MemoryBudget(settings.memoryBudgetBytes, settings.threads);
    this.#pool = new ThreadPool({
      threads: settings.threads,
      cores: settings.cores,
      startsOne: true,
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
      onCapacity: () => this.#shared?.startMore(),
    });
    if (settings.inputs > 1) this.#pool.startAll();
  }

  /**
   * Applies a Template to one input. Throws a system error if the input cannot be read.
   *
   * @param input a path, or "-" for standard input
   * @param template defaults to the Template of the settings
   * @param fileName value of `run.file` in expressions; null for standard input
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
    const before = statSync(path);
    const { size } = before;
    this.#inputBytes += size;
    const whole = { ...this.#task(task, path, outputPath), fileName, template };
    const inParts = await this.#runInParts(whole, size);
    const outcome = inParts?.outcome ?? (await this.#runWhole(whole, size));
    const grownBytes = grownSince(before, path);
    const parts = inParts?.parts ?? 1;
    return { input, outcome, parts, outputPath, grownBytes, milliseconds: performance.now() - start };
  }

  async #runInParts(task: RunTask, sizeBytes: number): Promise<{ outcome: RunOutcome; parts: number } | null> {
    const { inputs, threads, partSizes } = this.#settings;
    if (inputs > 1 || (threads < 2 && partSizes === undefined)) return null;
    const prepared = this.#templates.get(task.template);
    const whole = { task, sizeBytes, prepared, kernels: this.#pool.kernels, formats: inputFormats };
    // The threads start while the header is read.
    if (seemsSplittable(whole, partSizes)) this.#pool.startAll();
    const parts = await partsOf(whole, partSizes);
    if (parts === null) return null;
    this.#pool.startAll();
    const outcomeOf = (end: TaskEnd): RunOutcome => this.#outcomeOf(end);
    this.#shared = new SharedRun({ pool: this.#pool, task, parts, outcomeOf });
    const outcome = await this.#shared.outcome();
    this.#shared = null;
    // The Run is then repeated as a whole, so its progress starts again.
    if (outcome === null) forgetProgress(this.#progress);
    return outcome && { outcome, parts: parts.starts.length };
  }

  async #runWhole(task: RunTask, sizeBytes: number): Promise<RunOutcome> {
    const end = await new Promise<TaskEnd>((ended) => {
      this.#pool.run(task, ended).grown(sizeBytes, true);
    });
    return this.#outcomeOf(end);
  }

  #outcomeOf(end: TaskEnd): RunOutcome {
    if (end.kind === 'fault') throw faultOf(end);
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
