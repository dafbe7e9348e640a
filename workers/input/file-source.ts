// An upload in the spool that may still be arriving, or a local file: reads up to the length that was told, then waits
// to be told more. Whatever the file system refuses is a fault of ours.
import { closeSync, openSync, readSync } from 'node:fs';
import { Cancelled } from '../failure.ts';
import type { FileRest, StoredSource } from './reader.ts';

export class FileSource implements StoredSource {
  readonly #path: string;
  #descriptor: number | null = null;
  readonly #from: number;
  #at: number;
  #knownBytes: number;
  #complete = false;
  #cancelled = false;
  #wake: (() => void) | null = null;

  /**
   * The file is opened at the first read. It has no bytes until `grown` says so.
   * @param from byte of the file where the source begins
   */
  constructor(path: string, from = 0) {
    this.#path = path;
    this.#from = from;
    this.#at = from;
    this.#knownBytes = from;
  }

  get ended(): boolean {
    return this.#complete && this.#at === this.#knownBytes;
  }

  /** The file has `bytes` bytes now; `ended`: and will have no more. */
  grown(bytes: number, ended: boolean): void {
    this.#knownBytes = bytes;
    this.#complete = ended;
    this.#wakeUp();
  }

  /** Ends a wait with Cancelled, now and later. */
  cancel(): void {
    this.#cancelled = true;
    this.#wakeUp();
  }

  read(target: Uint8Array): number {
    const bytes = Math.min(target.length, this.#knownBytes - this.#at);
    if (bytes === 0) return 0;
    this.#descriptor ??= openSync(this.#path, 'r');
    const got = readSync(this.#descriptor, target, 0, bytes, this.#at);
    if (got === 0) throw new Error('the spooled file is shorter than was told');
    this.#at += got;
    return got;
  }

  rest(): FileRest {
    return { path: this.#path, from: this.#at, to: this.#knownBytes, ends: this.#complete };
  }

  seek(at: number): void {
    this.#at = at;
  }

  async wait(): Promise<void> {
    if (!this.#cancelled && !this.#complete && this.#at === this.#knownBytes) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#cancelled) throw new Cancelled();
  }

  rewind(): void {
    this.#at = this.#from;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
