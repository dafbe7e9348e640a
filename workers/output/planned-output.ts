// The output of one plan: its file, its writers, and the form of cells that a format accepts.
import type { Batch, ColumnData } from '../batch/batch.ts';
import type { Schema } from '../batch/schema.ts';
import { DONE, done, isSliced, type Sliced } from '../scheduling/time-slices.ts';
import type { TemplateOutput } from '../template/template.ts';
import { PLAIN_FORMAT, typedViews } from './cell-content.ts';
import type { CreateWriter, OutputFile, OutputFormat, OutputFormatTable } from './format.ts';
import type { RowWriter, WriterTools } from './writer.ts';

// Converts cells to the form that a format's writers accept: raw fields to clean text if the format does not keep
// bytes, and typed cells to text if it does not need types. Writers that accept both receive the batches unchanged.

export interface TakenCells {
  readonly keepsBytes: boolean;
  readonly needsTypes: boolean;
}

function plainCells(writer: RowWriter, taken: TakenCells): RowWriter {
  if (taken.keepsBytes && taken.needsTypes) return writer;
  return {
    push: (batch) => writer.push(withPlainCells(batch, taken)),
    endRows: () => writer.endRows?.() ?? DONE,
    finish: () => writer.finish(),
    get formulasGuarded() {
      return writer.formulasGuarded;
    },
    // Only formats that accept all cells write rows by a kernel.
    ahead: null,
  };
}

function withPlainCells(batch: Batch, { keepsBytes, needsTypes }: TakenCells): Batch {
  const columns = batch.columns.map((column, index): ColumnData => {
    if (column.kind === 'raw' && !keepsBytes) return { kind: 'views', at: batch.views(index) };
    if (column.kind === 'typed' && !needsTypes) return { kind: 'views', at: typedViews(batch, column, PLAIN_FORMAT) };
    return column;
  });
  return batch.withColumns(columns);
}

// The output of one plan: its file and its writers. The writers share data that depends on the plan alone, which is
// prepared for the first of them.

export interface OutputParts {
  readonly output: TemplateOutput;
  readonly schema: Schema;
  readonly nullValues: readonly string[];
}

/** File of an output that is split into files. */
const ARCHIVE = { mimeType: 'application/zip', extension: 'zip', otherExtensions: [], splittable: false } as const;

export class PlannedOutput {
  /** The file of the whole output: an archive if it is split. */
  readonly file: OutputFile;
  /** Extension of the files in the archive. */
  readonly entryExtension: string;
  readonly #format: OutputFormat;
  readonly #parts: OutputParts;
  #create: CreateWriter | null = null;

  constructor(formats: OutputFormatTable, parts: OutputParts) {
    this.#format = formatOf(formats, parts.output);
    this.file = fileOf(this.#format, parts.output);
    this.entryExtension = this.#format.file(parts.output.settings).extension;
    this.#parts = parts;
  }

  /**
   * Returns null if writers can be created now; otherwise a promise that resolves when they can.
   *
   * @throws Failed TEMPLATE_CHECK_FAILED for column names of the file (OutputFormat.prepare); the promise may reject
   * with it, too
   */
  *ready(): Sliced<Promise<void> | null> {
    if (this.#create !== null) return null;
    const { output, schema, nullValues } = this.#parts;
    const { settings, formulaGuard } = output;
    const preparing = this.#format.prepare({ settings, formulaGuard, schema, nullValues });
    const prepared = isSliced(preparing) ? yield* preparing : preparing;
    if (!('then' in prepared)) {
      this.#create = prepared;
      return null;
    }
    return prepared.then((create) => {
      this.#create = create;
    });
  }

  /** Call this after `ready`, whose promise must have resolved. */
  createWriter(tools: WriterTools): RowWriter {
    if (done(this.ready()) !== null || this.#create === null) throw new Error('the output is not ready');
    return plainCells(this.#create(tools), this.#format);
  }
}

/** The file of a checked Template's output. */
export function outputFile(formats: OutputFormatTable, output: TemplateOutput): OutputFile {
  return fileOf(formatOf(formats, output), output);
}

function fileOf(format: OutputFormat, { settings, splitBy }: TemplateOutput): OutputFile {
  const file = format.file(settings);
  return splitBy.length === 0 ? file : { ...file, ...ARCHIVE };
}

function formatOf(formats: OutputFormatTable, { format }: TemplateOutput): OutputFormat {
  const found = formats.get(format);
  if (found === undefined) throw new Error('the output format of a checked Template is not in the table');
  return found;
}
