// One measured run of one contender in a separate process: `contender-process JSON` with a ProcessJob. Prints a
// Measure.
import { Bundles } from '../workers/bundles.ts';
import { CONTENDER_BUNDLES } from './contender-bundles.ts';
import type { ProcessJob } from './measure.ts';

const { measuredRun } = new Bundles(CONTENDER_BUNDLES).load('measured-run') as typeof import('./measured-run.ts');
const measure = await measuredRun(JSON.parse(process.argv[2]!) as ProcessJob);
process.stdout.write(`${JSON.stringify(measure)}\n`);
// Threads of the libraries would keep the process alive for a while.
process.exit(0);
