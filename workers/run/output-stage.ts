// The end of a Run's chain: the columns of the output in their order, the plan's cap on its rows, the writer and the sink.
import type { Batch } from '../batch/batch.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { OutputFile } from '../output/format.ts';
import { FileSink } from '../output/sink/file-sink.ts';
import type { MemorySink } from '../output/sink/memory-sink.ts';
import type { StoredSink } from '../output/sink/output-sink.ts';
import type { OutputTurns } from '../output/sink/output-turns.ts';
import { PartSink } from '../output/sink/part-sink.ts';
import type { RowsAhead, RowWriter } from '../output/writer.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RunOutcomeOutput, RunTask } from '../protocol/messages.ts';
import type { Template } from '../template/template.ts';
import { LongCells } from './long-cells.ts';
import type { RunReport } from './report.ts';
import type { RunErrors } from './row-errors.ts';
import type { Pauses } from './slice-clock.ts';
import { DONE, type Slices } from './time-slices.ts';

export interface StageParts {
  readonly plan: RunPlan;
  readonly template: Template;
  readonly task: RunTask;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly clock: Pauses;
  readonly report: RunReport;
  readonly meta: MetaValues;
  /** Null where no task is a part. */
  readonly shared: SharedOutput | null;
}

/** What parts of Runs write with. */
export interface SharedOutput {
  readonly turns: OutputTurns;
  /** Empty; nobody else's while the Run is at work. */
  readonly bytes: MemorySink;
}

/** The last stage of a chain. */
export class OutputStage {
  readonly #columns: readonly number[];
  readonly #rowsMax: number;
  readonly #file: OutputFile;
  readonly #writer: RowWriter;
  readonly #sink: StoredSink;
  readonly #report: RunReport;
  /** Null where the file holds texts of any length. */
  readonly #longCells: LongCells | null;
  rowsWritten = 0;
  truncated = false;
  #taken = false;

  constructor(parts: StageParts, errors: RunErrors) {
    const { plan, task } = parts;
    this.#columns = plan.output.columns;
    this.#report = parts.report;
    this.#sink = sinkOf(parts);
    this.#file = plan.output.planned.file;
    const { limits } = this.#file;
    this.#rowsMax = Math.min(
      task.limits.outputRowsMax ?? Number.POSITIVE_INFINITY,
      limits?.rowsMax ?? Number.POSITIVE_INFINITY,
    );
    const { defaults } = parts.template;
    this.#longCells =
      limits === undefined ? null : new LongCells({ ...parts, errors, defaults, unitsMax: limits.cellUnitsMax });
    this.#writer = plan.output.planned.createWriter({
      kernel: parts.kernel,
      heap: parts.arena.heap,
      clock: parts.clock,
      sink: this.#sink,
      meta: parts.meta,
      continues: task.part !== undefined && task.part.number > 0,
    });
  }

  push(batch: Batch): Slices {
    if (this.#longCells !== null) return this.#pushSound(batch, this.#longCells);
    const rows = batch.slice(0, this.#count(batch.live));
    return rows.live > 0 ? this.#writer.push(this.#arranged(rows)) : DONE;
  }

  /** For an operation that writes its rows before it knows their places. */
  get ahead(): RowsAhead | null {
    const { ahead } = this.#writer;
    if (ahead === null) return null;
    return {
      load: (batch) => ahead.load(this.#arranged(batch)),
      write: (rows, count) => ahead.write(rows, this.#count(count)),
    };
  }

  #arranged(batch: Batch): Batch {
    return batch.withColumns(this.#columns.map((index) => batch.columns[index]!));
  }

  /** A row that is dropped makes room for one more. */
  *#pushSound(batch: Batch, longCells: LongCells): Slices {
    for (let from = 0; from < batch.live; ) {
      const left = this.#rowsMax - this.rowsWritten;
      if (left === 0) {
        this.truncated = true;
        return;
      }
      const rows = batch.slice(from, Math.min(batch.live, from + left));
      const sound = longCells.sound(rows);
      this.rowsWritten += sound.live;
      if (sound.live > 0) yield* this.#writer.push(this.#arranged(sound));
      from += rows.live;
    }
  }

  /** How many of so many rows are written. */
  #count(rows: number): number {
    const left = this.#rowsMax - this.rowsWritten;
    if (rows > left) this.truncated = true;
    const written = Math.min(rows, left);
    this.rowsWritten += written;
    return written;
  }

  finish(): void {
    this.#writer.finish();
    this.#report.rows_written = this.rowsWritten;
    this.#report.output.formulas_guarded = this.#writer.formulasGuarded;
    for (const _ in this.#longCells?.counts) this.#report.output.errors = this.#longCells.counts;
  }

  take(): RunOutcomeOutput {
    const { mimeType, extension } = this.#file;
    this.#taken = true;
    const { bytes, sizeBytes, sha256 } = this.#sink.finish();
    return { bytes, sizeBytes, sha256, mimeType, ending: extension };
  }

  close(): void {
    if (!this.#taken) this.#sink.abandon();
  }
}

function sinkOf({ task, shared }: StageParts): StoredSink {
  const { path, memoryBytesMax } = task.output;
  if (task.part !== undefined && shared !== null) return new PartSink({ path, part: task.part.number, ...shared });
  return new FileSink({ path, memoryBytesMax, bytesMax: task.limits.outputBytesMax, digest: false });
}
