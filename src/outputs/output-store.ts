// Where finished outputs are kept until they expire. The engine leaves an output with the node (task-outputs.ts); from there
// the store takes it over. Its index is the record of each Run.
import type { RunOutcomeOutput } from '../../workers/protocol/messages.ts';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import type { RangeReader } from '../http/send-bytes.ts';

/** What an output is removed by. */
export interface OutputRef {
  readonly sizeBytes: number;
  /** null: it is in memory. */
  readonly path: string | null;
}

/** An output that can be downloaded. */
export interface StoredOutput extends OutputRef {
  /** All of it when it is in memory, else null. */
  readonly bytes: Uint8Array | null;
  /** In lower-case hex, where it is known. */
  readonly sha256?: string;
}

/** What a file is to its Run. */
export interface KeptFile {
  readonly runId: string;
  readonly file: 'output' | 'rejects';
  /** For a store that forgets by itself. */
  readonly keepMilliseconds: number;
}

export interface OutputStore {
  /**
   * Takes over what a task left in memory, or at `path`. Rejects when it cannot be kept; nothing of it remains then.
   */
  keep(output: RunOutcomeOutput, path: string, of: KeptFile): MaybePromise<StoredOutput>;

  /** Opens `lengthBytes` of the output from `start` on; positions count from there. null: it has been removed. */
  open(output: StoredOutput, start: number, lengthBytes: number): Promise<RangeReader | null>;

  /** SHA-256 of the whole output in lower-case hex. */
  sha256(output: StoredOutput): Promise<string>;

  /** A download that runs reads on. */
  remove(output: OutputRef): MaybePromise<void>;
}
