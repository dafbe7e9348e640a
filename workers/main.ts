// The entry of a worker thread: one long task that serves Runs until it is told to stop.
import type { ThreadStart } from './messages.ts';
import { Thread } from './thread.ts';

/** Piscina's task, named in the pool's options. */
export function serve(start: ThreadStart): Promise<void> {
  return new Thread(start).serve();
}
