// The contract between writers and what keeps the bytes: memory, a file, a coder before one of them.

/** Takes the bytes of an output in order. Throws Failed (RUN_RESOURCE_LIMIT) over the ceiling or on a full disk. */
export interface OutputSink {
  /** The bytes are copied or written before the call returns. */
  write(bytes: Uint8Array): void;
  readonly sizeBytes: number;
}

/** What became of an output whose last byte is written. */
export interface FinishedOutput {
  /** The whole output when it stayed in memory, else null. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly sizeBytes: number;
  /** In hexadecimal, when it was asked for. */
  readonly sha256: string | null;
}

/** A sink whose bytes stay. */
export interface StoredSink extends OutputSink {
  /** Ends the output. Its file, where there is one, is complete and closed. Throws as `write`. */
  finish(): FinishedOutput;
  /** Gives up an output that is not finished: nothing of it remains. Harmless when called again or after `finish`. */
  abandon(): void;
}
