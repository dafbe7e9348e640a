// The options of `npm run bench`, checked before anything starts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OPERATION_ROWS } from './operations/index.ts';
import type { OperationRow } from './operations/operation-row.ts';
import { SCALING_JOBS } from './scaling.ts';
import { FORMAT_WORKLOADS } from './workloads/formats.ts';
import { WORKLOADS } from './workloads/index.ts';
import type { Job } from './workloads/job.ts';
import type { Workload } from './workloads/workload.ts';

export const PARTS = [
  'engine',
  'formats',
  'uploads',
  'small-runs',
  'latency',
  'growth',
  'scaling',
  'budget',
  'workers',
  'front-ends',
  'fleet',
  'studio',
  'operations',
] as const;
export type Part = (typeof PARTS)[number];

export interface Settings {
  readonly parts: ReadonlySet<Part>;
  readonly workloads: readonly Workload[];
  /** Rows in the table of operations. */
  readonly rows: readonly OperationRow[];
  /** Rows in the table of scaling. */
  readonly scalingJobs: readonly Job[];
  readonly bytes: number;
  readonly rounds: number;
  /** Duration of each load of small requests. */
  readonly loadSeconds: number;
  /** Number of Runs stored by the service before small Runs are measured. */
  readonly keptRuns: number;
  /** Executables of Node on which the service is measured. */
  readonly nodes: readonly string[];
  /** Created by the run and removed at its end. */
  readonly folder: string;
  /** File for the measurements with all samples, or null. */
  readonly jsonPath: string | null;
  /** An earlier such file with which the results are compared, or null. */
  readonly comparePath: string | null;
  /** True if the results are written to bench/RESULTS.md, its figures and charts. */
  readonly write: boolean;
}

const FULL = { bytes: 200_000_000, rounds: 5, loadSeconds: 2, keptRuns: 300_000 };
const QUICK = { bytes: 5_000_000, rounds: 1, loadSeconds: 1, keptRuns: 3_000 };

export const USAGE = `npm run bench -- [--only NAME,...] [--quick] [--write] [--bytes N] [--rounds N] [--folder DIR] [--rows TEXT,...] [--kept-runs N]
                     [--json FILE] [--compare FILE] [--node PATH]...
  --only    parts of the benchmark: ${WORKLOADS.map(({ name }) => name).join(', ')}, ${PARTS.join(', ')}
            ${FORMAT_WORKLOADS.map(({ name }) => name).join(', ')} (parts of formats)
  --quick   5 MB and one round: shows whether everything runs; its results mean little
  --write   writes each table to bench/RESULTS.md as soon as it is ready, and keeps the other tables of the same commit;
            only for full inputs and rounds
  --json    writes the results with all samples to FILE
  --compare FILE of an earlier --json: prints which results became worse beyond the noise
  --bytes   size of the input, 200 million by default; operations use half of it, slow programs a quarter, budget five times it
  --rounds  5 by default
  --rows    rows of operations, scaling and budget: those that have one of the texts in their name, or measure this operation
  --kept-runs  number of Runs that the service stores before small-runs is measured, 300000 by default
  --node    executable of Node for front-ends, once for each version; by default the one that runs this program
  --folder  folder of inputs and outputs; in memory by default`;

/** Throws an Error that describes the problem. */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      bytes: { type: 'string' },
      rounds: { type: 'string' },
      rows: { type: 'string' },
      'kept-runs': { type: 'string' },
      json: { type: 'string' },
      compare: { type: 'string' },
      node: { type: 'string', multiple: true, default: [process.execPath] },
      folder: { type: 'string', default: existsSync('/dev/shm') ? '/dev/shm' : 'bench/data' },
    },
  });
  const defaults = values.quick ? QUICK : FULL;
  const bytes = positive('bytes', values.bytes) ?? defaults.bytes;
  const rounds = positive('rounds', values.rounds) ?? defaults.rounds;
  if (values.write && (bytes < FULL.bytes || rounds < FULL.rounds)) {
    throw new Error('--write needs full inputs and rounds: leave out --quick, --bytes and --rounds.');
  }
  if (values.write && values.rows !== undefined) throw new Error('--write needs whole tables: leave out --rows.');
  return {
    ...chosen(values.only),
    ...rowsWith(values.rows),
    bytes,
    rounds,
    loadSeconds: defaults.loadSeconds,
    keptRuns: positive('kept-runs', values['kept-runs']) ?? defaults.keptRuns,
    nodes: values.node,
    folder: join(values.folder, `template-run-bench-${process.pid}`),
    jsonPath: values.json ?? null,
    comparePath: values.compare ?? null,
    write: values.write,
  };
}

function chosen(only: string | undefined): Pick<Settings, 'parts' | 'workloads'> {
  if (only === undefined) return { parts: new Set(PARTS), workloads: WORKLOADS };
  const names = only.split(',');
  const workloads = [...WORKLOADS, ...FORMAT_WORKLOADS].filter(({ name }) =>
    names.some((wanted) => wanted.toUpperCase() === name.toUpperCase()),
  );
  const parts = new Set(PARTS.filter((part) => names.includes(part)));
  const unknown = names.filter(
    (wanted) =>
      !PARTS.includes(wanted as Part) && !workloads.some(({ name }) => name.toUpperCase() === wanted.toUpperCase()),
  );
  if (unknown.length > 0) throw new Error(`--only does not know ${unknown.join(', ')}.`);
  if (workloads.length > 0) parts.add('engine');
  return { parts, workloads: workloads.length > 0 ? workloads : WORKLOADS };
}

function rowsWith(texts: string | undefined): Pick<Settings, 'rows' | 'scalingJobs'> {
  if (texts === undefined) return { rows: OPERATION_ROWS, scalingJobs: SCALING_JOBS };
  const wanted = texts.split(',');
  const rowHas = ({ name, covers }: OperationRow, text: string): boolean => name.includes(text) || covers === text;
  const rows = OPERATION_ROWS.filter((row) => wanted.some((text) => rowHas(row, text)));
  const names = new Set(rows.map(({ name }) => name));
  const scalingJobs = SCALING_JOBS.filter(({ name }) => names.has(name) || wanted.some((text) => name.includes(text)));
  const unknown = wanted.filter(
    (text) => !rows.some((row) => rowHas(row, text)) && !scalingJobs.some(({ name }) => name.includes(text)),
  );
  if (unknown.length > 0) throw new Error(`--rows: no row has ${unknown.join(', ')} in its name.`);
  return { rows, scalingJobs };
}

function positive(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} is a whole number from 1.`);
  return number;
}
