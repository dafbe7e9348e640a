// The contract between the last operation and the output: writers turn batches into bytes.
import type { Batch } from '../batch/batch.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Heap } from '../memory/heap.ts';
import type { Pauses } from '../run/slice-clock.ts';
import type { Slices } from '../run/time-slices.ts';
import type { RowEmitter } from './sink/output-buffer.ts';
import type { OutputSink } from './sink/output-sink.ts';

export interface RowWriter {
  push(batch: Batch): Slices;
  /** Writes what belongs behind the last row. */
  finish(): void;
  /** Texts that the formula guard changed. */
  readonly formulasGuarded: number;
  /** Null where no kernel writes the rows, or a row's bytes alone do not do: a formula may end the Run. */
  readonly ahead: RowsAhead | null;
}

/** Writes rows before it is known where in the output they stand, by the kernel `finishRows`. */
export interface RowsAhead {
  /** Address of the program for rows of a batch, until the next one. Makes what views it needs in the arena. */
  load(batch: Batch): number;
  /** Takes finished rows, in the order of the output. */
  write(rows: RowEmitter, count: number): Slices;
}

/** What a writer has around it in a Run. It allocates its buffer and its program in `heap` once. */
export interface WriterTools {
  readonly kernel: Kernel;
  readonly heap: Heap;
  readonly clock: Pauses;
  readonly sink: OutputSink;
  /** Values above and below the table of the file; none unless given. */
  readonly meta?: MetaValues;
  /** Behind the first of several parts of an output (OutputFile.splittable): nothing is written before the rows. */
  readonly continues?: boolean;
  /** Bytes of the buffer before the sink; OUTPUT_BUFFER_BYTES unless a test wants a small one. */
  readonly bufferBytes?: number;
}
