// Starts contender-process.ts and reads its measurements, and combines several measurements into one figure.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { YOUNG_GENERATION_MIB_MAX } from '../src/pool/pool.ts';
import { makeContenderBundles } from './contender-bundles.ts';
import { median } from './median.ts';
import type { System } from './workloads/job.ts';

export interface ProcessJob {
  readonly system: System;
  readonly workload: string;
  readonly input: string;
  readonly output: string;
  readonly threads: number;
  readonly budgetBytes: number | null;
  /** Work before the measured runs; none by default. */
  readonly warmUp?: WarmUp;
}

export interface WarmUp {
  readonly input: string;
  /** The file is processed at least once. Only our engine repeats it, because only its code is compiled while it runs. */
  readonly milliseconds: number;
}

/**
 * Duration of a warm-up. A second thread starts in a tenth of a second. Each thread compiles its own code, which takes
 * many Runs: after half of this time, the compiler still took a tenth of the processor time of a measured Run with two
 * threads.
 */
export const WARM_MILLISECONDS = 3000;

/** Size of the file for a warm-up. */
export const WARM_BYTES = 16 * 1024 * 1024;

export interface Measure {
  readonly milliseconds: number;
  /** For all its threads. */
  readonly processorMilliseconds: number;
  /** For the process, or the one that did the work. */
  readonly peakBytes: number;
  readonly outputBytes: number;
}

/** A median with its spread. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly samples: readonly number[];
}

const SCRIPT = new URL('./contender-process.js', import.meta.url).pathname;

/** A young generation consists of three semi-spaces. */
const SEMI_SPACES = 3;

/** Same heap settings as for the threads of the service and of the command. */
const ENGINE_FLAGS: readonly string[] = [`--max-semi-space-size=${YOUNG_GENERATION_MIB_MAX / SEMI_SPACES}`];

/** Maximum number of output lines of a failed process that are shown. */
const ERROR_LINES = 12;

/** Throws with the output of the process if it fails. */
export function measure(job: ProcessJob): Measure {
  const { args, env } = commandOf(job);
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, input: '\n' });
  if (status === 0) return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measure;
  const said = stderr.trim().split('\n').slice(-ERROR_LINES).join('\n');
  throw new Error(`${job.system} on ${job.workload} ended with ${signal ?? status}: ${said}`);
}

function commandOf(job: ProcessJob): { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  makeContenderBundles(ENGINE_FLAGS);
  const flags = job.system === 'template-run' ? ENGINE_FLAGS : [];
  return {
    args: [...flags, SCRIPT, JSON.stringify(job)],
    env: { ...process.env, POLARS_MAX_THREADS: String(job.threads) },
  };
}

/** A process of an engine that stays alive between its measured runs, as in a service, while the others take their turns. */
export class LastingProcess {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(job: ProcessJob) {
    const { args, env } = commandOf(job);
    this.#name = `${job.system} on ${job.workload}`;
    this.#child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** Resolves after the warm-up. */
  static async start(job: ProcessJob): Promise<LastingProcess> {
    const started = new LastingProcess(job);
    await started.#line();
    return started;
  }

  async run(): Promise<Measure> {
    this.#child.stdin!.write('\n');
    return JSON.parse(await this.#line()) as Measure;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin!.end();
    await exit;
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`${this.#name} ended early; its error is above`);
    return value;
  }
}

export function figureOf(values: readonly number[]): Figure {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values), samples: values };
}
