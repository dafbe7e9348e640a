// One measured run of one contender in this process.
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

/** They take part in workloads alone. */
const PROGRAMS: Readonly<Record<Exclude<System, Engine>, Contender>> = {
  miller,
  'csv-parse': csvParse,
  papaparse,
  udsv,
};

/** Linux counts processor time for programs in hundredths of a second (USER_HZ). */
const TICK_MILLISECONDS = 10;

/** Time counts from the call to the finished file, without the start of the process. */
export async function measuredRun({ system, workload: name, ...job }: ProcessJob): Promise<Measure> {
  const work = preparedWork(system, name, job);
  await work.prepare();
  const startProcessor = processorMilliseconds();
  const start = performance.now();
  const elsewhereBytes = await work.run();
  const milliseconds = performance.now() - start;
  const processor = processorMilliseconds() - startProcessor;
  const peakBytes = elsewhereBytes ?? ownPeakBytes();
  return { milliseconds, processorMilliseconds: processor, peakBytes, outputBytes: statSync(job.output).size };
}

/** What the system does; an engine is told rows of the table of operations too. */
function preparedWork(
  system: System,
  name: string,
  job: Omit<ProcessJob, 'system' | 'workload'>,
): { prepare(): Promise<void>; run(): Promise<number | null> } {
  if (system === 'template-run' || system === 'polars' || system === 'duckdb') {
    const work = { ...job, workload: isWorkload(name) ? workloadNamed(name) : operationJobNamed(name) };
    const engine = ENGINES[system];
    return { prepare: () => engine.prepare(work), run: () => engine.run(work) };
  }
  const work = { ...job, workload: workloadNamed(name) };
  const program = PROGRAMS[system];
  return { prepare: () => program.prepare(work), run: () => program.run(work) };
}

/** Of all threads, and of processes that have ended (Miller), where the system tells. */
function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  if (!existsSync('/proc/self/stat')) return own;
  // Behind the name in parentheses: fields 16 and 17 of proc(5), cutime and cstime.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return own + (Number(fields[13]) + Number(fields[14])) * TICK_MILLISECONDS;
}

/** The system's maxRSS is wrong here where /proc is: a process begins with the peak of the one that started it. */
function ownPeakBytes(): number {
  if (!existsSync('/proc/self/status')) return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
}
