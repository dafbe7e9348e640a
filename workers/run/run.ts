// A Run from its first try to its outcome: a try that lacked memory, read the file in a wrong encoding, or found the names of
// its columns in the rows, is thrown away, and the next begins at the first byte of the spool.
import { SpillFolder } from '../execution/spill/spill-folder.ts';
import { type EncodingTries, NOTHING_TRIED } from '../input/encoding/encoding.ts';
import { ARENA_BYTES, Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { LargeRowGate } from '../memory/large-row.ts';
import { MemoryWanted } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { dependsOnSize, settleSize } from './inflated-size.ts';
import { afterMisread, beginAgain, Misread } from './misread.ts';
import { RowsNamed } from './rows-named.ts';
import { gatedRun, type RunJob } from './run-job.ts';
import { RunTry } from './run-try.ts';

/** How a Run begins. */
interface Start {
  /** It waits for the node's arena before its first byte, and has it to the end. */
  readonly withArena: boolean;
  readonly encodingTries: EncodingTries;
  /** See RowsNamed; null: nobody knows them, or no operation asks. */
  readonly rowNames: readonly string[] | null;
}

/** Runs a Template over one file. Throws Cancelled, or a fault of ours; the rest is in the outcome. */
export function* runTemplate(job: RunJob): Coroutine<RunOutcome> {
  let start: Start = { withArena: false, encodingTries: NOTHING_TRIED, rowNames: null };
  for (;;) {
    try {
      const outcome = yield* runOnce(job, start);
      return dependsOnSize(job, outcome) ? yield* settleSize(job, outcome) : outcome;
    } catch (error) {
      // Nothing is left of the try but what lies in the spool.
      if (error instanceof MemoryWanted && !start.withArena) start = { ...start, withArena: true };
      else if (error instanceof RowsNamed) start = { ...start, rowNames: error.names };
      else if (error instanceof Misread) {
        const next = yield* afterMisread(job, start.encodingTries, error);
        if (!('failed' in next)) return dependsOnSize(job, next) ? yield* settleSize(job, next) : next;
        start = { ...start, encodingTries: next };
      } else throw error;
    }
    yield* beginAgain(job);
  }
}

function* runOnce(job: RunJob, { withArena, encodingTries, rowNames }: Start): Coroutine<RunOutcome> {
  const kernel = job.kernels.borrow();
  const { reservationBytes } = job.task;
  const asideBytes = Math.max(0, reservationBytes - RUN_RESERVATION_BYTES);
  const paidBytes = reservationBytes - asideBytes;
  const gate = new LargeRowGate(job.largeRow, job.largeRowOwner, job.budget, gatedRun(job));
  const start = kernel.exports.heapStart();
  const views = job.kernels.viewsOf(kernel);
  const heap = new Heap(kernel.memory, start, job.budget, paidBytes, asideBytes, gate, views);
  const spill = new SpillFolder(job.task.spillDirectory);
  let run: RunTry | null = null;
  try {
    if (withArena) yield gate.acquireArena(heap);
    const madeTexts = (bytes: number): void => {
      gate.coverTexts(heap);
      job.kernels.madeTexts(bytes);
    };
    const arena = new Arena(heap, ARENA_BYTES, madeTexts);
    run = new RunTry(job, { kernel, arena, spill, gate, encodingTries, rowNames });
    return yield* run.drive();
  } finally {
    // A disk that refuses to remove files is told, and takes no memory with it.
    try {
      run?.close();
    } finally {
      try {
        spill.remove();
      } finally {
        job.kernels.giveBack(kernel, heap.borrowedBytes, gate);
      }
    }
  }
}
