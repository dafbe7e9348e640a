// One measured run of one contender in a process of its own: `contender-process CONTENDER WORKLOAD INPUT OUTPUT`. Prints
// {milliseconds, peakBytes}: time from the call to the finished file, without the start of the process; peak memory of
// the process.
import type { Contender } from './contenders/contender.ts';
import { csvParse } from './contenders/csv-parse.ts';
import { duckdb } from './contenders/duckdb.ts';
import { polars } from './contenders/polars.ts';
import { templateRun } from './contenders/template-run.ts';
import type { WorkloadName } from './workloads.ts';

const CONTENDERS: Readonly<Record<string, Contender>> = {
  'template-run': templateRun,
  polars,
  duckdb,
  'csv-parse': csvParse,
};

const [name = '', workload = '', input = '', output = ''] = process.argv.slice(2);
const contender = CONTENDERS[name];
if (contender === undefined) throw new Error(`no contender ${name}`);
await contender.prepare();
const start = performance.now();
await contender.run(workload as WorkloadName, input, output);
const milliseconds = performance.now() - start;
process.stdout.write(`${JSON.stringify({ milliseconds, peakBytes: process.resourceUsage().maxRSS * 1024 })}\n`);
// The libraries' own threads would keep the process for a while.
process.exit(0);
