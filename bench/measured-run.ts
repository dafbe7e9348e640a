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
import { workloadNamed } from './workloads/index.ts';
import type { System } from './workloads/workload.ts';

const CONTENDERS: Readonly<Record<System, Contender>> = {
  'template-run': templateRun,
  polars,
  duckdb,
  miller,
  'csv-parse': csvParse,
  papaparse,
  udsv,
};

/** Linux counts processor time for programs in hundredths of a second (USER_HZ). */
const TICK_MILLISECONDS = 10;

/** Time counts from the call to the finished file, without the start of the process. */
export async function measuredRun({ system, workload: name, ...job }: ProcessJob): Promise<Measure> {
  const contender = CONTENDERS[system];
  const workload = workloadNamed(name);
  const work = { ...job, workload };
  await contender.prepare(work);
  const startProcessor = processorMilliseconds();
  const start = performance.now();
  const elsewhereBytes = await contender.run(work);
  const milliseconds = performance.now() - start;
  const processor = processorMilliseconds() - startProcessor;
  const peakBytes = elsewhereBytes ?? ownPeakBytes();
  return { milliseconds, processorMilliseconds: processor, peakBytes, outputBytes: statSync(job.output).size };
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
