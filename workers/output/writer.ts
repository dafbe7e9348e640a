// The contract between the last operation and the output: writers turn batches into bytes, sinks keep the bytes.
import type { Batch } from '../batch.ts';

/** Takes the bytes of an output in order. Throws Failed (RUN_RESOURCE_LIMIT) over the ceiling or on a full disk. */
export interface OutputSink {
  /** The bytes are copied or written before the call returns. */
  write(bytes: Uint8Array): void;
  readonly sizeBytes: number;
}

export interface RowWriter {
  readonly mimeType: string;
  /** File name ending without the dot. */
  readonly ending: string;
  push(batch: Batch): void;
  /** Writes what belongs behind the last row. */
  finish(): void;
  /** Texts that the formula guard changed. */
  readonly formulasGuarded: number;
}
