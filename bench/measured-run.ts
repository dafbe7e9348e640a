// Measured runs of one contender in this process.
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Contender } from './contenders/contender.ts';
import { csvParse } from './contenders/csv-parse.ts';
import { duckdb } from './contenders/duckdb.ts';
import { miller } from './contenders/miller.ts';
import { papaparse } from './contenders/papaparse.ts';
import { polars } from './contenders/polars.ts';
import { templateRun } from './contenders/template-run.ts';
import { udsv } from './contenders/udsv.ts';
import type { Measure, ProcessJob } from './measure.ts';
import { operationJobNamed } from './operations/index.ts';
import { isWorkload, workloadNamed } from './workloads/index.ts';
import type { Engine, Job, System } from './workloads/job.ts';

const ENGINES: Readonly<Record<Engine, Contender<Job>>> = { 'template-run': templateRun, polars, duckdb };

/** Systems that take part in workloads only. */
const PROGRAMS: Readonly<Record<Exclude<System, Engine>, Contender>> = {
  miller,
  'csv-parse': csvParse,
  papaparse,
  udsv,
};

/** Linux counts the processor time of processes in hundredths of a second (USER_HZ). */
const TICK_MILLISECONDS = 10;

/**
 * Prepares the contender, and returns a function that does the job once and measures it, from the call to the finished
 * file, without the start of the process.
 */
export async function preparedRun({ system, workload: name, ...job }: ProcessJob): Promise<() => Promise<Measure>> {
  const work = preparedWork(system, name, job);
  await work.prepare();
  return () => measured(work, job.output);
}

async function measured(work: Work, output: string): Promise<Measure> {
  const startProcessor = processorMilliseconds();
  const start = performance.now();
  const elsewhereBytes = await work.run();
  const milliseconds = performance.now() - start;
  const processor = processorMilliseconds() - startProcessor;
  const peakBytes = elsewhereBytes ?? ownPeakBytes();
  return { milliseconds, processorMilliseconds: processor, peakBytes, outputBytes: statSync(output).size };
}

interface Work {
  prepare(): Promise<void>;
  run(): Promise<number | null>;
}

/** The work of the system. Engines also accept rows of the table of operations. */
function preparedWork(system: System, name: string, job: Omit<ProcessJob, 'system' | 'workload'>): Work {
  if (system === 'template-run' || system === 'polars' || system === 'duckdb') {
    const work = { ...job, workload: isWorkload(name) ? workloadNamed(name) : operationJobNamed(name) };
    const engine = ENGINES[system];
    return { prepare: () => engine.prepare(work), run: () => engine.run(work) };
  }
  const work = { ...job, workload: workloadNamed(name) };
  const program = PROGRAMS[system];
  return { prepare: () => program.prepare(work), run: () => program.run(work) };
}

/** Processor time of all threads, and of ended child processes (Miller), if the system reports it. */
function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  if (!existsSync('/proc/self/stat')) return own;
  // Fields after the name in parentheses: 16 and 17 of proc(5) are cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return own + (Number(fields[13]) + Number(fields[14])) * TICK_MILLISECONDS;
}

/** maxRSS is wrong on systems with /proc: a process starts with the peak of its parent. */
function ownPeakBytes(): number {
  if (!existsSync('/proc/self/status')) return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}
