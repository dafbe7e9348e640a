// The engine for local files: threads, a budget and a temporary folder, as the service has them, for one command.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { inputFormats } from '../../workers/input/index.ts';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { type Collector, NO_COLLECTOR } from '../../workers/memory/collector.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import {
  REJECTS_SUFFIX,
  type RunOutcome,
  type RunTask,
  type TaskOverrides,
  type TaskTable,
  type ThreadStart,
} from '../../workers/protocol/messages.ts';
import { forgetProgress, PROGRESS_BYTES, progressOf } from '../../workers/protocol/run-progress.ts';
import type { RunReport } from '../../workers/run/report.ts';
import { type PartSizes, partsOf } from '../../workers/run/split.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { Thread } from '../../workers/thread/thread.ts';
import { MemoryBudget } from '../admission/memory-budget.ts';
import { ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import { localInput } from './local-input.ts';
import { runParts } from './run-parts.ts';
import type { LocalResult } from './run-summary.ts';

/** An output up to this size stays in memory on its way to the caller. */
const OUTPUT_MEMORY_BYTES_MAX = 1024 * 1024;

/** Threads of one command do the same few things over and over, and hardly keep what they make. */
const YOUNG_GENERATION_MIB_MAX = 6;

/** No file system holds more; a local run has no plan and so no ceilings but the machine's. */
const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

export interface LocalEngineSettings {
  /** At most; this one among them. */
  readonly threads: number;
  /** That may be kept busy: with more than the threads have, a large file is read ahead. */
  readonly cores: number;
  /** Files that will be run. A single one may be done in parts. */
  readonly inputs: number;
  /** False: the caller's thread stays free; unless said, the work is done in it. */
  readonly ownThread?: boolean;
  readonly memoryBudgetBytes: number;
  readonly template: TemplateText;
  readonly tables: Readonly<Record<string, TaskTable>>;
  /** Folder of the secrets, null: there are none. */
  readonly secretsDirectory: string | null;
  readonly overrides: TaskOverrides;
  /** PART_SIZES unless a test wants smaller ones, and then also with one thread. */
  readonly partSizes?: PartSizes;
}

export class LocalEngine {
  readonly #settings: LocalEngineSettings;
  readonly #folder = mkdtempSync(join(tmpdir(), 'template-run-'));
  readonly #budget: MemoryBudget;
  readonly #progress = new SharedArrayBuffer(PROGRESS_BYTES);
  readonly #pool: ThreadPool;
  readonly #startedAt = new Date().toISOString();
  readonly #templates = new TemplateCache();
  readonly #outputs = new Map<string, string>();
  /** Where each input is read: standard input can be copied once only. */
  readonly #inputs = new Map<string, string>();
  #inputBytes = 0;
  #closing: Promise<void> | null = null;
  /** Why a thread was lost, for whoever reports it: its Runs are only told that it was. */
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
        : { ownThread: (start: ThreadStart) => new Thread(start, this.#shared(settings.inputs)).serve() }),
      budget: this.#budget.buffer,
      progress: this.#progress,
      onThreadLost: (_, fault) => {
        this.#threadFault = fault;
      },
      onThreadGone: (thread) => this.#budget.forgetThread(thread),
    });
    if (settings.inputs > 1) this.#pool.startAll();
  }

  /**
   * @param input a path, or "-" for standard input. Throws a system error when it cannot be read.
   * @param template in place of the one of the settings
   */
  async run(input: string, template: TemplateText = this.#settings.template): Promise<LocalResult> {
    const start = performance.now();
    const task = this.#pool.nextTask();
    const outputPath = join(this.#folder, `${task}.output`);
    this.#outputs.set(input, outputPath);
    const path = this.#inputs.get(input) ?? (await localInput(input, join(this.#folder, `${task}.input`)));
    this.#inputs.set(input, path);
    const { size } = statSync(path);
    this.#inputBytes += size;
    const whole = { ...this.#task(task, path, outputPath), template };
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
    // All of it is done again, as a whole.
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

  /** The memory of a single Run need not be collected at its end: the command ends too. */
  #shared(inputs: number): { templates: TemplateCache; collector?: Collector } {
    return inputs > 1 ? { templates: this.#templates } : { templates: this.#templates, collector: NO_COLLECTOR };
  }

  /** Bytes of the outputs that have come to disk so far: those of small ones stay in memory. */
  get writtenBytes(): number {
    const sizes = [...this.#outputs.values()].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Rows read so far, and bytes of the inputs. */
  get progress(): { readonly rows: number; readonly bytes: number } {
    return progressOf(this.#progress);
  }

  /** Bytes of the inputs whose sizes are known: those that were begun. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  /** Removes what is left of an input's output. */
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
      reservationBytes: RUN_RESERVATION_BYTES,
    };
  }
}
