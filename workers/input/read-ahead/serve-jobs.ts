// Main loop of a read-ahead thread: one job after the other, without an event loop, until it has been idle for a while.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { READ_AHEAD_KERNEL_FILE } from '../../built-files.ts';
import type { ReadAheadExports } from '../../kernel/bindings/exports.ts';
import type { SlotKernels } from './decoded-file.ts';
import { type ReadAheadJob, ReadAheadJobRun } from './read-ahead-job.ts';
import {
  PHASE_GONE,
  PHASE_IDLE,
  PHASE_JOB,
  PHASE_STARTING,
  ReadAheadMemory,
  type ReadAheadShare,
} from './read-ahead-memory.ts';

/** First slot of each job. */
const FIRST_SLOT = 0;

/** Returns when the thread has become idle for too long. */
export function serveJobs(): void {
  const { share, idleMilliseconds } = workerData as { share: ReadAheadShare; idleMilliseconds: number };
  const memory = new ReadAheadMemory(share);
  const kernels = kernelsOf(share);
  memory.passTo(PHASE_IDLE, PHASE_STARTING);
  for (;;) {
    // If a Run sends a job at the last moment, `passTo` fails and the job is served.
    if (!memory.leaves(PHASE_IDLE, idleMilliseconds) && memory.passTo(PHASE_GONE, PHASE_IDLE)) return;
    if (memory.phase !== PHASE_JOB) continue;
    goOn(receiveMessageOnPort(parentPort!)!.message as ReadAheadJob, memory, kernels);
    memory.passTo(PHASE_IDLE, PHASE_JOB);
  }
}

function goOn(job: ReadAheadJob, memory: ReadAheadMemory, kernels: readonly SlotKernels[]): void {
  let descriptor: number;
  try {
    descriptor = openSync(job.path, 'r');
  } catch (error) {
    // The file of an abandoned Run no longer exists. Any other error also occurs in the Run, which reports it.
    if (!(error instanceof Error && 'code' in error)) throw error;
    memory.release(FIRST_SLOT);
    return;
  }
  try {
    new ReadAheadJobRun(job, descriptor, memory, kernels).run();
  } finally {
    closeSync(descriptor);
  }
}

function kernelsOf({ memories }: ReadAheadShare): readonly SlotKernels[] {
  const module = new WebAssembly.Module(readFileSync(READ_AHEAD_KERNEL_FILE));
  const abort = (): never => {
    throw new Error('kernel aborted');
  };
  return memories.map((memory) => {
    const { exports } = new WebAssembly.Instance(module, { env: { memory, abort } });
    return exports as ReadAheadExports;
  });
}
