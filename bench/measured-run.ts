// Measured runs of one contender in this process.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { REJECTS_SUFFIX } from '../workers/protocol/messages.ts';
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
import { type Engine, isEngine, type Job, type System } from './workloads/job.ts';

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
export async function preparedRun(processJob: ProcessJob): Promise<() => Promise<Measure>> {
  const { system, workload: name, warmUp, ...job } = processJob;
  const work = preparedWork(system, name, job);
  await work.prepare();
  if (warmUp !== undefined) {
    const end = performance.now() + (system === 'template-run' ? warmUp.milliseconds : 0);
    do await work.run(warmUp.input);
    while (performance.now() < end);
    for (const path of [job.output, job.output + REJECTS_SUFFIX]) rmSync(path, { force: true });
  }
  return () => measured(work, job);
}

async function measured(work: Work, { input, output }: WorkJob): Promise<Measure> {
  const startProcessor = processorMilliseconds();
  const start = performance.now();
  const elsewhereBytes = await work.run(input);
  const milliseconds = performance.now() - start;
  const processor = processorMilliseconds() - startProcessor;
  const peakBytes = elsewhereBytes ?? ownPeakBytes();
  return { milliseconds, processorMilliseconds: processor, peakBytes, outputBytes: statSync(output).size };
}

type WorkJob = Omit<ProcessJob, 'system' | 'workload' | 'warmUp'>;

interface Work {
  prepare(): Promise<void>;
  run(input: string): Promise<number | null>;
}

/** The work of the system. Engines also accept rows of the table of operations. */
function preparedWork(system: System, name: string, job: WorkJob): Work {
  if (isEngine(system)) {
    const work = { ...job, workload: isWorkload(name) ? workloadNamed(name) : operationJobNamed(name) };
    const engine = ENGINES[system];
    return { prepare: () => engine.prepare(work), run: (input) => engine.run({ ...work, input }) };
  }
  const work = { ...job, workload: workloadNamed(name) };
  const program = PROGRAMS[system];
  return { prepare: () => program.prepare(work), run: (input) => program.run({ ...work, input }) };
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
