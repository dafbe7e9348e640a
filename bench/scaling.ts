// Measures how much faster one file is processed by more threads, compared with DuckDB and Polars, and derives the speed
// on machines with more cores from it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compareAnswers, readAnswer } from './answers.ts';
import { entrants } from './contenders/lineup.ts';
import { INPUTS } from './inputs/index.ts';
import { LastingProcess, type Measure, measure, type ProcessJob, WARM_BYTES, WARM_MILLISECONDS } from './measure.ts';
import { median } from './median.ts';
import { operationJobNamed } from './operations/index.ts';
import type { Progress } from './progress.ts';
import type { Bar, Section } from './report/section.ts';
import { WORKLOADS } from './workloads/index.ts';
import type { Engine, Job, System } from './workloads/job.ts';

export interface ScalingSettings {
  readonly folder: string;
  readonly bytes: number;
  readonly rounds: number;
  readonly jobs: readonly Job[];
  /** Jobs whose engines were measured in the same run of the benchmark, by name. They are not measured again. */
  readonly measured: ReadonlyMap<string, readonly Runner[]>;
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
export interface Runner {
  readonly system: System;
  readonly threads: number;
  readonly measures: readonly Measure[];
}

interface Racer extends Runner {
  readonly system: Engine;
  readonly measures: Measure[];
  readonly lasting: LastingProcess;
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
  const results: JobResult[] = [];
  for (const job of settings.jobs) {
    const earlier = settings.measured.get(job.name);
    results.push({ job, runners: earlier ?? (await measureJob(settings, job, systems)) });
  }
  return section(settings.bytes, results);
}

async function measureJob(settings: ScalingSettings, job: Job, systems: readonly Engine[]): Promise<readonly Runner[]> {
  const { folder, bytes, rounds, progress } = settings;
  const files = { input: join(folder, 'scaling.csv'), warmUp: join(folder, 'scaling-warm.csv') };
  const able = systems.filter((system) => system !== 'polars' || job.polars !== null);
  INPUTS[job.input].make(files.input, Math.min(CHECK_BYTES, bytes));
  progress.show(`scaling, ${job.name}: checking the answers`);
  checkAnswers(settings, job, able, files.input);
  rmSync(files.input);
  INPUTS[job.input].make(files.input, bytes);
  INPUTS[job.input].make(files.warmUp, Math.min(WARM_BYTES, bytes));
  const racers: Racer[] = [];
  try {
    for (const system of able)
      for (const threads of THREADS[system]) racers.push(await newRacer(settings, job, system, threads, files));
    for (let round = 0; round < rounds; round++) {
      for (const racer of round % 2 === 0 ? racers : racers.toReversed()) {
        const { system, threads, measures, lasting } = racer;
        progress.show(`scaling, ${job.name}: round ${round + 1} of ${rounds}, ${system}, ${threads} threads`);
        measures.push(await lasting.run());
        clear(outputIn(settings, job));
      }
    }
  } finally {
    for (const { lasting } of racers) await lasting.stop();
    for (const file of Object.values(files)) rmSync(file);
    rmSync(`${outputIn(settings, job)}.tables`, { recursive: true, force: true });
  }
  return racers;
}

function linesOf({ job, runners }: JobResult, inputBytes: number): string[][] {
  const present = (Object.keys(NAMES) as Engine[]).filter((system) =>
    runners.some(({ system: of, measures }) => of === system && measures.length > 0),
  );
  return present.map((system) => {
    const own = runners.filter((runner) => runner.system === system);
    return lineOf(`${job.name}: ${NAMES[system]}`, own, inputBytes);
  });
}

/** How many times as fast our engine is with two threads. The rounds with two threads are the samples. */
function barOf({ job, runners }: JobResult): Bar {
  const own = runners.filter(({ system }) => system === 'template-run');
  const [one, two] = [1, 2].map((threads) => timesOf(own.find((runner) => runner.threads === threads)!));
  const base = median(one!);
  const samples = two!.map((milliseconds) => base / milliseconds);
  return { label: job.name, value: median(samples), samples, ours: true };
}

async function newRacer(
  settings: ScalingSettings,
  job: Job,
  system: Engine,
  threads: number,
  { input, warmUp }: { readonly input: string; readonly warmUp: string },
): Promise<Racer> {
  settings.progress.show(`scaling, ${job.name}: warming up ${system}, ${threads} threads`);
  const process = processJob(settings, job, system, threads, input);
  const lasting = await LastingProcess.start({
    ...process,
    warmUp: { input: warmUp, milliseconds: WARM_MILLISECONDS },
  });
  return { system, threads, measures: [], lasting };
}

function checkAnswers(settings: ScalingSettings, job: Job, systems: readonly Engine[], input: string): void {
  const answers = systems.flatMap((system) =>
    THREADS[system].map((threads) => {
      measure(processJob(settings, job, system, threads, input));
      const output = outputIn(settings, job);
      const answer = readAnswer(output, job);
      clear(output);
      return { system, answer };
    }),
  );
  for (const { system, answer } of answers) compareAnswers(job, system, answers[0]!.answer, answer);
}

function processJob(settings: ScalingSettings, job: Job, system: Engine, threads: number, input: string): ProcessJob {
  return { system, threads, workload: job.name, input, output: outputIn(settings, job), budgetBytes: null };
}

function outputIn({ folder }: ScalingSettings, { ending }: Job): string {
  return join(folder, `scaling-out.${ending}`);
}

function clear(output: string): void {
  rmSync(output, { force: true });
}

function timesOf({ measures }: Runner): readonly number[] {
  return measures.map(({ milliseconds }) => milliseconds);
}

/**
 * Speeds on more cores follow from the times on one thread (T1) and two (T2) by Amdahl's law: the serial part takes
 * S = 2 T2 - T1, and n cores take S + (T1 - S) / n. An engine that gains nothing has no parallel part.
 */
function lineOf(label: string, runners: readonly Runner[], inputBytes: number): string[] {
  const timeOf = (threads: number): number | null => {
    const runner = runners.find((one) => one.threads === threads);
    return runner === undefined ? null : median(timesOf(runner));
  };
  const [one, two, four] = [timeOf(1)!, timeOf(2)!, timeOf(4)];
  const serial = Math.min(one, Math.max(0, 2 * two - one));
  const rate = (milliseconds: number): string => (inputBytes / 1e3 / milliseconds).toFixed(0);
  const processorOf = (threads: number): number => {
    const { measures } = runners.find((one) => one.threads === threads)!;
    return median(measures.map(({ processorMilliseconds }) => processorMilliseconds));
  };
  return [
    label,
    rate(one),
    rate(two),
    (one / two).toFixed(2),
    four === null ? '' : (two / four).toFixed(2),
    (processorOf(2) / processorOf(1)).toFixed(2),
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
      'The lines of W1 to W8 come from the measurements above, which do not include four threads. No more threads than cores share a file.',
      'CPU 2 / 1: processor time of all threads with two threads, divided by that with one thread.',
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
