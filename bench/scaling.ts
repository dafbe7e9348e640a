// Measures how much faster one file is processed by more threads, compared with DuckDB and Polars, and derives the speed
// on machines with more cores from it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compareAnswers, readAnswer } from './answers.ts';
import { entrants } from './contenders/lineup.ts';
import { INPUTS } from './inputs/index.ts';
import { measure } from './measure.ts';
import { median } from './median.ts';
import { operationJobNamed } from './operations/index.ts';
import type { Progress } from './progress.ts';
import type { Bar, Section } from './report/section.ts';
import { WORKLOADS } from './workloads/index.ts';
import type { Engine, Job } from './workloads/job.ts';

export interface ScalingSettings {
  readonly folder: string;
  readonly bytes: number;
  readonly rounds: number;
  readonly jobs: readonly Job[];
  readonly progress: Progress;
}

/** Besides the workloads, rows of the table of operations: work on each row, and work that needs several rows. */
const OPERATIONS = [
  'set: case and spaces',
  'two expressions of every kind',
  'replace with groups',
  'validate a pattern',
  'count and sum of each address',
  'join a table of countries',
  'rank and running sum by address',
];

/** Outputs are compared on files of this size, which has several parts. */
const CHECK_BYTES = 10_000_000;

/** Threads of each engine. Only ours is measured with more threads than a small machine has cores. */
const THREADS: Readonly<Record<Engine, readonly number[]>> = {
  'template-run': [1, 2, 4],
  polars: [1, 2],
  duckdb: [1, 2],
};

const NAMES: Readonly<Record<Engine, string>> = {
  'template-run': 'template-run',
  polars: 'Polars',
  duckdb: 'DuckDB',
};

const DERIVED_CORES = [4, 8, 16];

/** One engine with one number of threads. */
interface Runner {
  readonly system: Engine;
  readonly threads: number;
  readonly milliseconds: number[];
  readonly processorMilliseconds: number[];
}

/** The rows of the table. */
export const SCALING_JOBS: readonly Job[] = [
  ...WORKLOADS.filter(({ input }) => input === 'orders' || input === 'statement'),
  ...OPERATIONS.map(operationJobNamed),
];

interface JobResult {
  readonly job: Job;
  readonly runners: readonly Runner[];
}

export async function benchScaling(settings: ScalingSettings): Promise<Section> {
  const missing = new Set<string>();
  const present = new Set(entrants(({ system }) => missing.add(system)).map(({ system }) => system));
  const systems = (Object.keys(THREADS) as Engine[]).filter((system) => present.has(system));
  const results = settings.jobs.map((job) => ({ job, runners: measureJob(settings, job, systems) }));
  return section(settings.bytes, results);
}

function measureJob(settings: ScalingSettings, job: Job, systems: readonly Engine[]): readonly Runner[] {
  const { folder, bytes, rounds, progress } = settings;
  const input = join(folder, 'scaling.csv');
  const runners = systems
    .filter((system) => system !== 'polars' || job.polars !== null)
    .flatMap((system) => THREADS[system].map((threads) => newRunner(system, threads)));
  INPUTS[job.input].make(input, Math.min(CHECK_BYTES, bytes));
  progress.show(`scaling, ${job.name}: checking the answers`);
  checkAnswers(settings, job, runners, input);
  rmSync(input);
  INPUTS[job.input].make(input, bytes);
  for (let round = 0; round < rounds; round++) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      progress.show(
        `scaling, ${job.name}: round ${round + 1} of ${rounds}, ${runner.system}, ${runner.threads} threads`,
      );
      const { milliseconds, processorMilliseconds } = runOnce(settings, job, runner, input);
      runner.milliseconds.push(milliseconds);
      runner.processorMilliseconds.push(processorMilliseconds);
    }
  }
  rmSync(input);
  return runners;
}

function linesOf({ job, runners }: JobResult, inputBytes: number): string[][] {
  return [...new Set(runners.map(({ system }) => system))].map((system) => {
    const own = runners.filter((runner) => runner.system === system);
    return lineOf(`${job.name}: ${NAMES[system]}`, own, inputBytes);
  });
}

/** How many times as fast our engine is with two threads. The rounds with two threads are the samples. */
function barOf({ job, runners }: JobResult): Bar {
  const own = runners.filter(({ system }) => system === 'template-run');
  const [one, two] = [1, 2].map((threads) => own.find((runner) => runner.threads === threads)!.milliseconds);
  const base = median(one!);
  const samples = two!.map((milliseconds) => base / milliseconds);
  return { label: job.name, value: median(samples), samples, ours: true };
}

function newRunner(system: Engine, threads: number): Runner {
  return { system, threads, milliseconds: [], processorMilliseconds: [] };
}

function checkAnswers(settings: ScalingSettings, job: Job, runners: readonly Runner[], input: string): void {
  const answers = runners.map((runner) => {
    const output = outputIn(settings, job);
    runOnce(settings, job, runner, input, false);
    const answer = readAnswer(output, job);
    clear(output);
    return { system: runner.system, answer };
  });
  for (const { system, answer } of answers) compareAnswers(job, system, answers[0]!.answer, answer);
}

function runOnce(settings: ScalingSettings, job: Job, { system, threads }: Runner, input: string, clears = true) {
  const output = outputIn(settings, job);
  const warm = system === 'template-run';
  const measured = measure({ system, threads, workload: job.name, input, output, budgetBytes: null, warm });
  if (clears) clear(output);
  return measured;
}

function outputIn({ folder }: ScalingSettings, { ending }: Job): string {
  return join(folder, `scaling-out.${ending}`);
}

function clear(output: string): void {
  rmSync(output, { force: true });
  rmSync(`${output}.tables`, { recursive: true, force: true });
}

/**
 * Speeds on more cores follow from the times on one thread (T1) and two (T2) by Amdahl's law: the serial part takes
 * S = 2 T2 - T1, and n cores take S + (T1 - S) / n. An engine that gains nothing has no parallel part.
 */
function lineOf(label: string, runners: readonly Runner[], inputBytes: number): string[] {
  const timeOf = (threads: number): number | null => {
    const runner = runners.find((one) => one.threads === threads);
    return runner === undefined ? null : median(runner.milliseconds);
  };
  const [one, two, four] = [timeOf(1)!, timeOf(2)!, timeOf(4)];
  const serial = Math.min(one, Math.max(0, 2 * two - one));
  const rate = (milliseconds: number): string => (inputBytes / 1e3 / milliseconds).toFixed(0);
  const processor = runners.map(({ processorMilliseconds }) => median(processorMilliseconds));
  return [
    label,
    rate(one),
    rate(two),
    (one / two).toFixed(2),
    four === null ? '' : (two / four).toFixed(2),
    (processor[1]! / processor[0]!).toFixed(2),
    `${((100 * serial) / one).toFixed(0)} %`,
    ...DERIVED_CORES.map((cores) => rate(serial + (one - serial) / cores)),
  ];
}

function section(bytes: number, results: readonly JobResult[]): Section {
  return {
    name: 'scaling',
    title: `One file of ${Math.round(bytes / 1e6)} MB on more threads`,
    columns: [
      '',
      '1 thread, MB/s',
      '2 threads, MB/s',
      '2 / 1',
      '4 / 2',
      'CPU 2 / 1',
      'serial',
      ...DERIVED_CORES.map((cores) => `${cores} cores, MB/s`),
    ],
    rows: results.flatMap((result) => linesOf(result, bytes)),
    notes: [
      'template-run has started threads and compiled code, as a node that has worked for a while; it gets the whole file at once.',
      'CPU 2 / 1: processor time of all threads with two threads, divided by that with one.',
      'serial: share of the time on one thread that a second thread does not shorten. The speeds on 4, 8 and 16 cores are derived from it (Amdahl), not measured.',
    ],
    chart: {
      unit: 'times as fast with two threads as with one',
      better: 'more',
      bars: results.map(barOf),
      limit: { label: 'two cores', value: 2 },
    },
  };
}
