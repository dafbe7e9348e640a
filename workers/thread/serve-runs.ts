// What a worker thread does: one long task that serves Runs until it is told to stop.
import type { ThreadStart } from '../protocol/messages.ts';
import { Thread } from './thread.ts';

/** Resolves when the thread was told to stop. */
export function serveRuns(start: ThreadStart): Promise<void> {
  return new Thread(start).serve();
}
