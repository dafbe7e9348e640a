// One measured run of one contender in a process of its own: `contender-process JSON` with a ProcessJob. Prints a
// Measure: time from the call to the finished file, without the start of the process.
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

const job = JSON.parse(process.argv[2]!) as ProcessJob;
const contender = CONTENDERS[job.system];
const workload = workloadNamed(job.workload);
await contender.prepare();
const { input, output, threads, budgetBytes } = job;
const startProcessor = processorMilliseconds();
const start = performance.now();
const elsewhereBytes = await contender.run({ workload, input, output, threads, budgetBytes });
const milliseconds = performance.now() - start;
const processor = processorMilliseconds() - startProcessor;
const peakBytes = elsewhereBytes ?? ownPeakBytes();
const measure: Measure = {
  milliseconds,
  processorMilliseconds: processor,
  peakBytes,
  outputBytes: statSync(output).size,
};
process.stdout.write(`${JSON.stringify(measure)}\n`);
// The libraries' own threads would keep the process for a while.
process.exit(0);

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
