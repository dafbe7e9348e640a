// Starts contender-process.ts and reads its measurement, and combines several measurements into one figure.
import { spawnSync } from 'node:child_process';
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
  /** Measures template-run with started threads and compiled code, see warm-engine.ts. */
  readonly warm?: boolean;
}

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
  makeContenderBundles(ENGINE_FLAGS);
  const flags = job.system === 'template-run' ? ENGINE_FLAGS : [];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...flags, SCRIPT, JSON.stringify(job)], {
    encoding: 'utf8',
    env: { ...process.env, POLARS_MAX_THREADS: String(job.threads) },
  });
  if (status === 0) return JSON.parse(stdout) as Measure;
  const said = stderr.trim().split('\n').slice(-ERROR_LINES).join('\n');
  throw new Error(`${job.system} on ${job.workload} ended with ${signal ?? status}: ${said}`);
}

export function figureOf(values: readonly number[]): Figure {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values), samples: values };
}
