// Keeps outputs in memory or in files: small and large outputs, and the output of one part of a Run.

import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { diskFailure, Failed } from '../../protocol/failure.ts';
import type { FinishedOutput, OutputSink, StoredSink } from './output-sink.ts';

// Writes an output to the disk: complete writes, and conversion of disk errors to failures of the Run.

/** Throws Failed (RUN_RESOURCE_LIMIT) if the disk refuses a write; other faults are thrown unchanged. */
function guardDisk(work: () => void): void {
  try {
    work();
  } catch (error) {
    throw diskFailure(error);
  }
}

/** @param position offset in the file; null: after the previous write */
function writeWhole(descriptor: number, bytes: Uint8Array, position: number | null = null): void {
  let at = 0;
  while (at < bytes.length) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, position === null ? null : position + at);
  }
}

// Keeps an output in memory: small outputs of Runs until they move to a file (FileSink), and outputs of Template tests.

/**
 * Minimum capacity at the second write, in bytes; it doubles when needed. The first write is often the whole of a
 * small output.
 */
const CAPACITY_BYTES_SECOND = 4096;

const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

export class MemorySink implements OutputSink {
  #kept: Uint8Array<ArrayBuffer>;
  #sizeBytes = 0;
  readonly #bytesMax: number;
  readonly #pay: ((bytes: number) => void) | null;

  /**
   * @param bytesMax a larger output throws Failed (RUN_RESOURCE_LIMIT)
   * @param memory used until the output is larger
   * @param pay called with each increase of the capacity above the size of `memory`; may throw Failed
   */
  constructor(
    bytesMax: number = Number.POSITIVE_INFINITY,
    memory: Uint8Array<ArrayBuffer> = NOTHING,
    pay: ((bytes: number) => void) | null = null,
  ) {
    this.#bytesMax = bytesMax;
    this.#kept = memory;
    this.#pay = pay;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  write(bytes: Uint8Array): void {
    const size = this.#sizeBytes + bytes.length;
    if (size > this.#bytesMax) throw outputTooLarge();
    if (size > this.#kept.length) {
      if (this.#kept.length === 0) this.#begin(size);
      else this.#grow(size);
    }
    this.#kept.set(bytes, this.#sizeBytes);
    this.#sizeBytes = size;
  }

  /**
   * Returns the written bytes and empties the sink. More than a few kilobytes have their own buffer, which can be
   * transferred to another thread.
   */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#kept.length === this.#sizeBytes ? this.#kept : this.bytes();
    this.#kept = NOTHING;
    this.#sizeBytes = 0;
    return taken;
  }

  /** A copy of the written bytes, in their own buffer. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.view());
  }

  /** The written bytes without copying, valid until the next call. */
  view(): Uint8Array {
    return this.#kept.subarray(0, this.#sizeBytes);
  }

  /** Empties the sink and keeps its capacity. */
  clear(): void {
    this.#sizeBytes = 0;
  }

  #begin(size: number): void {
    this.#pay?.(size);
    this.#kept = Buffer.allocUnsafe(size);
  }

  #grow(size: number): void {
    const capacity = Math.max(size, this.#kept.length * 2, CAPACITY_BYTES_SECOND);
    this.#pay?.(capacity - this.#kept.length);
    const grown = new Uint8Array(capacity);
    grown.set(this.view());
    this.#kept = grown;
  }
}

/** RUN_RESOURCE_LIMIT: limit `output_bytes_max` of the account's plan. */
export function outputTooLarge(): Failed {
  return new Failed('RUN_RESOURCE_LIMIT', "The output is larger than the plan's ceiling for outputs.");
}

// Keeps a small output in memory, and moves a larger one to a file. States: in memory -> in a file -> finished or
// abandoned (then nothing remains).

/** Smaller pieces are collected: for a write of this size, the fixed cost is negligible. In bytes. */
const WRITE_BYTES_MIN = 262_144;

export interface FileSinkOptions {
  /** Used once the output exceeds `memoryBytesMax`. The file must not exist yet. */
  readonly path: string;
  readonly memoryBytesMax: number;
  /** Maximum size of the output; null = no limit. */
  readonly bytesMax: number | null;
  /** Compute the SHA-256 while writing. */
  readonly digest: boolean;
}

export class FileSink implements StoredSink {
  readonly #options: FileSinkOptions;
  /** The whole output while it is in memory; afterwards, bytes not yet written to the file. */
  readonly #pending = new MemorySink();
  readonly #hash: Hash | null;
  #descriptor: number | null = null;
  /** True if this sink has created the file and must remove it. */
  #fileMade = false;
  #sizeBytes = 0;

  constructor(options: FileSinkOptions) {
    this.#options = options;
    this.#hash = options.digest ? createHash('sha256') : null;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Throws Failed (RUN_RESOURCE_LIMIT) above the limit or on a full disk; the file has then been removed. */
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
    // Even if close fails, the descriptor must not be used again.
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

/** Writes all bytes at an offset of a file. Throws Failed (RUN_RESOURCE_LIMIT) on a full disk. */
export function writeAt(descriptor: number, bytes: Uint8Array, offset: number): void {
  guardDisk(() => writeWhole(descriptor, bytes, offset));
}

// Lets the threads that share a Run write the outputs of its parts to one file in order. A thread keeps the output of a
// part in memory until the sizes of all earlier outputs are known.

/** The file, as the output of a part needs it. */
export interface PartFile {
  /** Writes `pending` and then `bytes` to the file and empties `pending`, or returns false: both have to be kept. */
  writeEarly(pending: MemorySink, bytes: Uint8Array): boolean;
  /**
   * Writes and empties `pending`, and returns the offset for the rest of the part's output. Returns null if it is not
   * known yet.
   * @param bytes exact size of the rest
   */
  placeRest(pending: MemorySink, bytes: number): number | null;
  writeAt(offset: number, bytes: Uint8Array): void;
}

/** Collects the outputs of the parts that one Run processes. */
export class PartSink implements StoredSink {
  #bytes: MemorySink;
  readonly #file: PartFile;
  /** Where the rest of the part is in the file, and where it ends. Null if this is not known. */
  #rest: { at: number; readonly end: number } | null = null;
  #sizeBytes = 0;

  /**
   * @param bytes empty; receives the output of the first part
   * @param file saves the copy to memory if it is the turn of the part
   */
  constructor(bytes: MemorySink, file: PartFile) {
    this.#bytes = bytes;
    this.#file = file;
  }

  /** Size of all outputs. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Throws Failed (RUN_RESOURCE_LIMIT) above the limit of the part's memory. */
  write(bytes: Uint8Array): void {
    if (this.#rest !== null) {
      this.#file.writeAt(this.#rest.at, bytes);
      this.#rest.at += bytes.length;
    } else if (!this.#file.writeEarly(this.#bytes, bytes)) this.#bytes.write(bytes);
    this.#sizeBytes += bytes.length;
  }

  announceRest(bytes: number): void {
    const at = this.#file.placeRest(this.#bytes, bytes);
    this.#rest = at === null ? null : { at, end: at + bytes };
  }

  /** Ends the output of a part and returns the bytes that are not in the file yet. Nothing may be written before `resume`. */
  cut(): MemorySink {
    const ended = this.#bytes;
    if (this.#rest !== null && this.#rest.at !== this.#rest.end)
      throw new Error('the size of a part was announced wrongly');
    this.#rest = null;
    this.#bytes = new MemorySink(0);
    return ended;
  }

  /** @param bytes empty; receives the output of the next part */
  resume(bytes: MemorySink): void {
    this.#bytes = bytes;
  }

  finish(): FinishedOutput {
    if (this.#bytes.sizeBytes > 0) throw new Error('output after the last part');
    return { bytes: null, sizeBytes: this.#sizeBytes, sha256: null };
  }

  abandon(): void {
    this.#bytes.clear();
  }
}
