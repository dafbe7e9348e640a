// The share of one thread in a Run that several threads process (split.ts). In most phases, threads take parts of the
// file. They take ranges of sorted rows in the same way (RunTask.ranges). compute-streams.ts processes streams.
//
// The thread takes the next part as soon as it has finished one, without a message to another thread: waiting for a
// message took longer than a part. One pipeline processes all parts of a thread, because building it takes longer than
// the rows of a part. The first part of the file has a separate pipeline, which reads the header.
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PartGroupFiles } from '../execution/aggregate/partial-groups.ts';
import { SortedPartFiles, SortedRangeFiles } from '../execution/sort/sorted-parts.ts';
import type { SplittableInput } from '../input/format.ts';
import { formatNamed } from '../input/open-rows.ts';
import type { FileHead } from '../input/reader.ts';
import { FileSource } from '../input/source/file-source.ts';
import type { FilePart } from '../input/source/source.ts';
import { RUN_RESERVATION_BYTES, type RunShare, runShare } from '../memory/budget.ts';
import { MemorySink, outputTooLarge, PartSink, writeAt } from '../output/sink/file-sink.ts';
import { Cancelled, diskFailure, Failed } from '../protocol/failure.ts';
import type { KeysMemory } from '../protocol/frame.ts';
import {
  exchangeFolder,
  type KeyPhase,
  type PartOutcome,
  type PipelineResult,
  type RunOutcome,
  type RunTask,
} from '../protocol/messages.ts';
import { type PartTurns, RECORD_BYTES_MAX } from '../protocol/part-turns.ts';
import { forgetProgress, RunProgress } from '../protocol/task-claims.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Rest } from '../scheduling/time-slices.ts';
import { computeStreams } from './compute-streams.ts';
import { NO_OUTPUT } from './output-stage.ts';
import { runTemplate } from './run.ts';
import { emptyReport, type PartFeed, type RunJob } from './run-job.ts';
import { KeyedParts } from './share-steps.ts';
import { tableBytes } from './split.ts';

/** Initial capacity for the output of a part. The output is about as large as the part (PART_SIZES). */
const OUTPUT_BYTES = 3 * 1024 * 1024;

/** Factor from the size of a reference table to its memory: its rows, and an index for each of two operations. */
const TABLE_MEMORY_FACTOR = 12;

/** Maximum number of outputs that wait for their turn before the thread waits, too. */
const WAITING_OUTPUTS_MAX = 4;

/**
 * A job without the properties that differ between parts. `readAhead` is left out because that thread would take the
 * core of another share.
 */
export interface ShareJob extends Omit<RunJob, 'source' | 'progressed' | 'parts' | 'readAhead' | 'watch'> {
  readonly turns: PartTurns;
  /** See PartsInOrder. */
  readonly keys: KeysMemory | null;
  /** Result of reading the beginning of the file. */
  readonly head: FileHead;
  readonly keyPhase: KeyPhase;
  /** Set for the first share of the Run, null for a thread that is lent to the Run. */
  readonly first: FirstShare | null;
  /** True if another Run needs the thread, so that a thread that is lent leaves after its current part. */
  isNeeded(): boolean;
  /** See RunProgress. Null if progress is not shown. */
  readonly progress: SharedArrayBuffer | null;
  readonly spareMemory: SpareMemory;
}

/**
 * Memory for outputs that a thread keeps from one share to the next. If each share allocated new memory, V8 would collect
 * garbage once or twice per Run, in its own threads but on the cores of the Run: a fifth of the Run's processor time. The
 * reference is weak, so that the next garbage collection frees unused memory.
 */
export class SpareMemory {
  #kept: WeakRef<Uint8Array<ArrayBuffer>[]> | null = null;

  /** Returns the memory of an earlier share, or an empty list. */
  take(): Uint8Array<ArrayBuffer>[] {
    const kept = this.#kept?.deref() ?? [];
    this.#kept = null;
    return kept;
  }

  /** @param memory must not be used by the caller afterwards */
  keep(memory: Uint8Array<ArrayBuffer>[]): void {
    this.#kept = new WeakRef(memory);
  }
}

/** The first share of a Run, which has the memory that is reserved for the Run. */
export interface FirstShare {
  /** See PartsBeginning. */
  readonly opensLate: boolean;
  /** Called when the output exists and further threads can take part. */
  opened(): void;
  /** Waits until more of the file has arrived. Throws Cancelled. */
  arrival(): Promise<void>;
}

/**
 * Processes parts until all have been taken, until a part fails, or until a thread that is lent has to leave. Returns
 * null if the first share has no memory, or if the first part shows that one thread is faster. The Run then has to be
 * processed as a whole. Throws Cancelled.
 */
export function* processShare(job: ShareJob): Coroutine<RunOutcome | null> {
  if (job.keyPhase.phase === 'compute') return yield* runStreams(job);
  const outputs = new PartOutputs(job);
  const results: PipelineResult[] = [];
  let outcome = emptyOutcome(job.task);
  let busyMilliseconds = 0;
  const opening = new Opening(job);
  try {
    // Without memory for a further share, the other threads do the work.
    if (!outputs.takeFirst()) {
      if (job.first === null) return { ...outcome, results };
      if (job.task.ranges === undefined) return null;
      throw new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has too little memory for a range.');
    }
    if (job.first !== null) job.turns.limitErrors(job.prepared.template.defaults);
    if (!opening.isLate) opening.open();
    for (;;) {
      const part = yield* nextPart(job, outputs, UNMEASURED);
      if (part === null) break;
      const pipeline = new SharePipeline(job, part, outputs, yield* outputs.memory(UNMEASURED));
      pipeline.groups.foundFew = () => opening.open();
      outcome = yield* pipeline.run();
      busyMilliseconds += outcome.busyMilliseconds;
      if (outcome.failure !== null) return opening.isMissing ? null : outcome;
      opening.open();
      const { rowsWritten, output, report } = outcome;
      const groups = pipeline.groups.isUsed ? pipeline.groups.names : undefined;
      const sorted = pipeline.sorted.isUsed ? pipeline.sorted.written : undefined;
      const { parts, streams } = pipeline;
      const made = { groups, streams, sorted };
      results.push({ parts, rowsWritten: rowsWritten!, sizeBytes: output!.sizeBytes, report, ...made });
    }
    yield* outputs.write(0, UNMEASURED);
    return { ...outcome, busyMilliseconds, results };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  } finally {
    outputs.close();
    opening.close();
  }
}

/**
 * Lets further threads take part in the Run. If it opens late, this share is the only one until then, so that a Run that
 * one thread processes faster has nothing to stop.
 */
class Opening {
  readonly isLate: boolean;
  readonly #job: ShareJob;
  #isOpen = false;

  constructor(job: ShareJob) {
    this.#job = job;
    this.isLate = job.first?.opensLate === true;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#job.first?.opened();
  }

  /** True if the share should have opened late and has not yet. */
  get isMissing(): boolean {
    return this.isLate && !this.#isOpen;
  }

  /** Without an opening, removes what the first part has left, because the main thread does not know of parts. */
  close(): void {
    if (!this.isMissing) return;
    const { task, progress } = this.#job;
    rmSync(task.output.path, { force: true });
    rmSync(exchangeFolder(task), { recursive: true, force: true });
    if (progress !== null) forgetProgress(progress);
  }
}

/** The share of a thread in the phase `compute`. Its result lists streams instead of parts. */
function* runStreams({ first, ...job }: ShareJob): Coroutine<RunOutcome> {
  const outcome = emptyOutcome(job.task);
  try {
    first?.opened();
    const { streams, names, busyMilliseconds } = yield* computeStreams({ ...job, isFirst: first !== null });
    const parts = streams.map((number) => ({ number, rows: 0 }));
    const result = { parts, rowsWritten: 0, sizeBytes: 0, report: emptyReport(job.task), streams: names };
    return {
      ...outcome,
      busyMilliseconds,
      output: NO_OUTPUT.take(),
      results: parts.length === 0 ? [] : [result],
    };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return { ...outcome, failure: error.failure };
  }
}

/** Between two Runs of a share, no clock is running. */
const UNMEASURED: Rest = (wait) => wait();

/** Takes the next part. Returns null if the share is over. */
function* nextPart(job: ShareJob, outputs: PartOutputs, rest: Rest): Coroutine<number | null> {
  const { turns, first, isNeeded } = job;
  for (;;) {
    if (first === null && isNeeded()) return null;
    const part = turns.takePart();
    if (typeof part === 'number') return part;
    if (part === 'over' || first === null) return null;
    // Other threads may wait for these outputs.
    yield* outputs.write(0, rest);
    yield rest(() => first.arrival());
  }
}

/**
 * One pipeline of a share, and its result: for the first part of the file, or for all other parts or ranges that the
 * thread takes.
 */
class SharePipeline implements PartFeed {
  readonly sink: PartSink;
  readonly groups: PartGroupFiles;
  readonly turns: PartTurns;
  readonly keys: KeysMemory | null;
  readonly keyed: KeyedParts;
  readonly sorted: SortedPartFiles;
  readonly ranges: SortedRangeFiles | null;
  readonly parts: PartOutcome[] = [];
  readonly #job: ShareJob;
  readonly #outputs: PartOutputs;
  readonly #source: PartSource;
  readonly #progress: RunProgress | null;
  part: number;
  #rowsBefore = 0;
  #writtenBefore = 0;
  #errorsBefore = 0;

  /** @param memory receives the output of the first part */
  constructor(job: ShareJob, part: number, outputs: PartOutputs, memory: MemorySink) {
    this.#job = job;
    this.turns = job.turns;
    this.keys = job.keys;
    this.part = part;
    this.#outputs = outputs;
    this.sink = new PartSink(memory, {
      writeEarly: (pending, bytes) => outputs.writeEarly(this.part, pending, bytes),
      placeRest: (pending, bytes) => outputs.placeRest(this.part, pending, bytes),
      writeAt: (offset, bytes) => outputs.writeAt(offset, bytes),
    });
    const { ranges } = job.task;
    const folder = exchangeFolder(job.task);
    this.groups = new PartGroupFiles(folder, part);
    this.sorted = new SortedPartFiles(folder, part, job.keys);
    this.ranges = ranges === undefined ? null : new SortedRangeFiles(folder, ranges, job.keys);
    this.keyed = new KeyedParts(job.task, job.keyPhase, part);
    const { splittable } = formatNamed(job.formats, job.head.format);
    this.#source = new PartSource(job, splittable!);
    this.#progress = job.progress === null ? null : new RunProgress(job.progress, this.#source);
  }

  get streams(): readonly string[] | undefined {
    return this.keyed.names;
  }

  *run(): Coroutine<RunOutcome> {
    const { turns, keys, keyPhase, head, first, isNeeded, progress, task, ...job } = this.#job;
    const { rowsMax, inflatedBytesMax } = task.limits;
    try {
      this.#enter(this.part);
      return yield* runTemplate({
        ...job,
        // The limits of the output hold for all parts together, see `next`.
        task: {
          ...task,
          limits: { ...NO_LIMITS, rowsMax, inflatedBytesMax },
          part: { number: this.part, head },
          // Threads may spill at the same time. The exchange folder is removed at the end of the Run.
          spillDirectory: join(exchangeFolder(task), `${task.ranges === undefined ? '' : 'range-'}${this.part}`),
        },
        source: this.#source,
        parts: this,
        progressed: (rowsRead) => this.#progress?.update(rowsRead),
      });
    } finally {
      this.#source.close();
    }
  }

  errors(count: number): void {
    const more = count - this.#errorsBefore;
    this.#errorsBefore = count;
    if (more > 0 && !this.#job.turns.addErrors(more))
      throw new Failed('RUN_RESOURCE_LIMIT', 'The parts have more errors than the Template allows.');
  }

  *next(rowsRead: number, rowsWritten: number, rest: Rest): Coroutine<boolean> {
    const number = this.part;
    this.parts.push({ number, rows: rowsRead - this.#rowsBefore });
    this.#count(rowsRead, rowsWritten);
    this.#outputs.add(number, this.sink.cut());
    yield* this.#outputs.write(WAITING_OUTPUTS_MAX, rest);
    if (number === 0) return false;
    // Taken before the part: a thread that has a part never waits for the memory of other threads.
    const memory = yield* this.#outputs.memory(rest);
    const part = yield* nextPart(this.#job, this.#outputs, rest);
    if (part === null) {
      this.#outputs.release(memory);
      return false;
    }
    this.sink.resume(memory);
    this.part = part;
    this.#enter(part);
    return true;
  }

  /** Throws Failed above a limit of the plan. The Run is then processed as a whole, which reports it exactly. */
  #count(rowsRead: number, rowsWritten: number): void {
    const { turns, task } = this.#job;
    turns.addRows(rowsRead - this.#rowsBefore, rowsWritten - this.#writtenBefore);
    this.#rowsBefore = rowsRead;
    this.#writtenBefore = rowsWritten;
    const { rowsMax, outputRowsMax } = task.limits;
    const { read, written } = turns.rows;
    if ((rowsMax !== null && read > rowsMax) || (outputRowsMax !== null && written > outputRowsMax))
      throw new Failed('RUN_RESOURCE_LIMIT', 'The parts have more rows than the plan allows.');
  }

  #enter(part: number): void {
    this.groups.part = part;
    this.keyed.part = part;
    this.sorted.part = part;
    if (this.ranges !== null) {
      this.ranges.range = part;
      // Nothing is read from the file itself.
      this.#source.grown(0, true);
      return;
    }
    this.#source.enter(part);
    this.#progress?.skip();
  }
}

const NO_LIMITS = { rowsMax: null, outputRowsMax: null, outputBytesMax: null, inflatedBytesMax: null };

/** Delivers one part of a file after the other. */
class PartSource extends FileSource {
  readonly #turns: PartTurns;
  readonly #head: FileHead;
  readonly #format: SplittableInput;
  /** Null if the source delivers the bytes of the part only. */
  part: FilePart | null = null;
  readonly #bytes = Buffer.allocUnsafe(RECORD_BYTES_MAX);

  constructor({ task, turns, head }: ShareJob, format: SplittableInput) {
    super(pathOf(task));
    this.#turns = turns;
    this.#head = head;
    this.#format = format;
  }

  /** Throws Failed if the first record of the part or of the next part is not found. */
  enter(part: number): void {
    const { bytes, ended } = this.#turns.size;
    this.grown(bytes, ended);
    if (this.#format.recordStart === undefined) {
      const { partBytes } = this.#turns;
      const addInflated = (more: number): number => this.#turns.addInflated(more);
      this.part = { from: part * partBytes, to: (part + 1) * partBytes, addInflated };
      return;
    }
    const from = this.#startOf(part);
    const to = this.#startOf(part + 1);
    this.seek(from);
    this.passed(from);
    this.grown(to, true);
  }

  /** A Run that restarts would need the earlier parts again. The Run is then processed as a whole. */
  override rewind(): never {
    throw new Failed('RUN_RESOURCE_LIMIT', 'The parts of the file cannot be read again.');
  }

  /** Offset of the first record of a part. The size of the file if no record begins after the part's offset. */
  #startOf(part: number): number {
    if (part === 0) return 0;
    const wanted = part * this.#turns.partBytes;
    if (wanted >= this.sizeBytes) return this.sizeBytes;
    const bytes = this.#bytes.subarray(0, this.readAt(this.#bytes, wanted));
    const offset = this.#format.recordStart!(bytes, this.#head);
    if (offset > 0) return wanted + offset;
    if (bytes.length < RECORD_BYTES_MAX) return this.sizeBytes;
    throw new Failed('RUN_RESOURCE_LIMIT', 'No record begins near the end of a part.');
  }
}

const NO_BYTES = new MemorySink(0);

/** Outputs of parts that wait until the sizes of all earlier outputs are known. The budget covers their memory. */
class PartOutputs {
  readonly #job: ShareJob;
  readonly #budget: RunShare;
  #descriptor: number | null = null;
  /** In the order of the file. */
  readonly #waiting: { readonly part: number; readonly bytes: MemorySink }[] = [];
  /** The last part whose output was placed before it was complete, and is written now. */
  #placed: number | null = null;
  /** Reused, because new memory costs a page fault for each 4 KiB. */
  readonly #free: MemorySink[] = [];
  /** Memory from an earlier share that is not in use yet, and memory in use. */
  readonly #spare: Uint8Array<ArrayBuffer>[];
  readonly #used: Uint8Array<ArrayBuffer>[] = [];

  constructor(job: ShareJob) {
    this.#job = job;
    this.#budget = runShare(job.budget);
    this.#spare = job.spareMemory.take();
  }

  /**
   * Opens the output, and takes the memory for one output and for the Run of a share that is not the first. Returns
   * false if the budget refuses it. Throws Failed if the disk is full.
   */
  takeFirst(): boolean {
    const { first, task } = this.#job;
    if (!this.#budget.take(OUTPUT_BYTES)) return false;
    if (first === null && !this.#takeForRun()) return false;
    this.#free.push(this.#newMemory());
    try {
      this.#descriptor = openSync(task.output.path, first === null ? 'r+' : 'wx', 0o600);
    } catch (error) {
      throw diskFailure(error);
    }
    return true;
  }

  /** The tables of the Run take their memory themselves. Without it, the Run would fail after it has taken a part. */
  #takeForRun(): boolean {
    const forTables = tableBytes(this.#job) * TABLE_MEMORY_FACTOR;
    if (!this.#budget.take(RUN_RESERVATION_BYTES + forTables)) return false;
    this.#budget.release(forTables);
    return true;
  }

  /** Returns empty memory for an output. If the budget refuses more, waits until an earlier output is written. */
  *memory(rest: Rest): Coroutine<MemorySink> {
    if (this.#free.length === 0 && this.#budget.take(OUTPUT_BYTES)) return this.#newMemory();
    while (this.#free.length === 0) yield* this.write(this.#held - 1, rest);
    return this.#free.pop()!;
  }

  #newMemory(): MemorySink {
    const memory = this.#spare.pop() ?? Buffer.allocUnsafe(OUTPUT_BYTES);
    this.#used.push(memory);
    const { head, formats } = this.#job;
    const { outputBytesMax } = formatNamed(formats, head.format).splittable!;
    return new MemorySink(outputBytesMax, memory, (bytes) => {
      if (!this.#budget.take(bytes))
        throw new Failed('RUN_RESOURCE_LIMIT', 'The memory budget has too little memory for a part.');
    });
  }

  /** @param bytes empty memory that is not needed */
  release(bytes: MemorySink): void {
    this.#free.push(bytes);
  }

  add(part: number, bytes: MemorySink): void {
    if (part === this.#placed) {
      this.#free.push(bytes);
      return;
    }
    const isEmpty = bytes.sizeBytes === 0;
    // A part of a Parquet file may have no rows. Its memory is used for the next part.
    if (isEmpty) this.#free.push(bytes);
    this.#waiting.push({ part, bytes: isEmpty ? NO_BYTES : bytes });
  }

  /** Number of outputs that wait with their memory. */
  get #held(): number {
    return this.#waiting.filter(({ bytes }) => bytes !== NO_BYTES).length;
  }

  /** Writes outputs until at most `waitingMax` wait for their turn. Throws Failed on a full disk, and Cancelled. */
  *write(waitingMax: number, rest: Rest): Coroutine<void> {
    const { turns, cancelled } = this.#job;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const { part, bytes } = first;
      if (turns.isTurnOf(part)) {
        this.writeAt(turns.place(part, bytes.sizeBytes), bytes.view());
        bytes.clear();
        this.#waiting.shift();
        if (bytes !== NO_BYTES) this.#free.push(bytes);
      } else {
        if (waitingMax > 0 && this.#held <= waitingMax) return;
        if (cancelled()) throw new Cancelled();
        yield rest(() => turns.passed(part));
      }
    }
  }

  /**
   * Writes bytes of a part that is not complete, if it is its turn. Without this, a thread that works alone would copy
   * each output twice.
   */
  writeEarly(part: number, pending: MemorySink, bytes: Uint8Array): boolean {
    const { turns } = this.#job;
    if (!turns.isTurnOf(part)) return false;
    for (const some of [pending.view(), bytes]) {
      if (some.length > 0) this.writeAt(turns.placeEarly(some.length), some);
    }
    pending.clear();
    return true;
  }

  /** See PartFile. The next part has its turn at once. */
  placeRest(part: number, pending: MemorySink, restBytes: number): number | null {
    const { turns } = this.#job;
    if (!turns.isTurnOf(part)) return null;
    const offset = turns.place(part, pending.sizeBytes + restBytes);
    this.#placed = part;
    this.writeAt(offset, pending.view());
    const at = offset + pending.sizeBytes;
    pending.clear();
    return at;
  }

  writeAt(offset: number, bytes: Uint8Array): void {
    const { outputBytesMax } = this.#job.task.limits;
    if (outputBytesMax !== null && offset + bytes.length > outputBytesMax) throw outputTooLarge();
    writeAt(this.#descriptor!, bytes, offset);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#job.spareMemory.keep([...this.#spare, ...this.#used]);
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
