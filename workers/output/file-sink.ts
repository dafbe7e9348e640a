// Keeps an output in memory while it is small and in a file from then on. States: in memory, in a file, finished or
// abandoned (then nothing remains).
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { Failed } from '../failure.ts';
import { MemorySink, outputTooLarge } from './memory-sink.ts';
import type { OutputSink } from './output-sink.ts';

/** Smaller pieces are gathered: a write of this size costs little beside its bytes. */
const WRITE_BYTES_MIN = 262_144;

/** The disk is full, over its quota, broken, or refuses so large a file: the Run ends, the thread goes on. */
const DISK_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG']);

export interface FileSinkOptions {
  /** Written from the byte behind `memoryBytesMax` on; must not exist. */
  readonly path: string;
  readonly memoryBytesMax: number;
  /** Ceiling of the output, null = none. */
  readonly bytesMax: number | null;
  /** Take the SHA-256 on the way. */
  readonly digest: boolean;
}

export interface StoredOutput {
  /** The whole output when it stayed in memory, else null. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly sizeBytes: number;
  /** In hexadecimal, when it was asked for. */
  readonly sha256: string | null;
}

export class FileSink implements OutputSink {
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

  /** Ends the output. Its file, where there is one, is complete and closed. Throws as `write`. */
  finish(): StoredOutput {
    const sha256 = this.#hash?.digest('hex') ?? null;
    if (this.#descriptor === null) return { bytes: this.#pending.take(), sizeBytes: this.#sizeBytes, sha256 };
    this.#guardDisk(() => {
      this.#flush();
      this.#close();
    });
    this.#fileMade = false;
    return { bytes: null, sizeBytes: this.#sizeBytes, sha256 };
  }

  /** Gives up an output that is not finished: nothing of it remains. Harmless when called again or after `finish`. */
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
      work();
    } catch (error) {
      this.abandon();
      if (!DISK_CODES.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw new Failed('RUN_RESOURCE_LIMIT', 'The disk has no room for the output.');
    }
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(descriptor, bytes, at, bytes.length - at);
}
