// The share of one thread in a Run whose file is processed in parts by several threads (split.ts). The thread takes the
// next part as soon as it has finished one, without a message to another thread: a wait for such a message took longer
// than a part. All parts of a thread are read by one Run, because building its pipeline takes longer than the rows of a
// part. The first part of the file has a separate Run, which reads the header.
import { closeSync, openSync } from 'node:fs';
import { FileSource } from '../input/source/file-source.ts';
import { runShare as budgetShare, RUN_RESERVATION_BYTES, type RunShare } from '../memory/budget.ts';
import { MemorySink, PartSink, type PartTurns } from '../output/sink/file-sink.ts';
import { Cancelled, Failed } from '../protocol/failure.ts';
import type { FileParts, PartOutcome, RunOutcome, RunTask, SharePiece } from '../protocol/messages.ts';
import { RunProgress } from '../protocol/task-claims.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { runTemplate } from './run.ts';
import { emptyReport, type PartFeed, type RunJob } from './run-job.ts';

/** Initial capacity for the output of a part. The output is about as large as the part (PART_SIZES). */
const OUTPUT_BYTES = 3 * 1024 * 1024;

/**
 * If the output of one part is larger, or if the memory budget refuses it, the Run is processed as a whole, which needs
 * less memory. Eight times the size of a part (PART_SIZES).
 */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum number of outputs that wait for their turn before the thread waits, too. */
const WAITING_MAX = 4;

/**
 * A job without the properties that differ between parts. `readAhead` is left out because that thread would take the
 * core of another share.
 */
export interface ShareJob extends Omit<RunJob, 'source' | 'progressed' | 'parts' | 'readAhead' | 'watch'> {
  readonly turns: PartTurns;
  /** See RunProgress. Null if progress is not shown. */
  readonly progress: SharedArrayBuffer | null;
}

/** Processes parts until all have been taken, or until a part fails. Throws Cancelled. */
export function* runShare(job: ShareJob, parts: FileParts): Coroutine<RunOutcome> {
  const outputs = new PartOutputs(job);
  const pieces: SharePiece[] = [];
  let outcome = emptyOutcome(job.task);
  let busyMilliseconds = 0;
  try {
    // Without memory for a share, the other threads do the work.
    if (!outputs.takeFirst()) return { ...outcome, pieces };
    for (let part = job.turns.takePart(); part < parts.starts.length; part = job.turns.takePart()) {
      const piece = new Piece(job, parts, part, outputs, yield* outputs.memory());
      outcome = yield* piece.run();
      busyMilliseconds += outcome.busyMilliseconds;
      if (outcome.failure !== null) return outcome;
      const { rowsWritten, output, report } = outcome;
      pieces.push({ parts: piece.parts, rowsWritten: rowsWritten!, sizeBytes: output!.sizeBytes, report });
    }
    yield* outputs.write(0);
    return { ...outcome, busyMilliseconds, pieces };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  } finally {
    outputs.close();
  }
}

/** One Run of a share: over the first part of the file, or over all other parts that the thread takes. */
class Piece implements PartFeed {
  readonly sink: PartSink;
  readonly parts: PartOutcome[] = [];
  readonly #job: ShareJob;
  readonly #file: FileParts;
  readonly #outputs: PartOutputs;
  readonly #source: PartSource;
  readonly #progress: RunProgress | null;
  #part: number;
  #rowsBefore = 0;

  /** @param memory receives the output of the first part */
  constructor(job: ShareJob, file: FileParts, part: number, outputs: PartOutputs, memory: MemorySink) {
    this.#job = job;
    this.#file = file;
    this.#part = part;
    this.#outputs = outputs;
    this.sink = new PartSink(memory);
    this.#source = new PartSource(pathOf(job.task));
    this.#progress = job.progress === null ? null : new RunProgress(job.progress, this.#source);
    this.#enter(part);
  }

  *run(): Coroutine<RunOutcome> {
    const { turns, progress, task, ...job } = this.#job;
    try {
      return yield* runTemplate({
        ...job,
        task: { ...task, part: { number: this.#part, head: this.#file.head } },
        source: this.#source,
        parts: this,
        progressed: (rowsRead) => this.#progress?.update(rowsRead),
      });
    } finally {
      this.#source.close();
    }
  }

  *next(rowsRead: number): Coroutine<boolean> {
    const { turns } = this.#job;
    const number = this.#part;
    this.parts.push({ number, rows: rowsRead - this.#rowsBefore });
    this.#rowsBefore = rowsRead;
    this.#outputs.add(number, this.sink.cut());
    yield* this.#outputs.write(WAITING_MAX);
    if (number === 0) return false;
    // Taken before the part: a thread that has a part never waits for the memory of other threads.
    this.sink.resume(yield* this.#outputs.memory());
    const part = turns.takePart();
    if (part >= this.#file.starts.length) return false;
    this.#part = part;
    this.#enter(part);
    return true;
  }

  #enter(part: number): void {
    const { starts, sizeBytes } = this.#file;
    this.#source.enter(starts[part]!, starts[part + 1] ?? sizeBytes);
    this.#progress?.skip();
  }
}

/** Delivers one part of a file after the other. */
class PartSource extends FileSource {
  enter(from: number, to: number): void {
    this.seek(from);
    this.passed(from);
    this.grown(to, true);
  }

  /** A Run that restarts would need the earlier parts again. The Run is then processed as a whole. */
  override rewind(): never {
    throw new Failed('RUN_RESOURCE_LIMIT', 'The parts of the file cannot be read again.');
  }
}

/** Outputs of parts that wait until the sizes of all earlier outputs are known. Their memory is paid from the budget. */
class PartOutputs {
  readonly #job: ShareJob;
  readonly #budget: RunShare;
  readonly #descriptor: number;
  /** In the order of the file. */
  readonly #waiting: { readonly part: number; readonly bytes: MemorySink }[] = [];
  /** Reused, because new memory costs a page fault for each 4 KiB. */
  readonly #free: MemorySink[] = [];

  constructor(job: ShareJob) {
    this.#job = job;
    this.#budget = budgetShare(job.budget);
    this.#descriptor = openSync(job.task.output.path, 'r+');
  }

  /** Takes the memory for the Run of this share and for one output. Returns false if the budget refuses it. */
  takeFirst(): boolean {
    if (!this.#budget.take(RUN_RESERVATION_BYTES + OUTPUT_BYTES)) return false;
    this.#free.push(this.#newMemory());
    return true;
  }

  /** Returns empty memory for an output. If the budget refuses more, waits until an earlier output is written. */
  *memory(): Coroutine<MemorySink> {
    if (this.#free.length === 0 && this.#budget.take(OUTPUT_BYTES)) return this.#newMemory();
    if (this.#free.length === 0) yield* this.write(this.#waiting.length - 1);
    return this.#free.pop()!;
  }

  #newMemory(): MemorySink {
    return new MemorySink(OUTPUT_BYTES_MAX, OUTPUT_BYTES, (bytes) => {
      if (!this.#budget.take(bytes))
        throw new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has no room for a part.');
    });
  }

  add(part: number, bytes: MemorySink): void {
    this.#waiting.push({ part, bytes });
  }

  /** Writes outputs until at most `waitingMax` wait for their turn. Throws Failed on a full disk, and Cancelled. */
  *write(waitingMax: number): Coroutine<void> {
    const { turns, cancelled } = this.#job;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const { part, bytes } = first;
      if (turns.isTurnOf(part)) {
        turns.write(part, bytes.view(), this.#descriptor);
        bytes.clear();
        this.#waiting.shift();
        this.#free.push(bytes);
      } else {
        if (this.#waiting.length <= waitingMax) return;
        if (cancelled()) throw new Cancelled();
        yield turns.passed(part);
      }
    }
  }

  close(): void {
    closeSync(this.#descriptor);
    this.#budget.releaseAll();
  }
}

function pathOf({ source }: RunTask): string {
  if (source.kind !== 'file') throw new Error('a source in memory is not processed in parts');
  return source.path;
}

/** The outcome of a thread that has found no part. */
function emptyOutcome(task: RunTask): RunOutcome {
  return {
    rowsWritten: 0,
    truncated: false,
    output: null,
    rejects: null,
    failure: null,
    report: emptyReport(task),
    busyMilliseconds: 0,
  };
}
