// What a scout's thread does: one errand after the other, without an event loop, until nobody has sent it for a while.
import { closeSync, openSync, readFileSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { SCOUT_KERNEL_FILE } from '../../kernel-file.ts';
import { type Errand, ErrandRun, type Scan } from './errand.ts';
import { PHASE_ERRAND, PHASE_GONE, PHASE_IDLE, PHASE_STARTING, ScoutMemory, type ScoutShare } from './scout-memory.ts';

/** Of each errand. */
const FIRST_SLOT = 0;

/** Returns when the scout has gone. */
export function serveErrands(): void {
  const { share, idleMilliseconds } = workerData as { share: ScoutShare; idleMilliseconds: number };
  const memory = new ScoutMemory(share);
  const scans = scansOf(share);
  memory.passTo(PHASE_IDLE, PHASE_STARTING);
  for (;;) {
    // A Run that comes in the last moment is quicker than this: then there is an errand.
    if (!memory.leaves(PHASE_IDLE, idleMilliseconds) && memory.passTo(PHASE_GONE, PHASE_IDLE)) return;
    if (memory.phase !== PHASE_ERRAND) continue;
    goOn(receiveMessageOnPort(parentPort!)!.message as Errand, memory, scans);
    memory.passTo(PHASE_IDLE, PHASE_ERRAND);
  }
}

function goOn(errand: Errand, memory: ScoutMemory, scans: readonly Scan[]): void {
  let descriptor: number;
  try {
    descriptor = openSync(errand.path, 'r');
  } catch (error) {
    // The file of a Run that was given up is gone; whatever else it is, the Run meets it too, and tells it.
    if (!(error instanceof Error && 'code' in error)) throw error;
    memory.handBack(FIRST_SLOT);
    return;
  }
  try {
    new ErrandRun(errand, descriptor, memory, scans).run();
  } finally {
    closeSync(descriptor);
  }
}

function scansOf({ memories }: ScoutShare): readonly Scan[] {
  const module = new WebAssembly.Module(readFileSync(SCOUT_KERNEL_FILE));
  const abort = (): never => {
    throw new Error('kernel aborted');
  };
  return memories.map((memory) => new WebAssembly.Instance(module, { env: { memory, abort } }).exports['scan'] as Scan);
}
