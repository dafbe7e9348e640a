// The engine for local files: its threads, memory budget and temporary folder.
import { rmSync, type Stats, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { RUN_RESERVATION_BYTES } from '../../workers/memory/budget.ts';
import { TemplateCache } from '../../workers/plan/template-cache.ts';
import { faultOf } from '../../workers/protocol/fault-text.ts';
import {
  REJECTS_SUFFIX,
  type RunOutcome,
  type RunTask,
  type TaskFile,
  type TaskOverrides,
  type TaskTable,
  type ThreadStart,
} from '../../workers/protocol/messages.ts';
import type { RunReport } from '../../workers/protocol/report.ts';
import { forgetProgress, PROGRESS_BYTES, progressOf } from '../../workers/protocol/task-claims.ts';
import { seemsSplittable } from '../../workers/run/split.ts';
import type { TemplateText } from '../../workers/template/template-text.ts';
import { Thread } from '../../workers/thread/thread.ts';
import { MemoryBudget } from '../admission/memory-budget.ts';
import { ThreadPool } from '../pool/pool.ts';
import type { TaskEnd } from '../pool/pool-thread.ts';
import { PART_SIZES, type PartSizes } from '../pool/shared-run.ts';
import { grownSince, isUnchanged, localInput, makeTemporaryFolder, STANDARD_INPUT } from './local-input.ts';
import type { LocalResult } from './run-summary.ts';

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
  /**
   * Number of cores to use. If greater than the number of threads, large files are read ahead. No more threads than
   * cores share a file.
   */
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
  /** Folder for temporary files, which is removed by `close`. Default: a new one. */
  readonly temporaryFolder?: string;
  /** PART_SIZES unless a test needs smaller parts; if set, a file is processed in parts even with one thread. */
  readonly partSizes?: PartSizes;
}

/** An input with its name for expressions, or null. */
export interface NamedInput {
  /** A path, or "-" for standard input. */
  readonly input: string;
  readonly name: string | null;
}

export class LocalEngine {
  readonly #settings: LocalEngineSettings;
  readonly #folder: string;
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
    this.#folder = settings.temporaryFolder ?? makeTemporaryFolder('template-run-');
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
    });
    if (settings.inputs > 1) this.#pool.startAll();
  }

  /**
   * Applies a Template to one input. Throws a system error if the input cannot be read.
   *
   * @param input a path, or "-" for standard input
   * @param template defaults to the Template of the settings
   * @param fileName value of `run.file` in expressions; null for standard input
   * @param more inputs whose rows follow those of `input`
   */
  async run(
    input: string,
    template: TemplateText = this.#settings.template,
    fileName: string | null = nameOf(input),
    more: readonly NamedInput[] = [],
  ): Promise<LocalResult> {
    const start = performance.now();
    const task = this.#pool.nextTask();
    const outputPath = join(this.#folder, `${task}.output`);
    this.#outputs.set(input, outputPath);
    const files: (TaskFile & { readonly before: Stats })[] = [];
    for (const [index, each] of [{ input, name: fileName }, ...more].entries())
      files.push(await this.#file(each, `${task}.input${index}`));
    const [first, ...others] = files as [(typeof files)[0], ...typeof files];
    const { path } = first;
    for (const file of files) this.#inputBytes += file.sizeBytes;
    const whole = { ...this.#task(task, path, outputPath), fileName, template, more: others.map(taskFile) };
    const { outcome, parts } = await this.#run(whole, first);
    const grownBytes = files.reduce((sum, file) => sum + grownSince(file.before, file.path), 0);
    return {
      input,
      more: more.map((file) => file.input),
      outcome,
      parts,
      outputPath,
      grownBytes,
      milliseconds: performance.now() - start,
    };
  }

  /** @param copyName name of a copy in the temporary folder, if the input needs one */
  async #file({ input, name }: NamedInput, copyName: string): Promise<TaskFile & { readonly before: Stats }> {
    const path = this.#inputs.get(input) ?? (await localInput(input, join(this.#folder, copyName)));
    this.#inputs.set(input, path);
    const before = statSync(path);
    return { path, name, ending: endingOf(path), sizeBytes: before.size, before };
  }

  async #run(
    task: RunTask,
    { path, sizeBytes, before }: Pick<TaskFile, 'path' | 'sizeBytes'> & { readonly before: Stats },
  ): Promise<{ outcome: RunOutcome; parts: number }> {
    let parts = 1;
    const sizes = this.#sizesFor(task, sizeBytes);
    const sharing = sizes && {
      sizes,
      threadsMax: this.#sharingThreadsMax,
      isUnchanged: () => isUnchanged(before, path),
      restarted: () => forgetProgress(this.#progress),
      ended: (count: number) => {
        parts = count;
      },
    };
    if (sharing !== null) this.#pool.startAll();
    const end = await new Promise<TaskEnd>((over) => {
      this.#pool.run(task, over, { sharing }).grown(sizeBytes, true);
    });
    return { outcome: this.#outcomeOf(end), parts };
  }

  /** More threads than cores would wait for each other: four threads on two cores took 1.25 times as long as two. */
  get #sharingThreadsMax(): number {
    return Math.min(this.#settings.threads, this.#settings.cores);
  }

  /** Sizes of the parts in which the file may be processed, or null. */
  #sizesFor(task: RunTask, sizeBytes: number): PartSizes | null {
    const { inputs, partSizes } = this.#settings;
    if (inputs > 1 || (task.more?.length ?? 0) > 0 || (this.#sharingThreadsMax < 2 && partSizes === undefined))
      return null;
    const sizes = partSizes ?? PART_SIZES;
    return seemsSplittable(task, sizeBytes, this.#templates.get(task.template), sizes.fileBytesMin) ? sizes : null;
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
      ending: endingOf(path),
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

/** Name of an input for expressions. Standard input has none. */
export function nameOf(input: string): string | null {
  return input === STANDARD_INPUT ? null : basename(input);
}

function endingOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Only the fields that a message to a thread has. */
function taskFile({ path, name, ending, sizeBytes }: TaskFile): TaskFile {
  return { path, name, ending, sizeBytes };
}
