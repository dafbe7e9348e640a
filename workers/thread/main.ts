// The entry of a worker thread.
import { Bundles } from '../bundles.ts';

const { serveRuns } = new Bundles().load('thread') as typeof import('./serve-runs.ts');

/** Piscina's task, named in the pool's options. */
export const serve = serveRuns;
