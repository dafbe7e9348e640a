// The bytes of one uploaded file on their way to a worker: a short one stays in memory, a longer one goes to a file that
// the worker follows while it grows. It knows neither forms nor Runs.
// States: memory → file (opening, writing, idle) → complete; discarded at any time (the file is removed).
import { type FileHandle, open, rm } from 'node:fs/promises';

/** Up to this a file stays in memory and travels to its worker as one buffer. */
export const MEMORY_FILE_BYTES_MAX = 256 * 1024;

/** The writer is asked to wait above this, in bytes that are not written yet. */
export const UNWRITTEN_BYTES_MAX = 512 * 1024;

/** ... and to go on below this. */
const UNWRITTEN_BYTES_LOW = 256 * 1024;

/** A write to the file is at least this long, unless it is the last. */
const WRITE_BYTES_MIN = 64 * 1024;

/** Buffers in one write; the kernel takes 1,024. */
const BUFFERS_PER_WRITE_MAX = 512;

export interface SpoolListener {
  /** So many bytes of the file can be read by now. */
  grown(bytes: number): void;
  /** The writer may go on. */
  room(): void;
  /** Everything is written; also called for a file in memory. */
  complete(): void;
  /** The disk refused. Nothing is called any more. */
  failed(fault: unknown): void;
}

export class SpooledFile {
  readonly path: string;
  sizeBytes = 0;
  #listener: SpoolListener;
  #state: 'memory' | 'file' | 'complete' | 'discarded' = 'memory';
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #inWriteBytes = 0;
  #writtenBytes = 0;
  #ended = false;
  #waiting = false;
  #file: FileHandle | null = null;
  #work: Promise<void> | null = null;

  /** @param path where a longer file goes; nothing exists there */
  constructor(path: string, listener: SpoolListener) {
    this.path = path;
    this.#listener = listener;
  }

  /** So many bytes can be read from the file. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  get inMemory(): boolean {
    return this.#state === 'memory';
  }

  /** False: wait for `room` before the next write. */
  write(bytes: Buffer): boolean {
    if (this.#state === 'discarded') return true;
    this.sizeBytes += bytes.length;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#state === 'memory') {
      if (this.sizeBytes <= MEMORY_FILE_BYTES_MAX) return true;
      this.#state = 'file';
    }
    this.#writeOn();
    this.#waiting = this.#queuedBytes + this.#inWriteBytes > UNWRITTEN_BYTES_MAX;
    return !this.#waiting;
  }

  end(): void {
    this.#ended = true;
    if (this.#state === 'memory') this.#listener.complete();
    else this.#writeOn();
  }

  /** A short file's bytes in a buffer of their own, given away: only once, and only while it is in memory. */
  takeBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.sizeBytes);
    let at = 0;
    for (const part of this.#queue) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#queue = [];
    this.#queuedBytes = 0;
    return bytes;
  }

  /** Forgets the bytes and removes the file. Idempotent. */
  async discard(): Promise<void> {
    const hadFile = this.#state === 'file' || this.#state === 'complete';
    this.#state = 'discarded';
    this.#queue = [];
    await this.#work;
    await this.#close();
    if (hadFile) await rm(this.path, { force: true });
  }

  #writeOn(): void {
    if (this.#work !== null || this.#state !== 'file') return;
    if (!this.#ended && this.#queuedBytes < WRITE_BYTES_MIN) return;
    this.#work = this.#writeQueue().catch(async (fault: unknown) => {
      const tell = this.#state === 'file';
      this.#state = 'discarded';
      this.#queue = [];
      await this.#close();
      await rm(this.path, { force: true });
      if (tell) this.#listener.failed(fault);
    });
  }

  async #writeQueue(): Promise<void> {
    this.#file ??= await open(this.path, 'wx', 0o600);
    while (this.#state === 'file' && (this.#queuedBytes >= WRITE_BYTES_MIN || (this.#ended && this.#queuedBytes > 0))) {
      await this.#writePiece(this.#file);
    }
    this.#work = null;
    if (this.#state !== 'file' || !this.#ended) return;
    this.#state = 'complete';
    await this.#close();
    if (this.#is('complete')) this.#listener.complete();
  }

  async #writePiece(file: FileHandle): Promise<void> {
    let buffers = this.#queue.splice(0, BUFFERS_PER_WRITE_MAX);
    let left = buffers.reduce((sum, { length }) => sum + length, 0);
    this.#queuedBytes -= left;
    this.#inWriteBytes = left;
    while (left > 0) {
      const { bytesWritten } = await file.writev(buffers);
      buffers = without(buffers, bytesWritten);
      left -= bytesWritten;
      this.#writtenBytes += bytesWritten;
    }
    this.#inWriteBytes = 0;
    if (this.#state !== 'file') return;
    this.#listener.grown(this.#writtenBytes);
    if (this.#waiting && this.#queuedBytes <= UNWRITTEN_BYTES_LOW) {
      this.#waiting = false;
      this.#listener.room();
    }
  }

  /** The state may have changed during an await, which the compiler does not see. */
  #is(state: 'complete' | 'discarded'): boolean {
    return this.#state === state;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

/** What is left of the buffers after their first `bytes` bytes. */
function without(buffers: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes;
  const rest: Buffer[] = [];
  for (const buffer of buffers) {
    if (skip >= buffer.length) {
      skip -= buffer.length;
    } else {
      rest.push(skip === 0 ? buffer : buffer.subarray(skip));
      skip = 0;
    }
  }
  return rest;
}
