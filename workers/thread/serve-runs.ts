// The single long task of a worker thread: it serves Runs until it receives `stop`.
import type { ThreadStart } from '../protocol/messages.ts';
import { Thread } from './thread.ts';

/** Resolves after the thread has received `stop`. */
export function serveRuns(start: ThreadStart): Promise<void> {
  return new Thread(start).serve();
}
