// Keeps an output in memory while it is small and in a file from then on. States: in memory, in a file, finished or
// abandoned (then nothing remains).
import { createHash, type Hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Failed } from '../failure.ts';
import { MemorySink, outputTooLarge } from './memory-sink.ts';
import { WriteBehind } from './write-behind.ts';
import type { OutputSink } from './writer.ts';

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
  /** The whole output, until it goes on in the file. */
  readonly #kept = new MemorySink();
  readonly #hash: Hash | null;
  /** The file, from when it exists until it is finished or removed. */
  #file: WriteBehind | null = null;
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
    if (this.#file === null && this.#sizeBytes <= memoryBytesMax) this.#kept.write(bytes);
    else this.#guardDisk(() => this.#writeFile(bytes));
  }

  /** True while bytes are on their way to the file: they arrive during other work, if the event loop gets a turn. */
  get underWay(): boolean {
    return this.#file?.underWay ?? false;
  }

  /** To be awaited before `finish` where bytes are under way. */
  async settled(): Promise<void> {
    await this.#file?.settled();
  }

  /** Ends the output. Its file, where there is one, is complete and closed. Throws as `write`. */
  finish(): StoredOutput {
    const sha256 = this.#hash?.digest('hex') ?? null;
    const file = this.#file;
    if (file === null) return { bytes: this.#kept.take(), sizeBytes: this.#sizeBytes, sha256 };
    this.#guardDisk(() => file.finish());
    this.#file = null;
    return { bytes: null, sizeBytes: this.#sizeBytes, sha256 };
  }

  /** Gives up an output that is not finished: nothing of it remains. Harmless when called again or after `finish`. */
  abandon(): void {
    this.#kept.take();
    if (this.#file === null) return;
    rmSync(this.#options.path, { force: true });
    this.#file.abandon();
    this.#file = null;
  }

  #writeFile(bytes: Uint8Array): void {
    if (this.#file === null) {
      this.#file = new WriteBehind(this.#options.path);
      this.#file.write(this.#kept.take());
    }
    this.#file.write(bytes);
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
