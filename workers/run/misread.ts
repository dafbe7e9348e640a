// Restarts a Run that read its file in an encoding in which the file is not valid or may not be meant, or without
// allowing for quotes after spaces. The results of that attempt are discarded. The next attempt reads the file again
// from the spool, or the file is refused with a message that names the most likely encoding. Also decides whether a
// broken file is reported as too large.
import { columnsShown } from '../batch/schema.ts';
import { LateQuote } from '../input/csv/late-quote.ts';
import { canTryAgain, cutOffFailure, type EncodingTries, mixtureOf } from '../input/encoding/encoding.ts';
import { withEncodingAdvice } from '../input/encoding/encoding-advice.ts';
import { NO_LINES, type NonAsciiSample } from '../input/encoding/non-ascii-lines.ts';
import { LateUtf8, mixedEncodings, type Undecodable } from '../input/encoding/undecodable.ts';
import { openContent } from '../input/open-rows.ts';
import type { FileHead } from '../input/reader.ts';
import { nonAsciiLinesOfFile } from '../input/scan-encoding.ts';
import { compressionOf } from '../input/source/compression.ts';
import { Cancelled, Failed, type Failure } from '../protocol/failure.ts';
import type { RunOutcome } from '../protocol/messages.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { SliceClock } from '../scheduling/time-slices.ts';
import type { RunJob } from './run-job.ts';

/**
 * Thrown by an attempt that misread its file, if the file can be read in another way. Neither a failure nor a fault.
 */
export class Misread extends Error {
  /** Outcome of the Run if no other encoding is to be tried. */
  readonly outcome: RunOutcome;
  readonly reason: Undecodable | LateQuote | LateUtf8;

  constructor(outcome: RunOutcome, reason: Undecodable | LateQuote | LateUtf8) {
    super('misread');
    this.name = 'Misread';
    this.outcome = outcome;
    this.reason = reason;
  }
}

/**
 * Returns the encodings for the next attempt, or the final outcome. Waits until the upload is complete. Throws
 * Cancelled.
 */
export function* afterMisread(
  job: RunJob,
  tries: EncodingTries,
  { outcome, reason }: Misread,
): Coroutine<EncodingTries | RunOutcome> {
  const setting = job.prepared.template.input.csv.encoding;
  // If a part cannot be read, the caller reads the whole file from its beginning.
  if (job.task.part !== undefined) return outcome;
  if (reason instanceof LateQuote) return { ...tries, quotesAfterSpace: true };
  if (reason instanceof LateUtf8) return yield* afterUtf8(job, tries, { outcome, reason });
  const { encoding } = reason;
  const failed = [...tries.failed, encoding];
  const canContinue = canTryAgain(setting, failed) && !tries.failed.includes(encoding);
  const isList = Array.isArray(setting);
  // Any bytes are valid in most single-byte encodings, so only a look at the lines can tell a mixture with UTF-8.
  const mayBeMixed = setting === null || (isList && encoding === 'utf-8');
  if (canContinue && isList && !mayBeMixed) return { ...tries, failed };
  try {
    yield* restartFile(job);
    const nonAsciiLines = tries.nonAsciiLines ?? (yield* scannedLines(job, reason));
    const cut = encoding === 'utf-8' && nonAsciiLines !== null ? cutOffFailure(nonAsciiLines) : null;
    if (cut !== null) return { ...outcome, failure: cut.failure };
    const mixture = mayBeMixed ? mixtureOf(nonAsciiLines ?? NO_LINES) : null;
    if (mixture !== null) return { ...outcome, failure: mixedEncodings(mixture).failure };
    if (canContinue) return { ...tries, failed, nonAsciiLines };
    const { failure } = outcome;
    if (failure === null) return outcome;
    return { ...outcome, failure: { ...failure, message: withEncodingAdvice(failure.message, nonAsciiLines, failed) } };
  } catch (error) {
    // The rest of a compressed file is broken or too large, regardless of its encoding.
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  }
}

/** Lets the next attempt decide by the lines of the whole file whether it is a mixture. */
function* afterUtf8(
  job: RunJob,
  tries: EncodingTries,
  { outcome, reason }: Pick<Misread, 'outcome' | 'reason'>,
): Coroutine<EncodingTries | RunOutcome> {
  try {
    yield* restartFile(job);
    const nonAsciiLines = yield* scannedLines(job, reason);
    // The lines of a file in an archive are not known, so the file is refused.
    return nonAsciiLines === null ? outcome : { ...tries, nonAsciiLines };
  } catch (error) {
    // The rest of a compressed file is broken or too large.
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  }
}

/** Waits until the whole upload is in the spool, then rewinds to the first byte. Throws Cancelled. */
export function* restartFile({ source }: RunJob): Coroutine<void> {
  while (!source.hasArrived) yield source.arrival();
  source.rewind();
}

/** Returns null if several files are read, because the source is only the first one. */
function* scannedLines(job: RunJob, { file }: Misread['reason']): Coroutine<NonAsciiSample | null> {
  if (file !== null) return null;
  const { inflatedBytesMax } = job.task.limits;
  const clock = new SliceClock(() => {
    job.beat();
    if (job.cancelled()) throw new Cancelled();
  });
  const giveWay = () => clock.rest(job.turn ?? (() => new Promise((resolve) => setImmediate(resolve))));
  return yield* nonAsciiLinesOfFile(job.source, inflatedBytesMax, { clock, giveWay });
}

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
export function dependsOnSize({ task }: RunJob, { failure }: RunOutcome): boolean {
  return failure?.code === 'MALFORMED_FILE' && task.limits.inflatedBytesMax !== null && task.part === undefined;
}

/**
 * Returns FILE_TOO_LARGE if the inflated file is too large, otherwise the given outcome. Waits until the upload is
 * complete. Throws Cancelled.
 */
export function* settleSize(job: RunJob, outcome: RunOutcome): Coroutine<RunOutcome> {
  const { source } = job;
  const head = new Uint8Array(TYPE_BYTES);
  source.rewind();
  source.read(head);
  if (compressionOf(head) === null) return outcome;
  yield* restartFile(job);
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

// Failures of a file that does not fit its Template. The message describes how the file was read, because a wrong
// delimiter or header row is often the cause.

/**
 * Adds how the file was read to a failure about missing or ambiguous columns. The local message also lists the
 * columns of the file, which show whether the file or the header row is the wrong one.
 */
export function withReading(failure: Failure, { delimiter, headerRow, headers }: FileHead): Failure {
  if (failure.code !== 'TEMPLATE_COLUMNS_MISSING' || failure.columns?.length === 0) return failure;
  const parts = [
    ...(delimiter === null ? [] : [`delimiter ${JSON.stringify(delimiter)}`]),
    headerRow === null ? 'no header row' : `header row ${headerRow}`,
    headers.length === 1 ? '1 column' : `${headers.length} columns`,
  ];
  const message = `${failure.message} The file was read with ${parts.join(', ')}.`;
  const columns = headers.map((header, index) => ({ name: header === '' ? `column_${index + 1}` : header }));
  const hint = headers.length === 0 ? '' : ` ${columnsShown(columns, 'Its columns')}`;
  return { ...failure, message, localMessage: `${message}${hint}` };
}
