// Entry point of the thread in which a command watches Runs.
import { parentPort, workerData } from 'node:worker_threads';
import { Bundles } from '../bundles.ts';

const { serveWatch } = new Bundles().load('watch') as typeof import('./serve-watch.ts');
if (parentPort !== null) serveWatch(parentPort, workerData);
