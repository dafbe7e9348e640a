// One measured run of one contender in a process of its own: `contender-process JSON` with a ProcessJob. Prints a Measure.
import { Bundles } from '../workers/bundles.ts';
import { CONTENDER_BUNDLES } from './contender-bundles.ts';
import type { ProcessJob } from './measure.ts';

const { measuredRun } = new Bundles(CONTENDER_BUNDLES).load('measured-run') as typeof import('./measured-run.ts');
const measure = await measuredRun(JSON.parse(process.argv[2]!) as ProcessJob);
process.stdout.write(`${JSON.stringify(measure)}\n`);
// The libraries' own threads would keep the process for a while.
process.exit(0);
