// Runs the workloads and operations whose memory grows with the file on five times the benchmark's size, with a memory
// budget of 256 MiB. The output must have the same bytes as without a budget, and the process must stay within the budget
// plus its base. template-run only.
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { operationTable } from '../workers/operations/index.ts';
import { REJECTS_SUFFIX } from '../workers/protocol/messages.ts';
import { INPUTS } from './inputs/index.ts';
import { type Measure, measure } from './measure.ts';
import { jobOf, type OperationRow } from './operations/operation-row.ts';
import type { Progress } from './progress.ts';
import type { Section } from './report/section.ts';
import type { Job } from './workloads/job.ts';
import type { Workload } from './workloads/workload.ts';

export interface BudgetSettings {
  readonly folder: string;
  /** Size in the benchmark; the files here are larger. */
  readonly bytes: number;
  readonly rows: readonly OperationRow[];
  readonly workloads: readonly Workload[];
  readonly progress: Progress;
}

const MEBIBYTE = 1024 * 1024;
const BUDGET_BYTES = 256 * MEBIBYTE;

/**
 * Maximum memory of a process in addition to its budget: Node, and the engine with two threads (docs/explanation/memory.md).
 */
const BASE_BYTES = 200 * MEBIBYTE;

/** 1 GB if the benchmark uses 200 MB, so that operations with state must spill. */
const TIMES_BYTES = 5;

/** Memory classes of the reference: a state for each key, and all rows. */
const GROWING: ReadonlySet<string> = new Set(['K', 'B']);

/** Large enough to read fast, small compared with the hashed data. */
const PIECE_BYTES = MEBIBYTE;

interface Line {
  readonly job: Job;
  /** null if a run failed. */
  readonly measures: { readonly free: Measure; readonly limited: Measure } | null;
  /** null if the test passed. */
  readonly fault: string | null;
}

/** After all measurements, throws with the names of the jobs for which the budget did not hold. */
export function benchBudget(settings: BudgetSettings, onSection: (section: Section) => void): void {
  const jobs = [...settings.workloads, ...settings.rows.map(jobOf)].filter(growsWithFile);
  const inputBytes = settings.bytes * TIMES_BYTES;
  const lines: Line[] = [];
  // Only one large input is in the folder at a time.
  for (const name of new Set(jobs.map(({ input }) => input))) {
    const input = join(settings.folder, `budget-${name}.${INPUTS[name].type ?? 'csv'}`);
    settings.progress.show(`budget: making ${INPUTS[name].title}`);
    INPUTS[name].make(input, inputBytes);
    for (const job of jobs.filter((each) => each.input === name)) {
      settings.progress.show(`budget: ${lines.length + 1} of ${jobs.length}, ${job.name}`);
      lines.push(measureJob(settings.folder, job, input));
    }
    rmSync(input);
  }
  onSection(section(inputBytes, lines));
  const faults = lines.flatMap(({ job, fault }) => (fault === null ? [] : [`${job.name}: ${fault}`]));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Other operations keep at most a few rows: they cannot exceed the budget on a larger file. */
function growsWithFile({ template }: Job): boolean {
  const operations = template.operations as readonly (Readonly<Record<string, unknown>> & { readonly op: string })[];
  return operations.some(({ op, ...parameters }) => {
    const { memory } = operationTable.get(op)!;
    return GROWING.has(typeof memory === 'function' ? memory(parameters) : memory);
  });
}

function measureJob(folder: string, job: Job, input: string): Line {
  try {
    const [free, expected] = runOnce(folder, job, input, null);
    const [limited, found] = runOnce(folder, job, input, BUDGET_BYTES);
    let fault: string | null = null;
    if (found !== expected) fault = 'other bytes than without a budget';
    else if (limited.peakBytes > BUDGET_BYTES + BASE_BYTES) fault = `a peak of ${megabytes(limited.peakBytes)} MB`;
    return { job, measures: { free, limited }, fault };
  } catch (error) {
    // The other jobs are measured nevertheless.
    return { job, measures: null, fault: (error as Error).message };
  }
}

/** Returns the measurement, and a digest of all written files. */
function runOnce(folder: string, job: Job, input: string, budgetBytes: number | null): [Measure, string] {
  const output = join(folder, 'budget-out');
  const measured = measure({ system: 'template-run', threads: 2, workload: job.name, input, output, budgetBytes });
  const digests = ['', REJECTS_SUFFIX].map((ending) => digestOf(output + ending));
  rmSync(`${output}.tables`, { recursive: true, force: true });
  return [measured, digests.join()];
}

/** Returns the SHA-256 of a file and removes the file. '' if it does not exist. */
function digestOf(path: string): string {
  if (!existsSync(path)) return '';
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  for (let read = 1; read > 0; ) {
    read = readSync(file, piece);
    hash.update(piece.subarray(0, read));
  }
  closeSync(file);
  rmSync(path);
  return hash.digest('hex');
}

function section(inputBytes: number, lines: readonly Line[]): Section {
  const rate = ({ milliseconds }: Measure): number => inputBytes / 1e3 / milliseconds;
  return {
    name: 'budget',
    title: `template-run within ${BUDGET_BYTES / MEBIBYTE} MiB on ${Math.round(inputBytes / 1e6)} MB`,
    columns: ['', 'MB/s', 'of that without a budget', 'peak MB', 'peak MB without'],
    rows: lines.map(({ job, measures }) => {
      if (measures === null) return [job.title, 'failed', '', '', ''];
      const { free, limited } = measures;
      return [
        job.title,
        rate(limited).toFixed(0),
        `${((100 * free.milliseconds) / limited.milliseconds).toFixed(0)} %`,
        megabytes(limited.peakBytes),
        megabytes(free.peakBytes),
      ];
    }),
    notes: [
      'All workloads and rows of operations whose memory grows with the file: a state for each key, or all rows.',
      `Measured once each, the bytes of both outputs compared; the peak is at most the budget and ${BASE_BYTES / MEBIBYTE} MiB.`,
    ],
    chart: null,
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
