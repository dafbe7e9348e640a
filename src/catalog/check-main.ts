// The entry point of the thread that checks Templates.
import { parentPort } from 'node:worker_threads';
import { Bundles } from '../../workers/bundles.ts';

const { serveChecks } = new Bundles().load('checks') as typeof import('./serve-checks.ts');
serveChecks(parentPort!);
