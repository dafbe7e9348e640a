// The contract between writers and what keeps the bytes: memory, a file, a coder before one of them.

/** Takes the bytes of an output in order. Throws Failed (RUN_RESOURCE_LIMIT) over the ceiling or on a full disk. */
export interface OutputSink {
  /** The bytes are copied or written before the call returns. */
  write(bytes: Uint8Array): void;
  readonly sizeBytes: number;
}
