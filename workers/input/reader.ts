// The contract between the bytes of an upload, its reader and the conveyor.
import type { Batch } from '../batch.ts';
import type { RunReport } from '../report.ts';

/** Bytes of an upload in order. Synchronous where bytes are there, a wait where they are not. */
export interface ByteSource {
  /** Copies the next bytes into `target`; 0 when none are there now (see `ended`). */
  read(target: Uint8Array): number;
  /** All bytes from here to the end, where they are in memory and fewer than `bytes`; else null. They stay to be read. */
  whole?(bytes: number): Uint8Array | null;
  /** True when everything was read and nothing will follow. */
  readonly ended: boolean;
  /** The file in which what comes next stands as it is; null, as without it: it stands nowhere, or was read before. */
  rest?(): FileRest | null;
  /** Goes on at a byte of that file. */
  seek?(at: number): void;
  /** Resolves when `read` would give bytes, or at the end. Rejects with Cancelled. */
  wait(): Promise<void>;
  close(): void;
}

/** Bytes of a file that are not read yet. */
export interface FileRest {
  readonly path: string;
  /** The next byte, and the one behind the last that is there. */
  readonly from: number;
  readonly to: number;
  /** Whether `to` is the end of the file. */
  readonly ends: boolean;
}

/** The bytes as they were received, from memory or the spool: can be read again from the first byte (late parameters). */
export interface StoredSource extends ByteSource {
  rewind(): void;
}

/** What was found out about a file before its rows are read. */
export interface FileHead {
  /** csv, tsv, xlsx, json, ndjson. */
  readonly type: string;
  readonly encoding: string;
  readonly delimiter: string | null;
  readonly quote: string | null;
  /** 0-based record of the header, null when there is none. */
  readonly headerRow: number | null;
  /** Header texts as they stand, by position. They never leave the engine. */
  readonly headers: readonly string[];
}

/** Rows of one file, in order. */
export interface RowReader {
  readonly head: FileHead;
  /**
   * The next batch of at most `rowsMax` rows: a Batch, 'wait' when bytes are missing (then await `wait`), 'end' at the
   * end of the file. Throws Failed. The batch before is void. `rowsMax` 0: reads on for syntax and row count alone,
   * making batches whose rows nobody looks at.
   */
  next(rowsMax: number): Batch | 'wait' | 'end';
  wait(): Promise<void>;
  /** Data rows read so far. */
  readonly rowsRead: number;
  /** Adds what was met on the way (RAGGED_ROW, STRAY_QUOTE). */
  describe(report: RunReport): void;
  close(): void;
}
