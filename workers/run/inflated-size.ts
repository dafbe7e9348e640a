// A compressed file that is broken and also inflates to more than it may: too large is the graver failure, so that the answer
// to a bomb does not depend on what is in it.
import { openContent } from '../input/open-rows.ts';
import { compressionOf } from '../input/source/compression.ts';
import { Cancelled, Failed } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import { beginAgain } from './misread.ts';
import type { RunJob } from './run-job.ts';

/** What tells a compressed file. */
const TYPE_BYTES = 4;

/** Inflated bytes that are counted of a broken file: half a second of work at most. Beyond them it is only broken. */
const COUNTED_BYTES_MAX = 256 * 1024 * 1024;

/** Inflated bytes between two looks at whether anybody still waits. */
const PIECE_BYTES = 1_048_576;

/** Whether the outcome may be another one by the size of the file. */
export function dependsOnSize({ task }: RunJob, { failure }: RunOutcome): boolean {
  return failure?.code === 'MALFORMED_FILE' && task.limits.inflatedBytesMax !== null && task.part === undefined;
}

/**
 * The outcome where it depends on the size, or that of a file that is too large. Waits until the upload has arrived. Throws
 * Cancelled.
 */
export function* settleSize(job: RunJob, outcome: RunOutcome): Coroutine<RunOutcome> {
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
