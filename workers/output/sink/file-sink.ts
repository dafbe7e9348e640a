// Keeps an output in memory while it is small and in a file from then on. States: in memory, in a file, finished or
// abandoned (then nothing remains).
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { guardDisk, writeWhole } from './disk.ts';
import { MemorySink, outputTooLarge } from './memory-sink.ts';
import type { FinishedOutput, StoredSink } from './output-sink.ts';

/** Smaller pieces are gathered: a write of this size costs little beside its bytes. */
const WRITE_BYTES_MIN = 262_144;

export interface FileSinkOptions {
  /** Written from the byte behind `memoryBytesMax` on; must not exist. */
  readonly path: string;
  readonly memoryBytesMax: number;
  /** Ceiling of the output, null = none. */
  readonly bytesMax: number | null;
  /** Take the SHA-256 on the way. */
  readonly digest: boolean;
}

export class FileSink implements StoredSink {
  readonly #options: FileSinkOptions;
  /** The whole output, later what has not been written to the file yet. */
  readonly #pending = new MemorySink();
  readonly #hash: Hash | null;
  #descriptor: number | null = null;
  /** The file exists and is ours to remove. */
  #fileMade = false;
  #sizeBytes = 0;

  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.#hash = options.digest ? createHash('sha256') : null;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Throws Failed (RUN_RESOURCE_LIMIT) over the ceiling or on a full disk; the file is then already gone. */
  write(bytes: Uint8Array): void {
    const { bytesMax, memoryBytesMax } = this.#options;
    if (bytesMax !== null && this.#sizeBytes + bytes.length > bytesMax) {
      this.abandon();
      throw outputTooLarge();
    }
    this.#sizeBytes += bytes.length;
    this.#hash?.update(bytes);
    if (this.#descriptor === null && this.#sizeBytes <= memoryBytesMax) this.#pending.write(bytes);
    else this.#guardDisk(() => this.#writeFile(bytes));
  }

  finish(): FinishedOutput {
    const sha256 = this.#hash?.digest('hex') ?? null;
    if (this.#descriptor === null) return { bytes: this.#pending.take(), sizeBytes: this.#sizeBytes, sha256 };
    this.#guardDisk(() => {
      this.#flush();
      this.#close();
    });
    this.#fileMade = false;
    return { bytes: null, sizeBytes: this.#sizeBytes, sha256 };
  }

  abandon(): void {
    this.#pending.clear();
    if (this.#fileMade) rmSync(this.#options.path, { force: true });
    this.#fileMade = false;
    this.#close();
  }

  #writeFile(bytes: Uint8Array): void {
    if (this.#descriptor === null) {
      this.#descriptor = openSync(this.#options.path, 'wx', 0o600);
      this.#fileMade = true;
    }
    if (bytes.length < WRITE_BYTES_MIN) {
      this.#pending.write(bytes);
      if (this.#pending.sizeBytes >= WRITE_BYTES_MIN) this.#flush();
    } else {
      this.#flush();
      writeWhole(this.#descriptor, bytes);
    }
  }

  #flush(): void {
    if (this.#pending.sizeBytes === 0) return;
    writeWhole(this.#descriptor!, this.#pending.view());
    this.#pending.clear();
  }

  #close(): void {
    if (this.#descriptor === null) return;
    const descriptor = this.#descriptor;
    // Closed or not, the number is no longer ours when close has failed.
    this.#descriptor = null;
    closeSync(descriptor);
  }

  #guardDisk(work: () => void): void {
    try {
      guardDisk(work);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }
}
