// The last stage of a Run's chain: arranges the output columns, handles texts that are too long, and writes to the
// output.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { SpillFolder } from '../memory/spill-file.ts';
import type { OutputFile } from '../output/format.ts';
import { FileSink, type PartSink } from '../output/sink/file-sink.ts';
import type { StoredSink } from '../output/sink/output-sink.ts';
import type { RowsAhead, RowWriter, WriterTools } from '../output/writer.ts';
import type { RunPlan } from '../plan/plan.ts';
import type { RunOutcomeOutput, RunTask } from '../protocol/messages.ts';
import type { CodeCounts, OperationReport, RunReport } from '../protocol/report.ts';
import { DONE, type Pauses, type Slices, type Steps } from '../scheduling/time-slices.ts';
import type { SortedParts, SortedRanges } from '../template/operation.ts';
import type { Template, TemplateDefaults, TemplateOperation } from '../template/template.ts';
import { OutputFiles } from './output-files.ts';
import { type RunErrors, StepErrors } from './row-errors.ts';

// Handles texts that are too long for a cell of the output file (such as XLSX): they become row errors TOO_LONG, with
// the same handling as errors of operations.

export interface LongCellsSettings {
  readonly plan: RunPlan;
  readonly defaults: TemplateDefaults;
  readonly errors: RunErrors;
  readonly kernel: Kernel;
  /** Maximum length of a text, in UTF-16 units. */
  readonly unitsMax: number;
}

/** State of one Run. */
class LongCells {
  readonly #errors: StepErrors;
  readonly #kernel: Kernel;
  readonly #unitsMax: number;
  /** Text columns, with their indexes before and in the output. */
  readonly #columns: readonly { readonly index: number; readonly place: number }[];

  constructor({ plan, defaults, errors, kernel, unitsMax }: LongCellsSettings) {
    const { columns, schema } = plan.output;
    this.#kernel = kernel;
    this.#unitsMax = unitsMax;
    this.#errors = new StepErrors(errors, plan.steps.length, outputStep(defaults), {});
    this.#columns = columns
      .map((index, place) => ({ index, place }))
      .filter(({ place }) => schema[place]!.type === 'text' || schema[place]!.type === 'json');
  }

  get counts(): CodeCounts {
    return this.#errors.counts;
  }

  /** Returns the rows that remain. With `on_error: keep`, too, a text that is too long becomes null. */
  sound(batch: Batch): Batch {
    let rows = batch;
    for (const { index, place } of this.#columns) rows = this.#column(rows, index, place);
    return rows;
  }

  #column(batch: Batch, index: number, place: number): Batch {
    const { arena, heap, selection, live } = batch;
    const views = batch.views(index);
    const found = arena.take(live * 4);
    const { findLongTexts } = this.#kernel.exports;
    const count = findLongTexts(views, selection, live, this.#unitsMax, found);
    if (count === 0) return batch;
    const positions = heap.u32.slice(found >>> 2, (found >>> 2) + count);
    const message = `Column ${place + 1} of the output contains more than ${this.#unitsMax} characters.`;
    // Work on a copy: the owner of the views may still need them.
    const copy = arena.take(batch.rows * VIEW_BYTES);
    heap.u8.copyWithin(copy, views, views + batch.rows * VIEW_BYTES);
    const dropped = new Set<number>();
    for (const position of positions) {
      const row = batch.physicalRow(position);
      const action = this.#errors.report(batch, row, null, 'TOO_LONG', { onError: null, message });
      if (action === 'drop_row') dropped.add(position);
      else heap.u32.fill(0, (copy + row * VIEW_BYTES) >>> 2, (copy + (row + 1) * VIEW_BYTES) >>> 2);
    }
    const columns = batch.columns.map((column, at): ColumnData => (at === index ? withViews(column, copy) : column));
    const blanked = batch.withColumns(columns);
    return dropped.size === 0 ? blanked : withoutRows(blanked, dropped);
  }
}

function withViews(column: ColumnData, at: number): ColumnData {
  return column.kind === 'views' && column.kinds !== undefined
    ? { kind: 'views', at, kinds: column.kinds }
    : { kind: 'views', at };
}

function withoutRows(batch: Batch, dropped: ReadonlySet<number>): Batch {
  const { arena, heap, live } = batch;
  const selection = arena.take(live * 4);
  let kept = 0;
  for (let position = 0; position < live; position++) {
    if (!dropped.has(position)) heap.u32[(selection >>> 2) + kept++] = batch.physicalRow(position);
  }
  return batch.withSelection(selection, kept);
}

/** Represents the output as a step that reports errors. It has no settings. */
function outputStep({ onError }: TemplateDefaults): TemplateOperation {
  return {
    place: null,
    pointer: '/output',
    name: 'output',
    id: null,
    enabled: true,
    where: null,
    ifMissing: 'fail',
    onError,
    parameters: {},
  };
}

// Counts the rows that an operation writes directly to the output.

export function countedAhead(report: OperationReport, ahead: RowsAhead | null): RowsAhead | null {
  if (ahead === null) return null;
  return {
    program: ahead.program,
    load: (batch) => ahead.load(batch),
    write(rows, count) {
      report.rows_out += count;
      return ahead.write(rows, count);
    },
    writeBytes(bytes, count) {
      report.rows_out += count;
      ahead.writeBytes(bytes, count);
    },
    announceRest: (bytes) => ahead.announceRest(bytes),
  };
}

// Last stage of a Run's chain: arranges the output columns, limits the number of output rows, and writes to the sink.

export interface StageSettings {
  readonly plan: RunPlan;
  readonly template: Template;
  readonly task: RunTask;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly clock: Pauses;
  readonly spill: SpillFolder;
  readonly report: RunReport;
  readonly meta: MetaValues;
  /** Receives the output if the Run processes parts of its file. */
  readonly partSink: PartSink | null;
  /** See PipelineSettings. */
  readonly sorted: Pick<SortedParts | SortedRanges, 'kind'> | null;
}

/** The last stage of a chain: an OutputStage or NO_OUTPUT. */
export type LastStage = Pick<OutputStage, keyof OutputStage>;

/** @param settings with what the last operation writes instead of an output, if several threads process the file */
export function lastStage(
  settings: StageSettings & {
    readonly groups: { readonly kind: string } | null;
    readonly keyed: { readonly kind: string } | null;
  },
  errors: RunErrors,
): LastStage {
  const hasOutput = settings.groups?.kind !== 'collect' && settings.keyed?.kind !== 'scatter';
  return hasOutput ? new OutputStage(settings, errors) : NO_OUTPUT;
}

/** Writes the rows. */
export class OutputStage {
  readonly #columns: readonly number[];
  readonly #rowsMax: number;
  readonly #file: OutputFile;
  /** Writes one file, or collects the rows of several. */
  readonly #writer: RowWriter | OutputFiles;
  readonly #sink: StoredSink;
  readonly #report: RunReport;
  /** Null if the output format allows texts of any length. */
  readonly #longCells: LongCells | null;
  rowsWritten = 0;
  truncated = false;
  #taken = false;

  constructor(settings: StageSettings, errors: RunErrors) {
    const { plan, task } = settings;
    this.#columns = plan.output.columns;
    this.#report = settings.report;
    this.#sink = sinkOf(settings);
    this.#file = plan.output.planned.file;
    const { limits } = this.#file;
    this.#rowsMax = Math.min(
      task.limits.outputRowsMax ?? Number.POSITIVE_INFINITY,
      limits?.rowsMax ?? Number.POSITIVE_INFINITY,
    );
    const { defaults } = settings.template;
    this.#longCells =
      limits === undefined ? null : new LongCells({ ...settings, errors, defaults, unitsMax: limits.cellUnitsMax });
    const { kernel, clock, meta } = settings;
    const tools = { kernel, heap: settings.arena.heap, clock, sink: this.#sink, meta };
    // Sorted rows of parts are not written to this output, but their encoding is that of its writer.
    const continues = (task.part !== undefined && task.part.number > 0) || settings.sorted?.kind === 'collect';
    this.#writer =
      plan.output.splitBy.length > 0
        ? filesOf(settings, tools)
        : plan.output.planned.createWriter({ ...tools, continues });
  }

  push(batch: Batch): Slices {
    if (this.#longCells !== null) return this.#pushSound(batch, this.#longCells);
    const rows = batch.slice(0, this.#count(batch.live));
    return rows.live > 0 ? this.#write(rows) : DONE;
  }

  /** Used by an operation that writes its rows before their positions are known. */
  get ahead(): RowsAhead | null {
    const ahead = this.#writer instanceof OutputFiles ? null : this.#writer.ahead;
    if (ahead === null) return null;
    return {
      program: ahead.program,
      load: (batch) => ahead.load(this.#arranged(batch)),
      write: (rows, count) => ahead.write(rows, this.#count(count)),
      writeBytes: (bytes, count) => ahead.writeBytes(bytes, this.#count(count)),
      announceRest: (bytes) => ahead.announceRest(bytes),
    };
  }

  /** True if rows are written in `finish`. */
  get holdsRows(): boolean {
    return this.#writer instanceof OutputFiles;
  }

  #write(batch: Batch): Slices {
    return this.#writer instanceof OutputFiles ? this.#writer.push(batch) : this.#writer.push(this.#arranged(batch));
  }

  #arranged(batch: Batch): Batch {
    return batch.withColumns(this.#columns.map((index) => batch.columns[index]!));
  }

  /** A dropped row leaves capacity for one more row, so the rows are counted after the removal. */
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
      if (sound.live > 0) yield* this.#write(sound);
      from += rows.live;
    }
  }

  /** Counts rows and returns how many of them are written. */
  #count(rows: number): number {
    const left = this.#rowsMax - this.rowsWritten;
    if (rows > left) this.truncated = true;
    const written = Math.min(rows, left);
    this.rowsWritten += written;
    return written;
  }

  /**
   * Ends the output, so that nothing remains in buffers, but reports nothing. Writers of formats that can be split
   * write nothing after the rows.
   */
  *flush(): Steps {
    if (!(this.#writer instanceof OutputFiles)) yield* this.#writer.endRows?.() ?? DONE;
    if (this.#writer instanceof OutputFiles) yield* this.#writer.finish();
    else this.#writer.finish();
  }

  /** Ends the output of a part. Outputs with several files have no parts. */
  endPart(): void {
    if (this.#writer instanceof OutputFiles) throw new Error('an output with several files has no parts');
    this.#writer.finish();
  }

  *finish(): Steps {
    yield* this.flush();
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

/** The last stage of a chain whose last operation writes groups instead of rows. */
export const NO_OUTPUT: LastStage = {
  rowsWritten: 0,
  truncated: false,
  ahead: null,
  holdsRows: false,
  push: () => DONE,
  *flush(): Steps {},
  endPart() {},
  *finish(): Steps {},
  take: () => ({ bytes: null, sizeBytes: 0, sha256: null, mimeType: '', ending: '' }),
  close() {},
};

function filesOf(settings: StageSettings, tools: WriterTools): OutputFiles {
  const { plan, template, arena, clock, kernel, spill } = settings;
  const { columns, planned, splitBy } = plan.output;
  const input = plan.steps.at(-1)?.output ?? plan.schema;
  const { fileName } = template.output;
  const context = { arena, clock, kernel, spill };
  return new OutputFiles({ ...tools, context, input, columns, splitBy, fileName, planned });
}

function sinkOf({ task, partSink }: StageSettings): StoredSink {
  const { path, memoryBytesMax } = task.output;
  if (partSink !== null) return partSink;
  return new FileSink({ path, memoryBytesMax, bytesMax: task.limits.outputBytesMax, digest: false });
}
