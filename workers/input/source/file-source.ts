// A spooled upload that may still be arriving, or a local file. Reads up to the known length, then waits for a message
// with a new length. An unreadable file is an InputFileError.
import { closeSync, openSync, readSync } from 'node:fs';
import { Cancelled, InputFileError, TRUNCATED } from '../../protocol/failure.ts';
import type { FileRest, StoredSource } from './source.ts';

export class FileSource implements StoredSource {
  readonly #path: string;
  #descriptor: number | null = null;
  readonly #from: number;
  #at: number;
  /** Offset after the bytes last read, here or by another thread. */
  #reached: number;
  #knownBytes: number;
  #complete = false;
  #cancelled = false;
  #isSuspended = false;
  #wake: (() => void) | null = null;

  /**
   * Opens the file at the first read. The source has no bytes until `grown` is called.
   * @param from offset in the file at which the source begins
   */
  constructor(path: string, from = 0) {
    this.#path = path;
    this.#from = from;
    this.#at = from;
    this.#reached = from;
    this.#knownBytes = from;
  }

  get ended(): boolean {
    return this.#complete && this.#at === this.#knownBytes;
  }

  /**
   * Reports the current size of the file.
   * @param ended whether the file is complete
   */
  grown(bytes: number, ended: boolean): void {
    this.#knownBytes = bytes;
    this.#complete = ended;
    this.#isSuspended = false;
    this.#wakeUp();
  }

  /** Ends the current wait and all later ones with Cancelled. */
  cancel(): void {
    this.#cancelled = true;
    this.#wakeUp();
  }

  /** Ends the current wait for more bytes with Cancelled, or the next wait, unless `grown` is called before. */
  suspend(): void {
    this.#isSuspended = true;
    this.#wakeUp();
  }

  read(target: Uint8Array): number {
    const bytes = Math.min(target.length, this.#knownBytes - this.#at);
    if (bytes === 0) return 0;
    const got = this.#readSome(target, 0, bytes, this.#at);
    this.#at += got;
    this.#reached = this.#at;
    return got;
  }

  get hasArrived(): boolean {
    return this.#complete;
  }

  async arrival(): Promise<void> {
    while (!this.#complete && !this.#cancelled && !this.#isSuspended) await this.#change();
    if (this.#cancelled || !this.#complete) throw new Cancelled();
  }

  get sizeBytes(): number {
    return this.#knownBytes - this.#from;
  }

  readAt(target: Uint8Array, position: number): number {
    const bytes = Math.max(0, Math.min(target.length, this.sizeBytes - position));
    for (let at = 0; at < bytes; ) at += this.#readSome(target, at, bytes - at, this.#from + position + at);
    this.#reached = this.#from + position + bytes;
    return bytes;
  }

  rest(): FileRest {
    return { path: this.#path, from: this.#at, to: this.#knownBytes, ends: this.#complete };
  }

  restAt(position: number): FileRest {
    return { ...this.rest(), from: this.#from + position };
  }

  seek(at: number): void {
    this.#at = at;
  }

  passed(at: number): void {
    this.#reached = at;
  }

  get reachedBytes(): number {
    return this.#reached - this.#from;
  }

  async wait(): Promise<void> {
    if (!this.#cancelled && !this.#isSuspended && this.#isOut) await this.#change();
    if (this.#cancelled || (this.#isSuspended && this.#isOut)) throw new Cancelled();
  }

  rewind(): void {
    this.#at = this.#from;
    this.#reached = this.#from;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** True if all known bytes have been read and more will arrive. */
  get #isOut(): boolean {
    return !this.#complete && this.#at === this.#knownBytes;
  }

  /** Reads at least one byte of the file at `at` into `target` at `offset`. */
  #readSome(target: Uint8Array, offset: number, bytes: number, at: number): number {
    let got: number;
    try {
      this.#descriptor ??= openSync(this.#path, 'r');
      got = readSync(this.#descriptor, target, offset, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw code === undefined ? error : new InputFileError(this.#path, code);
    }
    if (got === 0) throw new InputFileError(this.#path, TRUNCATED);
    return got;
  }

  /** Resolves at the next change of size or state. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
