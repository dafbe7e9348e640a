// Measures how time and memory grow with file size: from a twentieth to ten times the benchmark's size, with memory
// budgets that the larger files exceed. template-run only.
import { rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeOrders } from './inputs/orders.ts';
import { type Measure, measure } from './measure.ts';
import { median } from './median.ts';
import { limitOf, type PhysicalLimits } from './physical-limits.ts';
import type { Progress } from './progress.ts';
import type { Section } from './report/section.ts';
import { workloadNamed } from './workloads/index.ts';

export interface GrowthSettings {
  readonly folder: string;
  /** Reference size. */
  readonly bytes: number;
  readonly rounds: number;
  readonly limits: PhysicalLimits;
  readonly progress: Progress;
}

const MEBIBYTE = 1024 * 1024;

/** W6 also with a budget that it exceeds early. */
const JOBS = [
  { workload: 'W1', budgetBytes: 256 * MEBIBYTE },
  { workload: 'W4', budgetBytes: 256 * MEBIBYTE },
  { workload: 'W6', budgetBytes: 256 * MEBIBYTE },
  { workload: 'W6', budgetBytes: 64 * MEBIBYTE },
] as const;

const SIZES = [1 / 20, 1 / 2, 1, 5, 10];

/** The size with which others are compared. */
const BASE_SIZE = 1 / 2;

/** Input, output and spill files are in the folder at the same time. */
const ROOM = 4;

/** Files of this size or more take seconds, so they are measured fewer times. */
const LARGE_BYTES = 500_000_000;
const LARGE_ROUNDS_MAX = 3;

interface Line {
  readonly job: (typeof JOBS)[number];
  readonly size: number;
  readonly inputBytes: number;
  readonly millisecondsEachMegabyte: number;
  /** MB/s of each round. */
  readonly rates: readonly number[];
  /** For the base size, measured alternately with this size. */
  readonly baseMillisecondsEachMegabyte: number;
  readonly peakBytes: number;
  /** MB/s that no program can exceed. */
  readonly limitRate: number;
}

export function benchGrowth(settings: GrowthSettings): Section {
  const lines: Line[] = [];
  const left: string[] = [];
  const base = join(settings.folder, 'growth-base.csv');
  makeOrders(base, Math.round(settings.bytes * BASE_SIZE));
  for (const size of SIZES) {
    const bytes = Math.round(settings.bytes * size);
    const { bavail, bsize } = statfsSync(settings.folder);
    if (bavail * bsize < ROOM * bytes)
      left.push(`${Math.round(bytes / 1e6)} MB left out: the folder has not enough free space.`);
    else lines.push(...measureSize(settings, base, size, bytes));
  }
  rmSync(base);
  return section(settings.bytes, lines, left);
}

function measureSize(settings: GrowthSettings, base: string, size: number, bytes: number): Line[] {
  const { folder, rounds, limits, progress } = settings;
  const input = join(folder, 'growth.csv');
  progress.show(`growth: making ${Math.round(bytes / 1e6)} MB`);
  makeOrders(input, bytes);
  const inputBytes = statSync(input).size;
  const lines = JOBS.map((job): Line => {
    const { workload } = job;
    const bases: Measure[] = [];
    const measures: Measure[] = [];
    const roundsMax = bytes < LARGE_BYTES ? rounds : Math.min(rounds, LARGE_ROUNDS_MAX);
    for (let round = 0; round < roundsMax; round++) {
      progress.show(`growth: ${workload} on ${Math.round(bytes / 1e6)} MB, round ${round + 1}`);
      bases.push(measureJob(folder, job, base));
      measures.push(measureJob(folder, job, input));
    }
    return {
      job,
      size,
      inputBytes,
      millisecondsEachMegabyte: cost(measures, inputBytes),
      rates: measures.map(({ milliseconds }) => inputBytes / 1e3 / milliseconds),
      baseMillisecondsEachMegabyte: cost(bases, statSync(base).size),
      peakBytes: median(measures.map(({ peakBytes }) => peakBytes)),
      limitRate: limitOf(workloadNamed(workload), limits, inputBytes, measures[0]!.outputBytes).rate,
    };
  });
  rmSync(input);
  return lines;
}

function measureJob(folder: string, { workload, budgetBytes }: Line['job'], input: string): Measure {
  const output = join(folder, 'growth-out.csv');
  const measured = measure({ system: 'template-run', threads: 2, workload, input, output, budgetBytes });
  rmSync(output);
  return measured;
}

function cost(measures: readonly Measure[], inputBytes: number): number {
  return median(measures.map(({ milliseconds }) => milliseconds)) / (inputBytes / 1e6);
}

function section(bytes: number, lines: readonly Line[], left: readonly string[]): Section {
  const sorted = JOBS.flatMap((job) => lines.filter((line) => line.job === job));
  const label = ({ job, inputBytes }: Line): string =>
    `${job.workload} in ${job.budgetBytes / MEBIBYTE} MiB, ${Math.round(inputBytes / 1e6)} MB`;
  return {
    name: 'growth',
    title: 'template-run on growing files within memory budgets',
    columns: [
      '',
      'MB/s',
      'ms per MB',
      `compared with ${Math.round((BASE_SIZE * bytes) / 1e6)} MB`,
      'of the limit',
      'peak MB',
    ],
    rows: sorted.map((line) => {
      const { millisecondsEachMegabyte: each, baseMillisecondsEachMegabyte: eachOfBase } = line;
      return [
        label(line),
        (1000 / each).toFixed(0),
        each.toFixed(2),
        (each / eachOfBase).toFixed(2),
        `${(1e5 / each / line.limitRate).toFixed(0)} %`,
        (line.peakBytes / 1e6).toFixed(0),
      ];
    }),
    notes: [
      'Two threads, which are started but have not compiled their code: on small files, compiling takes most of the time.',
      'Physical limit: that of the workload on one thread, without the data that a budget makes the engine write and read again.',
      'Each size takes turns with the base, with which it is compared; the base is also compared with itself.',
      'W6 needs three times the size of the file in the folder. If the folder is in the memory of a virtual machine, the host may provide the last GB slowly.',
      ...left,
    ],
    chart: {
      unit: 'MB/s',
      better: 'more',
      bars: sorted.map((line) => ({
        label: label(line),
        value: 1000 / line.millisecondsEachMegabyte,
        samples: line.rates,
        ours: true,
      })),
      lines: JOBS.map((job) => ({
        label: `${job.workload} in ${job.budgetBytes / MEBIBYTE} MiB`,
        points: sorted
          .filter((line) => line.job === job)
          .map((line) => ({ megabytes: line.inputBytes / 1e6, value: 1000 / line.millisecondsEachMegabyte })),
      })),
      limit: null,
    },
  };
}
