// The interface of writers, which convert batches to bytes, and how their raw fields and short texts are written.

import type { Batch, RawTable } from '../batch/batch.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Heap } from '../memory/heap.ts';
import type { Pauses, Slices } from '../scheduling/time-slices.ts';
import type { OutputSink, RowEmitter } from './sink/output-sink.ts';

// Short texts in a Run's memory to which the programs of the output kernels refer.

/** Returns a function that places a text and returns its address. Equal texts are placed once. */
export function textPlacer(heap: Heap): (text: Uint8Array) => number {
  const known = new Map<string, number>();
  return (text) => {
    const key = Buffer.from(text).toString('latin1');
    let at = known.get(key);
    if (at === undefined) {
      at = heap.allocate(text.length);
      heap.u8.set(text, at);
      known.set(key, at);
    }
    return at;
  };
}

// Decides for each batch how its raw fields are written: as ranges of bytes, as single fields, or from clean views.

const QUOTE = 0x22;

/**
 * 'runs': an unquoted field is copied unchanged unless its first byte requires a check. 'fields': each field is
 * examined in full. 'views': the kernels cannot determine the content of a field.
 */
export function rawUse(raw: RawTable | null, rules: RawRules): RawUse {
  if (raw === null || !raw.plain || (raw.quote !== QUOTE && raw.quote !== 0)) return 'views';
  // Null values are compared before doubled quotes are unescaped.
  if (raw.quote === QUOTE && rules.nullValues.some((text) => text.includes(QUOTE))) return 'views';
  const same = rules.delimiter?.length === 1 && rules.delimiter[0] === raw.delimiter;
  return same && raw.quote === QUOTE ? 'runs' : 'fields';
}

export type RawUse = 'runs' | 'fields' | 'views';

export interface RawRules {
  readonly nullValues: readonly Uint8Array[];
  /** Delimiter of the output; null if the format has no delimiter. */
  readonly delimiter: Uint8Array | null;
}

// Interface of writers, which convert the batches after the last operation to bytes.

export interface RowWriter {
  push(batch: Batch): Slices;
  /**
   * Writes with pauses what may be large after the last row, such as a row group. Called before `finish`, which would
   * otherwise do this without pauses.
   */
  endRows?(): Slices;
  /** Writes what follows the last row. */
  finish(): void;
  /** Number of texts that the formula guard changed. */
  readonly formulasGuarded: number;
  /** Null if no kernel writes the rows, or if rows must be written in order because a formula may end the Run. */
  readonly ahead: RowsAhead | null;
}

/** Writes rows before their position in the output is known, by the kernel `finishRows`. */
export interface RowsAhead {
  /** Address of the program. It counts the guarded formulas, also of rows that another thread has encoded. */
  readonly program: number;
  /**
   * Address of the program for rows of a batch, valid until the next batch. Creates the views that it needs in the
   * arena.
   */
  load(batch: Batch): number;
  /** Accepts finished rows, in output order. */
  write(rows: RowEmitter, count: number): Slices;
  /** Accepts the bytes of `count` finished rows, which may be in shared memory, in output order. */
  writeBytes(bytes: Uint8Array, count: number): void;
  /** Announces the exact size of all further rows of a part. */
  announceRest(bytes: number): void;
}

/** Resources of a writer in a Run. The writer allocates its buffer and its program in `heap` once. */
export interface WriterTools {
  readonly kernel: Kernel;
  readonly heap: Heap;
  readonly clock: Pauses;
  readonly sink: OutputSink;
  /** Values above and below the table of the file; defaults to no values. */
  readonly meta?: MetaValues;
  /** True for all parts of an output except the first (OutputFile.splittable): nothing is written before the rows. */
  readonly continues?: boolean;
  /** Size of the buffer before the sink; defaults to OUTPUT_BUFFER_BYTES. Tests use small buffers. */
  readonly bufferBytes?: number;
}
