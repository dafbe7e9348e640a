// Measured runs of one contender in a separate process: `contender-process JSON` with a ProcessJob. Prints a line when it
// is ready, and a Measure for each line of its input.
import { createInterface } from 'node:readline';
import { Bundles } from '../workers/bundles.ts';
import { CONTENDER_BUNDLES } from './contender-bundles.ts';
import type { ProcessJob } from './measure.ts';

const { preparedRun } = new Bundles(CONTENDER_BUNDLES).load('measured-run') as typeof import('./measured-run.ts');
const run = await preparedRun(JSON.parse(process.argv[2]!) as ProcessJob);
process.stdout.write('ready\n');
for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run())}\n`);
}
// Threads of the libraries would keep the process alive for a while.
process.exit(0);
