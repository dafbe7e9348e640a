// Inputs of a Run, and the interface for observing it.
import type { Batch } from '../batch/batch.ts';
import type { PartsInOrder } from '../batch/ordered-parts.ts';
import type { TableCache } from '../execution/tables/run-tables.ts';
import type { InputFormat, MoreFile } from '../input/format.ts';
import type { ReadAheadThread } from '../input/read-ahead/read-ahead-thread.ts';
import type { PlacedFile, RowReader, SheetRow } from '../input/reader.ts';
import { FileSource } from '../input/source/file-source.ts';
import type { StoredSource } from '../input/source/source.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { KernelPool } from '../memory/kernel-pool.ts';
import type { GatedRun } from '../memory/large-row.ts';
import type { PartSink } from '../output/sink/file-sink.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { PreparedTemplate } from '../plan/template-cache.ts';
import type { Failure } from '../protocol/failure.ts';
import type { RunTask, TaskFile } from '../protocol/messages.ts';
import { type RowErrorCode, type RunReport, reportPlaces } from '../protocol/report.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import { DONE, type Rest, type Slices } from '../scheduling/time-slices.ts';
import type { Next, RowErrorAction, RowErrorRule, RowErrors } from '../template/operation.ts';
import { META_PREFIX, type Template } from '../template/template.ts';
import type { ShareFiles } from './share-steps.ts';

// Interface for observing a Run: the observer receives the rows after each operation. A Run without an observer is
// built without these stages, so they do not slow it down. An observed Run writes the same bytes.

export interface RunWatch {
  /**
   * If true, a row that would end the Run is skipped and reading continues. The outcome then says nothing about the
   * Run.
   */
  readonly continuesAfterFailure: boolean;
  /**
   * Maximum number of rows that are read from the file. Read before each batch: an observer that has seen enough can
   * lower it.
   */
  readonly rowsMax: number;
  /**
   * Source rows to process, ascending; null for all rows. Other rows are dropped right after the reader, so that the
   * selected rows keep their numbers.
   */
  readonly pickedRows: readonly number[] | null;
  /** Called before the first row, and again if the Run restarts. Observations from before a restart are void. */
  begin(plan: RunPlan, report: RunReport): void;
  /**
   * Receives the live rows after the given number of operations; 0 = the rows that arrive at the first operation. The
   * observer owns this batch: it may make views of its columns, and the arena memory that it takes is released after
   * the call.
   */
  rows(step: number, batch: Batch): void;
  /**
   * Called after the results of the last batch at this position have passed all later steps. Until then its cells
   * stay in place.
   */
  passed(step: number): void;
  /** Reports a row with an error at an operation, with the batch in which it was reported. */
  rowError(step: number, error: RowError): void;
  /** Called after the last row of a workbook. */
  placed?(placeOf: (row: number) => SheetRow | null): void;
}

/** Passes the positions of rows in a workbook to the report and to the observer. */
export function placeRows(
  { watch }: { readonly watch?: RunWatch | undefined },
  reader: Pick<RowReader, 'placeOf'> | null,
  report: RunReport,
): void {
  if (reader?.placeOf === undefined) return;
  const placeOf = (row: number): SheetRow | null => reader.placeOf!(row);
  reportPlaces(report, placeOf);
  watch?.placed?.(placeOf);
}

export interface RowError {
  readonly batch: Batch;
  readonly physicalRow: number;
  readonly column: string | null;
  readonly code: RowErrorCode;
}

/** Shows rows to the observer before passing them to `next`. Without an observer, returns `next` itself. */
export function watched(watch: RunWatch | null, step: number, next: Next): Next {
  if (watch === null) return next;
  return (batch) => {
    const mark = batch.arena.next;
    // Use a copy of the batch: making views of its columns would replace the columns that refer to the bytes of the
    // file.
    if (batch.live > 0) watch.rows(step, batch.withColumns(batch.columns));
    batch.arena.release(mark);
    const passed = (): void => {
      const after = batch.arena.next;
      watch.passed(step);
      batch.arena.release(after);
    };
    const slices = next(batch);
    if (slices !== DONE) return andThen(slices, passed);
    passed();
    return DONE;
  };
}

function* andThen(slices: Slices, act: () => void): Slices {
  yield* slices;
  act();
}

/** Reports row errors at one operation to the observer. */
export function watchedErrors(watch: RunWatch, step: number, errors: RowErrors): RowErrors {
  return {
    report(
      batch: Batch,
      physicalRow: number,
      column: string | null,
      code: RowErrorCode,
      rule?: RowErrorRule,
    ): RowErrorAction {
      watch.rowError(step, { batch, physicalRow, column, code });
      return errors.report(batch, physicalRow, column, code, rule);
    },
    failCheck: (message) => errors.failCheck(message),
    counts: errors.counts,
  };
}

/** The parts of a file that one Run processes. */
export interface PartFeed extends PartsInOrder, ShareFiles {
  readonly sink: PartSink;
  /**
   * Called at the end of each part, and when the operations have ended, with the number of errors in rows so far. Throws
   * Failed if the parts together have too many: the file is then read as a whole.
   */
  errors(count: number): void;
  /**
   * Called at the end of a part, when the sink has all of its output. Returns true if the source has another part.
   * @param rowsRead number of rows in all parts so far
   * @param rowsWritten number of their rows in the output
   * @param rest waits without counting the time as work of the Run
   */
  next(rowsRead: number, rowsWritten: number, rest: Rest): Coroutine<boolean>;
}

// Inputs of a Run: its task, its file, and the objects that it shares with other Runs of its thread. Contains no
// logic of the Run.

export interface RunJob {
  readonly task: RunTask;
  readonly prepared: PreparedTemplate;
  /** Positioned at its first byte. */
  readonly source: StoredSource;
  readonly kernels: KernelPool;
  readonly budget: BudgetShare;
  /** Budget for objects that stay in the thread after the Run, such as tables. Defaults to `budget`. */
  readonly threadBudget?: BudgetShare;
  /** The shared Int32 of LargeRowGate. */
  readonly largeRow: Int32Array;
  /** See largeRowOwner. */
  readonly largeRowOwner: number;
  /** Set if the Run processes parts of its file (see TaskPart). */
  readonly parts?: PartFeed;
  /** The reference tables of the thread. A Run without this cache reads its own tables. */
  readonly tables?: TableCache;
  /** Formats that the file may have. */
  readonly formats: readonly InputFormat[];
  cancelled(): boolean;
  /** Waits until the thread has done its other pending work. Defaults to one turn of the event loop. */
  turn?(): Promise<void>;
  /** Called whenever the clock is read. Shows the main thread that this thread is alive. */
  beat(): void;
  /** Called after each batch with the number of rows read so far. */
  progressed?(rowsRead: number): void;
  /** Read-ahead thread of this thread, for large files. */
  readonly readAhead?: ReadAheadThread;
  /** Receives the rows after each operation. */
  readonly watch?: RunWatch;
  /** Maximum number of rows in a batch. Tests use smaller batches; results do not depend on the size. */
  readonly batchRowsMax?: number;
}

/**
 * Functions for the gate, which outlives the Run. They are created here so that their closures do not keep the Run's
 * memory alive.
 */
export function gatedRun(job: RunJob): GatedRun {
  return { cancelled: () => job.cancelled(), arrived: () => job.source.hasArrived };
}

/** A Run's report before its first byte. */
export function emptyReport(task: RunTask): RunReport {
  return {
    template_sha256: task.template.sha256,
    rows_read: 0,
    rows_written: 0,
    input: { type: '', encoding: '', delimiter: null, header_row: null, errors: {} },
    operations: [],
    output: { formulas_guarded: 0 },
    tables: {},
  };
}

// Files that are read after the first one.

/** Opens local files that are read after the first one, and counts the bytes read of them. */
export class MoreFiles {
  #last: FileSource | null = null;
  /** Bytes read of the files before the last one. */
  #before = 0;
  #shownBytes = 0;

  /** Bytes read since the last call. */
  newBytes(): number {
    const shown = this.#shownBytes;
    this.#shownBytes = this.#before + (this.#last?.reachedBytes ?? 0);
    return this.#shownBytes - shown;
  }

  files(files: readonly TaskFile[]): readonly MoreFile[] {
    return files.map((file) => ({ name: file.name, ending: file.ending, source: () => this.#open(file) }));
  }

  #open({ path, sizeBytes }: TaskFile): FileSource {
    this.#before += this.#last?.reachedBytes ?? 0;
    this.#last = new FileSource(path);
    this.#last.grown(sizeBytes, true);
    return this.#last;
  }
}

/** True if an operation or the output uses values of the file as a whole. Expressions use those of each row's file. */
export function needsOneMeta({ operations, output }: Template): boolean {
  const inOutput = JSON.stringify(output.settings).includes(META_PREFIX);
  return inOutput || operations.some(({ name }) => name === 'check_totals');
}

/** Adds the file of the row that ended the Run. The local message contains its name. */
export function inFile(failure: Failure, { number, name, row }: PlacedFile): Failure {
  const { message, localMessage = message } = failure;
  const place = (label: string | number): string => ` (File ${label}, row ${row} of its data.)`;
  return { ...failure, message: message + place(number), localMessage: localMessage + place(name ?? number) };
}

// Passes on only selected rows of a file, by their source row, in the order in which they are read.

const ROW_NUMBER_BYTES = 4;

export class RowPicker {
  readonly #rows: readonly number[];
  /** Index in `rows` of the next row to pick. */
  #next = 0;

  /** @param rows source rows, ascending */
  constructor(rows: readonly number[]) {
    this.#rows = rows;
  }

  /**
   * @returns the batch with only the picked live rows. Usually no row of a batch is picked; this case costs nothing.
   */
  pick(batch: Batch): Batch {
    const next = this.#rows[this.#next];
    if (batch.live === 0 || next === undefined || next > sourceRow(batch, batch.live - 1)) return batch.slice(0, 0);
    const at = batch.arena.take(batch.live * ROW_NUMBER_BYTES);
    const { u32 } = batch.heap;
    let live = 0;
    for (let position = 0; position < batch.live && this.#next < this.#rows.length; position++) {
      const row = sourceRow(batch, position);
      while (this.#rows[this.#next]! < row) this.#next++;
      if (this.#rows[this.#next] !== row) continue;
      u32[(at >>> 2) + live++] = batch.physicalRow(position);
    }
    return batch.withSelection(at, live);
  }
}

export function sourceRow(batch: Batch, position: number): number {
  return batch.sourceRow(batch.physicalRow(position));
}
