// Entry point of a worker thread.
import { Bundles } from '../bundles.ts';

const { serveRuns } = new Bundles().load('thread') as typeof import('./serve-runs.ts');

/** Task of the Piscina pool. The pool's options refer to it by name. */
export const serve = serveRuns;
