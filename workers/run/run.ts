// A Run from its first attempt to its outcome. An attempt is discarded if it lacked memory, read the file in a wrong
// encoding, found the names of its columns in the rows, or found the end of the rows too late (EndFound,
// EndPassed). The next attempt starts at the first byte of the spool.

import { type EncodingTries, NOTHING_TRIED } from '../input/encoding/encoding.ts';
import { openContent } from '../input/open-rows.ts';
import { compressionOf } from '../input/source/compression.ts';
import { ARENA_BYTES, Arena } from '../memory/arena.ts';
import { RUN_RESERVATION_BYTES } from '../memory/budget.ts';
import { Heap } from '../memory/heap.ts';
import { LargeRowGate } from '../memory/large-row.ts';
import { SpillFolder } from '../memory/spill-file.ts';
import { Cancelled, Failed, MemoryWanted, reportedFailure } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { afterMisread, beginAgain, Misread } from './misread.ts';
import { RowsNamed } from './pipeline.ts';
import { gatedRun, type RunJob } from './run-job.ts';
import { RunTry } from './run-try.ts';
import { EndFound, EndPassed, type KnownEnds, NO_ENDS } from './stopped-rows.ts';

// Decides between two failures of a compressed file that is both broken and larger than its limit when inflated.
// FILE_TOO_LARGE takes precedence, so that the response to a decompression bomb does not depend on its content.

/** Number of leading bytes that identify a compressed file. */
const TYPE_BYTES = 4;

/**
 * Maximum number of inflated bytes that are counted in a broken file: at most half a second of work. A larger file is
 * reported as broken.
 */
const COUNTED_BYTES_MAX = 256 * 1024 * 1024;

/** Inflated bytes between two checks for cancellation. */
const PIECE_BYTES = 1_048_576;

/** True if the size of the file may change the outcome. */
function dependsOnSize({ task }: RunJob, { failure }: RunOutcome): boolean {
  return failure?.code === 'MALFORMED_FILE' && task.limits.inflatedBytesMax !== null && task.part === undefined;
}

/**
 * Returns FILE_TOO_LARGE if the inflated file is too large, otherwise the given outcome. Waits until the upload is
 * complete. Throws Cancelled.
 */
function* settleSize(job: RunJob, outcome: RunOutcome): Coroutine<RunOutcome> {
  const { source } = job;
  const head = new Uint8Array(TYPE_BYTES);
  source.rewind();
  source.read(head);
  if (compressionOf(head) === null) return outcome;
  yield* beginAgain(job);
  try {
    yield* count(job, job.task.limits.inflatedBytesMax ?? Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    if (error.failure.code === 'FILE_TOO_LARGE') return { ...outcome, failure: error.failure };
  }
  return outcome;
}

function* count(job: RunJob, inflatedBytesMax: number): Coroutine<void> {
  const { source } = yield* openContent(job.source, inflatedBytesMax);
  try {
    const piece = new Uint8Array(PIECE_BYTES);
    for (let counted = 0; counted < COUNTED_BYTES_MAX && !source.ended; ) {
      const bytes = source.read(piece);
      counted += bytes;
      if (bytes === 0 && !source.ended) yield source.wait();
      job.beat();
      if (job.cancelled()) throw new Cancelled();
    }
  } finally {
    source.close();
  }
}

/**
 * Factor from the bytes of a cell to the memory of its JavaScript strings: the text, its result and intermediate
 * strings, with one or two bytes per character (Collector.madeTexts).
 */
const TEXTS_OF_CELL = 4;

/** Start conditions of an attempt. */
interface Start {
  /** True if the attempt acquires the node's arena before its first byte and keeps it to the end. */
  readonly withArena: boolean;
  readonly encodingTries: EncodingTries;
  /** See RowsNamed. Null if the names are not known yet, or if no operation needs them. */
  readonly rowNames: readonly string[] | null;
  /** See EndFound and EndPassed. */
  readonly ends: KnownEnds;
}

/** Applies a Template to one file. Failures are in the outcome; throws Cancelled, or a fault of ours. */
export function* runTemplate(job: RunJob): Coroutine<RunOutcome> {
  const outcome = yield* lastTry(job);
  const { failure } = outcome;
  return failure === null ? outcome : { ...outcome, failure: reportedFailure(failure, job.task.showsHeaders ?? false) };
}

/** Repeats attempts until there is an outcome. */
function* lastTry(job: RunJob): Coroutine<RunOutcome> {
  let start: Start = { withArena: false, encodingTries: NOTHING_TRIED, rowNames: null, ends: NO_ENDS };
  for (;;) {
    try {
      const outcome = yield* runOnce(job, start);
      return dependsOnSize(job, outcome) ? yield* settleSize(job, outcome) : outcome;
    } catch (error) {
      // Only the bytes in the spool remain from a discarded attempt.
      if (error instanceof MemoryWanted && !start.withArena) start = { ...start, withArena: true };
      else if (error instanceof RowsNamed) start = { ...start, rowNames: error.names };
      else if (error instanceof EndFound || error instanceof EndPassed)
        start = { ...start, ends: withEnd(start.ends, error) };
      else if (error instanceof Misread) {
        const next = yield* afterMisread(job, start.encodingTries, error);
        if (!('failed' in next)) return dependsOnSize(job, next) ? yield* settleSize(job, next) : next;
        start = { ...start, encodingTries: next, ends: NO_ENDS };
      } else throw error;
    }
    yield* beginAgain(job);
  }
}

function withEnd({ lastRows, rowsBefore }: KnownEnds, found: EndFound | EndPassed): KnownEnds {
  if (found instanceof EndFound) return { lastRows: new Map([...lastRows, [found.step, found.sourceRow]]), rowsBefore };
  return { lastRows, rowsBefore: new Map([...rowsBefore, [found.step, found.rows]]) };
}

function* runOnce(job: RunJob, { withArena, encodingTries, rowNames, ends }: Start): Coroutine<RunOutcome> {
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
    const madeTexts = (cellBytes: number): void => {
      gate.coverTexts(heap, cellBytes);
      job.kernels.madeTexts(cellBytes * TEXTS_OF_CELL);
    };
    const arena = new Arena(heap, ARENA_BYTES, madeTexts);
    run = new RunTry(job, { kernel, arena, spill, gate, encodingTries, rowNames, ends });
    return yield* run.drive();
  } finally {
    // If the disk refuses to remove files, the error is reported, and the memory is released nevertheless.
    try {
      run?.close();
    } finally {
      try {
        spill.remove();
      } finally {
        gate.giveTexts();
        job.kernels.giveBack(kernel, heap.borrowedBytes, gate);
      }
    }
  }
}
