// The output of one part of a Run: kept in memory until it is the part's turn, from then on written to its place in the
// file. States: gathering, writing, written or abandoned.
import { closeSync, openSync } from 'node:fs';
import { guardDisk, writeWhole } from './disk.ts';
import type { MemorySink } from './memory-sink.ts';
import type { FinishedOutput, StoredSink } from './output-sink.ts';
import type { OutputTurns } from './output-turns.ts';

export interface PartSinkOptions {
  /** The whole Run's output; it exists. */
  readonly path: string;
  /** Number of the part, from 0. */
  readonly part: number;
  readonly turns: OutputTurns;
  /** Empty; the thread's, so that its room is used again. */
  readonly bytes: MemorySink;
}

export class PartSink implements StoredSink {
  readonly #options: PartSinkOptions;
  #sizeBytes = 0;
  #descriptor: number | null = null;
  /** Byte of the file behind what was written. */
  #at = 0;

  constructor(options: PartSinkOptions) {
    this.#options = options;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Throws Failed (RUN_RESOURCE_LIMIT) on a full disk. */
  write(bytes: Uint8Array): void {
    const { part, turns } = this.#options;
    this.#sizeBytes += bytes.length;
    if (this.#descriptor === null && !turns.isTurnOf(part)) this.#options.bytes.write(bytes);
    else this.#write(bytes);
  }

  /** It must be the part's turn. Throws as `write`. */
  finish(): FinishedOutput {
    const { part, turns, bytes } = this.#options;
    // Who comes next need not wait for the disk.
    const at = turns.take(part, this.#sizeBytes);
    if (this.#descriptor === null) this.#open(at);
    if (bytes.sizeBytes > 0) this.#write(new Uint8Array(0));
    this.#close();
    return { bytes: null, sizeBytes: this.#sizeBytes, sha256: null };
  }

  abandon(): void {
    this.#options.bytes.clear();
    this.#close();
  }

  /** What was gathered, then the bytes. */
  #write(bytes: Uint8Array): void {
    const gathered = this.#options.bytes;
    if (this.#descriptor === null) this.#open(this.#options.turns.offset);
    guardDisk(() => {
      for (const piece of [gathered.view(), bytes]) {
        writeWhole(this.#descriptor!, piece, this.#at);
        this.#at += piece.length;
      }
    });
    gathered.clear();
  }

  #open(at: number): void {
    this.#at = at;
    guardDisk(() => {
      this.#descriptor = openSync(this.#options.path, 'r+');
    });
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
