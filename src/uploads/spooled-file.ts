// The bytes of one uploaded file on their way to a worker: a short one stays in memory, a longer one goes to a file that
// the worker follows while it grows. It knows neither forms nor Runs.
// States: memory → file (opening, writing, idle) → complete; discarded at any time (a whole file may serve the next upload,
// any other is removed).
import { close, writev, writevSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { COPIED_BYTES_MAX } from '../../workers/protocol/frame.ts';
import type { IdleFiles } from './idle-files.ts';
import { BLOCK_BYTES, type WriteBlocks } from './write-blocks.ts';

/** Up to this a file stays in memory and travels to its worker as one buffer. */
export const MEMORY_FILE_BYTES_MAX = 256 * 1024;

/** The writer is asked to wait above this, in full blocks that are not written yet. */
const UNWRITTEN_BLOCKS_MAX = 4;

/** ... and to go on at this. */
const UNWRITTEN_BLOCKS_LOW = 2;

/** So many blocks are written in place at once: the client sends on meanwhile. */
const IN_PLACE_BLOCKS_MAX = 64;

const writeInBackground = promisify(writev);
const closeInBackground = promisify(close);

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
  #files: IdleFiles;
  #blocks: WriteBlocks;
  #state: 'memory' | 'file' | 'complete' | 'discarded' = 'memory';
  /** In memory: what came, copied. */
  #pieces: Buffer[] = [];
  /** To the file: blocks that wait for their write, and one that is being filled. */
  #full: Buffer[] = [];
  #inWrite = 0;
  /** Where the first waiting block goes. */
  #position = 0;
  #filling: Buffer | null = null;
  #filledBytes = 0;
  #writtenBytes = 0;
  #ended = false;
  #waiting = false;
  #descriptor: number | null = null;
  /** Of the file that is written over, in bytes. */
  #oldBytes = 0;
  #work: Promise<void> | null = null;
  #failed = false;

  /** @param path where a longer file goes; nothing exists there */
  constructor(path: string, files: IdleFiles, blocks: WriteBlocks, listener: SpoolListener) {
    this.path = path;
    this.#files = files;
    this.#blocks = blocks;
    this.#listener = listener;
  }

  /** So many bytes can be read from the file. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  get inMemory(): boolean {
    return this.#state === 'memory';
  }

  /** Copies the bytes. False: wait for `room` before the next write. */
  write(bytes: Buffer): boolean {
    if (this.#state === 'discarded') return true;
    this.sizeBytes += bytes.length;
    if (this.#state === 'memory') {
      if (this.sizeBytes <= MEMORY_FILE_BYTES_MAX) {
        this.#pieces.push(Buffer.from(bytes));
        return true;
      }
      this.#state = 'file';
      for (const piece of this.#pieces.splice(0)) this.#fill(piece);
    }
    this.#fill(bytes);
    try {
      const descriptor = this.#open();
      if (this.#blocks.crowded && this.#full.length > UNWRITTEN_BLOCKS_MAX) this.#writeInPlace(descriptor);
      this.#writeOn(descriptor);
    } catch (fault) {
      this.#fail(fault);
      return true;
    }
    if (this.#full.length + this.#inWrite > UNWRITTEN_BLOCKS_MAX) this.#waiting = true;
    return !this.#waiting;
  }

  end(): void {
    this.#ended = true;
    if (this.#state === 'memory') this.#listener.complete();
    else if (this.#descriptor !== null) this.#writeOn(this.#descriptor);
  }

  /**
   * A short file's bytes, while it is in memory: each time in a buffer of their own, to be given away, unless they are so
   * few that they are copied on their way.
   */
  bytes(): Uint8Array<ArrayBuffer> {
    const [first] = this.#pieces;
    if (first?.length === this.sizeBytes && this.sizeBytes <= COPIED_BYTES_MAX) return first as Uint8Array<ArrayBuffer>;
    const bytes = new Uint8Array(this.sizeBytes);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** Nobody asks for a short file's bytes any more. */
  forgetBytes(): void {
    if (this.#state === 'memory') this.#pieces = [];
  }

  /** Forgets the bytes and gives the file away. Idempotent. A promise only where there may be a file. */
  discard(): void | Promise<void> {
    if (this.#state !== 'memory') return this.#discardFile();
    this.#state = 'discarded';
    this.#pieces = [];
  }

  async #discardFile(): Promise<void> {
    const isWhole = this.#state === 'complete';
    const hadFile = isWhole || this.#state === 'file' || this.#failed;
    this.#failed = false;
    this.#state = 'discarded';
    await this.#work;
    await this.#forget();
    if (isWhole) await this.#files.give(this.path, this.sizeBytes, this.#oldBytes);
    else if (hadFile) await rm(this.path, { force: true });
  }

  /** At the first bytes that go to it. Throws what the system says. */
  #open(): number {
    if (this.#descriptor === null) {
      const { descriptor, oldBytes } = this.#files.open(this.path);
      this.#descriptor = descriptor;
      this.#oldBytes = oldBytes;
    }
    return this.#descriptor;
  }

  #fill(bytes: Buffer): void {
    let from = 0;
    while (from < bytes.length) {
      this.#filling ??= this.#blocks.take();
      const count = bytes.copy(this.#filling, this.#filledBytes, from);
      from += count;
      this.#filledBytes += count;
      if (this.#filledBytes < BLOCK_BYTES) return;
      this.#full.push(this.#filling);
      this.#blocks.fill();
      this.#filling = null;
      this.#filledBytes = 0;
    }
  }

  #writeOn(descriptor: number): void {
    if (this.#work !== null || this.#state !== 'file') return;
    if (this.#full.length === 0 && !this.#ended) return;
    this.#work = this.#writeBlocks(descriptor).catch((fault: unknown) => this.#fail(fault));
  }

  async #writeBlocks(descriptor: number): Promise<void> {
    while (this.#state === 'file' && this.#full.length > 0) await this.#writeFull(descriptor);
    if (this.#state === 'file' && this.#ended && this.#filling !== null) {
      await writeAll(descriptor, [this.#filling.subarray(0, this.#filledBytes)], this.#position);
      this.#writtenBytes = this.#position + this.#filledBytes;
    }
    // Of a file elsewhere a close tells what its writes have not: it is whole when that has gone well, too.
    if (this.#is('file') && this.#ended) await this.#forget();
    this.#work = null;
    if (!this.#is('file') || !this.#ended) return;
    this.#state = 'complete';
    this.#listener.complete();
  }

  async #writeFull(descriptor: number): Promise<void> {
    const blocks = this.#full.splice(0);
    const position = this.#position;
    this.#inWrite = blocks.length;
    this.#position += blocks.length * BLOCK_BYTES;
    try {
      await writeAll(descriptor, blocks, position);
    } finally {
      this.#inWrite = 0;
      for (const block of blocks) this.#blocks.giveFull(block);
    }
    if (this.#state !== 'file') return;
    // What was written in place meanwhile lies behind these blocks.
    this.#writtenBytes = this.#position;
    this.#listener.grown(this.#writtenBytes);
    if (this.#waiting && this.#full.length <= UNWRITTEN_BLOCKS_LOW) {
      this.#waiting = false;
      this.#listener.room();
    }
  }

  /**
   * The HTTP library reads on after a pause for as long as a client keeps the kernel's buffer full (seen on loopback:
   * 200 MB in one turn of the loop, in which no write in the background can end). ReadTurns makes it rare.
   */
  #writeInPlace(descriptor: number): void {
    const blocks = this.#full.splice(0, IN_PLACE_BLOCKS_MAX);
    const length = blocks.length * BLOCK_BYTES;
    try {
      // The system takes less only when the disk is full.
      if (writevSync(descriptor, blocks, this.#position) < length) throw new Error('the disk took part of a write');
    } finally {
      for (const block of blocks) this.#blocks.giveFull(block);
    }
    this.#position += length;
    if (this.#inWrite === 0) this.#writtenBytes = this.#position;
  }

  /** The disk refused: nothing of the file stays. Whoever made it still discards it. */
  #fail(fault: unknown): void {
    if (this.#state === 'file') {
      this.#state = 'discarded';
      this.#failed = true;
      this.#listener.failed(fault);
    }
  }

  /** The state may have changed during an await, which the compiler does not see. */
  #is(state: 'file' | 'discarded'): boolean {
    return this.#state === state;
  }

  /** Gives back blocks and descriptor; no write is under way. */
  async #forget(): Promise<void> {
    this.#pieces = [];
    for (const block of this.#full.splice(0)) this.#blocks.giveFull(block);
    if (this.#filling !== null) this.#blocks.give(this.#filling);
    this.#filling = null;
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    if (descriptor !== null) await closeInBackground(descriptor);
  }
}

/** One write is often enough, but the system may take less. */
async function writeAll(descriptor: number, buffers: readonly Buffer[], position: number): Promise<void> {
  let rest = [...buffers];
  let at = position;
  while (rest.length > 0) {
    const { bytesWritten } = await writeInBackground(descriptor, rest, at);
    at += bytesWritten;
    rest = without(rest, bytesWritten);
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
