// An upload in the spool that may still be arriving, or a local file: reads up to the length that is known, then waits
// to be told more. Whatever the file system refuses is a fault of ours.
import { closeSync, openSync, readSync } from 'node:fs';
import { Cancelled } from '../../protocol/failure.ts';
import type { FileRest, StoredSource } from './source.ts';

export class FileSource implements StoredSource {
  readonly #path: string;
  #descriptor: number | null = null;
  readonly #from: number;
  #at: number;
  /** Behind what was last read, here or by others. */
  #reached: number;
  #knownBytes: number;
  #complete = false;
  #cancelled = false;
  #isSetAside = false;
  #wake: (() => void) | null = null;

  /**
   * The file is opened at the first read. It has no bytes until `grown` says so.
   * @param from byte of the file where the source begins
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

  /** The file has `bytes` bytes now; `ended`: and will have no more. */
  grown(bytes: number, ended: boolean): void {
    this.#knownBytes = bytes;
    this.#complete = ended;
    this.#isSetAside = false;
    this.#wakeUp();
  }

  /** Ends a wait with Cancelled, now and later. */
  cancel(): void {
    this.#cancelled = true;
    this.#wakeUp();
  }

  /** Ends a wait for more bytes with Cancelled: the one that goes on now, or the next unless it is told of more before. */
  setAside(): void {
    this.#isSetAside = true;
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
    while (!this.#complete && !this.#cancelled && !this.#isSetAside) await this.#change();
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
    if (!this.#cancelled && !this.#isSetAside && this.#isOut) await this.#change();
    if (this.#cancelled || (this.#isSetAside && this.#isOut)) throw new Cancelled();
  }

  rewind(): void {
    this.#at = this.#from;
    this.#reached = this.#from;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** More bytes are to come, and none is there. */
  get #isOut(): boolean {
    return !this.#complete && this.#at === this.#knownBytes;
  }

  /** Bytes of the file from `at` on to `target` from `offset` on, one at least. */
  #readSome(target: Uint8Array, offset: number, bytes: number, at: number): number {
    this.#descriptor ??= openSync(this.#path, 'r');
    const got = readSync(this.#descriptor, target, offset, bytes, at);
    if (got === 0) throw new Error('the spooled file is shorter than was told');
    return got;
  }

  /** Resolves when something new is told. */
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
