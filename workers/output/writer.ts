// The contract between the last operation and the output: writers turn batches into bytes.
import type { Batch } from '../batch.ts';
import type { Heap } from '../heap.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Schema } from '../schema.ts';
import type { TemplateOutput } from '../template/template.ts';
import type { CsvForm } from './csv-form.ts';
import type { RowEmitter } from './output-buffer.ts';
import type { OutputSink } from './output-sink.ts';

export interface RowWriter {
  readonly mimeType: string;
  /** File name ending without the dot. */
  readonly ending: string;
  push(batch: Batch): void;
  /** Writes what belongs behind the last row. */
  finish(): void;
  /** Texts that the formula guard changed. */
  readonly formulasGuarded: number;
  /** Null where a row's bytes alone do not do: a formula may end the Run, with the first such row of the output. */
  readonly ahead: RowsAhead | null;
}

/** Writes rows before it is known where in the output they stand, by the kernel `finishRows`. */
export interface RowsAhead {
  /** The program for rows of a batch, until the next one. Makes what views it needs in the arena. */
  load(batch: Batch): { readonly at: number; readonly isJson: boolean };
  /** Takes finished rows, in the order of the output. */
  write(rows: RowEmitter, count: number): void;
}

/** What the writers of one output, schema and list of null values have in common; the first of them makes it. */
export interface KeptForm {
  csv: CsvForm | null;
}

/** What a writer is made from. It allocates its buffer and its program in `heap` once. */
export interface WriterOptions {
  readonly output: TemplateOutput;
  /** Columns of the batches that it gets, in the order of the output. */
  readonly schema: Schema;
  /** `input.null_values` of the Template: raw fields are compared with them when they are written. */
  readonly nullValues: readonly string[];
  /** Where more such writers follow; without it each makes its own. */
  readonly kept?: KeptForm;
  readonly kernel: Kernel;
  readonly heap: Heap;
  readonly sink: OutputSink;
  /** What is written comes behind other rows: no header, no byte order mark. Not for a JSON array. */
  readonly continues?: boolean;
  /** Bytes of the buffer before the sink; OUTPUT_BUFFER_BYTES unless a test wants a small one. */
  readonly bufferBytes?: number;
}
