// A Run that has read its file in an encoding in which the file is not valid: nothing of that try may stay, and the file is
// read again from the spool in the next one, or refused in words that name the likeliest.
import { canTryAgain, type EncodingTries } from '../input/encoding/encoding.ts';
import { AUTO } from '../input/encoding/labels.ts';
import { likelyEncodings } from '../input/encoding/likely-encoding.ts';
import { withLikelyEncoding } from '../input/encoding/undecodable.ts';
import { highLinesOfFile } from '../input/look-through.ts';
import { Cancelled, Failed } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import type { Coroutine } from '../thread/coroutine.ts';
import type { RunJob } from './run-job.ts';
import { SliceClock } from './slice-clock.ts';

const NO_LINES = new Uint8Array(0);

/** Thrown out of a Run whose file is not valid in the encoding in which it was read. Neither failure nor fault. */
export class Misread extends Error {
  /** What it is to be, where nothing else is to be tried. */
  readonly outcome: RunOutcome;
  readonly encoding: string;

  constructor(outcome: RunOutcome, encoding: string) {
    super('misread');
    this.name = 'Misread';
    this.outcome = outcome;
    this.encoding = encoding;
  }
}

/** Waits until the upload has arrived. The next try, or how the Run ends. Throws Cancelled. */
export function* afterMisread(
  job: RunJob,
  tries: EncodingTries,
  { outcome, encoding }: Misread,
): Coroutine<EncodingTries | RunOutcome> {
  const setting = job.prepared.template.input.csv.encoding;
  const failed = [...tries.failed, encoding];
  // A part that cannot be read lets the whole file be read from its beginning.
  if (job.task.part !== undefined) return outcome;
  const goesOn = canTryAgain(setting, failed) && !tries.failed.includes(encoding);
  if (goesOn && setting !== AUTO) return { failed, highLines: null };
  try {
    yield* beginAgain(job);
    const highLines = tries.highLines ?? (yield* lookThrough(job));
    if (goesOn) return { failed, highLines };
    const likely = likelyEncodings(highLines ?? NO_LINES).find((name) => !failed.includes(name));
    const { failure } = outcome;
    if (failure === null || likely === undefined) return outcome;
    return { ...outcome, failure: { ...failure, message: withLikelyEncoding(failure.message, likely) } };
  } catch (error) {
    // What follows in a compressed file is broken or too large, whatever its encoding.
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  }
}

/** Waits until the whole upload is in the spool, from where it is read from its first byte. Throws Cancelled. */
export function* beginAgain({ source }: RunJob): Coroutine<void> {
  while (!source.hasArrived) yield source.arrival();
  source.rewind();
}

function* lookThrough(job: RunJob): Coroutine<Uint8Array | null> {
  const { inflatedBytesMax } = job.task.limits;
  const clock = new SliceClock(() => {
    job.beat();
    if (job.cancelled()) throw new Cancelled();
  });
  const giveWay = () => clock.rest(job.turn ?? (() => new Promise((resolve) => setImmediate(resolve))));
  return yield* highLinesOfFile(job.source, inflatedBytesMax, { clock, giveWay });
}
