// The end of a Run's chain: the columns of the output in their order, the plan's cap on its rows, the writer and the sink.
import type { Arena } from './arena.ts';
import type { Batch } from './batch.ts';
import type { Kernel } from './kernel/kernel.ts';
import type { RunOutcomeOutput, RunTask } from './messages.ts';
import { FileSink } from './output/file-sink.ts';
import { createRowWriter } from './output/index.ts';
import type { MemorySink } from './output/memory-sink.ts';
import type { StoredSink } from './output/output-sink.ts';
import type { OutputTurns } from './output/output-turns.ts';
import { PartSink } from './output/part-sink.ts';
import type { RowsAhead, RowWriter } from './output/writer.ts';
import type { RunReport } from './report.ts';
import type { RunPlan } from './template/plan.ts';
import type { Template } from './template/template.ts';

export interface OutputParts {
  readonly plan: RunPlan;
  readonly template: Template;
  readonly task: RunTask;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly report: RunReport;
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
  readonly #writer: RowWriter;
  readonly #sink: StoredSink;
  readonly #report: RunReport;
  rowsWritten = 0;
  truncated = false;
  #taken = false;

  constructor(parts: OutputParts) {
    const { plan, template, task } = parts;
    this.#columns = plan.output.columns;
    this.#rowsMax = task.limits.outputRowsMax ?? Number.POSITIVE_INFINITY;
    this.#report = parts.report;
    this.#sink = sinkOf(parts);
    this.#writer = createRowWriter({
      output: template.output,
      schema: plan.output.schema,
      nullValues: template.input.nullValues,
      kept: plan.output.kept,
      kernel: parts.kernel,
      heap: parts.arena.heap,
      sink: this.#sink,
      continues: task.part !== undefined && task.part.number > 0,
    });
  }

  push(batch: Batch): void {
    const rows = batch.slice(0, this.#count(batch.live));
    if (rows.live > 0) this.#writer.push(this.#arranged(rows));
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
  }

  take(): RunOutcomeOutput {
    const { mimeType, ending } = this.#writer;
    this.#taken = true;
    const { bytes, sizeBytes, sha256 } = this.#sink.finish();
    return { bytes, sizeBytes, sha256, mimeType, ending };
  }

  close(): void {
    if (!this.#taken) this.#sink.abandon();
  }
}

function sinkOf({ task, shared }: OutputParts): StoredSink {
  const { path, memoryBytesMax } = task.output;
  if (task.part !== undefined && shared !== null) return new PartSink({ path, part: task.part.number, ...shared });
  return new FileSink({ path, memoryBytesMax, bytesMax: task.limits.outputBytesMax, digest: false });
}
