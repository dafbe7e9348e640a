// The bytes of an uploaded file on their way to a worker: a short file stays in memory; a longer one is written to a
// file that the worker reads while it grows. Blocks of the file are written in the background, because a disk may be
// slow; a file on tmpfs is written at once. Knows neither forms nor Runs. States: memory → file (opening, writing,
// idle) → complete; discarded at any time (a complete file may serve the next upload, any other is removed).

import { close, writeSync, writev, writevSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { COPIED_BYTES_MAX } from '../../workers/protocol/frame.ts';
import type { MemoryBudget } from '../admission/memory-budget.ts';
import type { IdleFiles } from './idle-files.ts';

/** Maximum size of a file that stays in memory and is sent to its worker as one buffer. */
export const MEMORY_FILE_BYTES_MAX = 256 * 1024;

/** Number of full unwritten blocks above which the writer must wait. */
const UNWRITTEN_BLOCKS_MAX = 4;

/** Number of full unwritten blocks at which the writer may continue. */
const UNWRITTEN_BLOCKS_LOW = 2;

/** Maximum number of blocks written synchronously at once, while the client continues to send. */
const IN_PLACE_BLOCKS_MAX = 64;

const writeInBackground = promisify(writev);
const closeInBackground = promisify(close);

export interface SpoolListener {
  /** This many bytes of the file can now be read. */
  grown(bytes: number): void;
  /** The writer may continue. */
  drained(): void;
  /** Everything is written. Also called for a file in memory. */
  complete(): void;
  /** Writing to the disk failed. Nothing is called after this. */
  failed(fault: unknown): void;
}

export class SpooledFile {
  readonly path: string;
  sizeBytes = 0;
  #listener: SpoolListener;
  #files: IdleFiles;
  #blocks: WriteBlocks;
  #state: 'memory' | 'file' | 'complete' | 'discarded' = 'memory';
  /** In memory: copies of the received bytes. */
  #pieces: Buffer[] = [];
  /** For the file: full blocks that wait to be written, and the block that is being filled. */
  #full: Buffer[] = [];
  #inWrite = 0;
  /** File offset of the first waiting block. */
  #position = 0;
  #filling: Buffer | null = null;
  #filledBytes = 0;
  #writtenBytes = 0;
  #ended = false;
  #waiting = false;
  #descriptor: number | null = null;
  #isFileInMemory = false;
  /** Previous length of an overwritten file, in bytes. */
  #oldBytes = 0;
  #work: Promise<void> | null = null;
  #failed = false;

  /** @param path path for a longer file; nothing exists there */
  constructor(path: string, files: IdleFiles, blocks: WriteBlocks, listener: SpoolListener) {
    this.path = path;
    this.#files = files;
    this.#blocks = blocks;
    this.#listener = listener;
  }

  /** Number of bytes that can be read from the file. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  get inMemory(): boolean {
    return this.#state === 'memory';
  }

  /** Copies the bytes. If it returns false, the caller must wait for `drained` before the next write. */
  write(bytes: Buffer): boolean {
    if (this.#state === 'discarded') return true;
    this.sizeBytes += bytes.length;
    if (this.#state === 'memory') {
      if (this.sizeBytes <= MEMORY_FILE_BYTES_MAX) {
        this.#pieces.push(Buffer.from(bytes));
        return true;
      }
      this.#state = 'file';
      return this.#writeToFile([...this.#pieces.splice(0), bytes]);
    }
    return this.#writeToFile([bytes]);
  }

  #writeToFile(pieces: readonly Buffer[]): boolean {
    try {
      const descriptor = this.#open();
      if (this.#isFileInMemory) this.#writeNow(descriptor, pieces);
      else for (const piece of pieces) this.#fill(piece);
      if (this.#blocks.crowded && this.#full.length > UNWRITTEN_BLOCKS_MAX) this.#writeInPlace(descriptor);
      this.#continueWriting(descriptor);
    } catch (fault) {
      this.#fail(fault);
      return true;
    }
    if (this.#isFileInMemory) this.#listener.grown(this.#writtenBytes);
    if (this.#full.length + this.#inWrite > UNWRITTEN_BLOCKS_MAX) this.#waiting = true;
    return !this.#waiting;
  }

  end(): void {
    this.#ended = true;
    if (this.#state === 'memory') this.#listener.complete();
    else if (this.#descriptor !== null) this.#continueWriting(this.#descriptor);
  }

  /**
   * Returns the bytes of a short file in memory, each time in a separate buffer that can be transferred. Very short
   * files are copied when they are sent, so their buffer is shared.
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

  /** Called when the bytes of a short file are no longer needed. */
  forgetBytes(): void {
    if (this.#state === 'memory') this.#pieces = [];
  }

  /** Drops the bytes and the file. Idempotent. Returns a promise only if there may be a file. */
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

  /** Called at the first bytes for the file. Throws system errors. */
  #open(): number {
    if (this.#descriptor === null) {
      const { descriptor, oldBytes, isInMemory } = this.#files.open(this.path);
      this.#descriptor = descriptor;
      this.#oldBytes = oldBytes;
      this.#isFileInMemory = isInMemory;
    }
    return this.#descriptor;
  }

  /** For a file in memory: collecting blocks for a background write takes longer than this write. */
  #writeNow(descriptor: number, pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      const end = this.#position + piece.length;
      while (this.#position < end) {
        this.#position += writeSync(descriptor, piece, piece.length - (end - this.#position), null, this.#position);
      }
    }
    this.#writtenBytes = this.#position;
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

  #continueWriting(descriptor: number): void {
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
    // On a network file system, closing reports errors that writing did not. The file is complete only if closing
    // succeeds.
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
      for (const block of blocks) this.#blocks.releaseFull(block);
    }
    if (this.#state !== 'file') return;
    // Blocks written synchronously in the meantime are located after these blocks.
    this.#writtenBytes = this.#position;
    this.#listener.grown(this.#writtenBytes);
    if (this.#waiting && this.#full.length <= UNWRITTEN_BLOCKS_LOW) {
      this.#waiting = false;
      this.#listener.drained();
    }
  }

  /**
   * The HTTP library keeps reading after a pause as long as a client fills the kernel's buffer (seen on loopback: 200
   * MB in one turn of the event loop, in which no background write can finish). ReadTurns makes this rare.
   */
  #writeInPlace(descriptor: number): void {
    const blocks = this.#full.splice(0, IN_PLACE_BLOCKS_MAX);
    const length = blocks.length * BLOCK_BYTES;
    try {
      // The system writes less only if the disk is full.
      if (writevSync(descriptor, blocks, this.#position) < length)
        throw new Error('a write to the disk was incomplete');
    } finally {
      for (const block of blocks) this.#blocks.releaseFull(block);
    }
    this.#position += length;
    if (this.#inWrite === 0) this.#writtenBytes = this.#position;
  }

  /** Writing to the disk failed: nothing of the file is kept. The owner must still discard the object. */
  #fail(fault: unknown): void {
    if (this.#state === 'file') {
      this.#state = 'discarded';
      this.#failed = true;
      this.#listener.failed(fault);
    }
  }

  /** The state may have changed during an await, which the compiler does not know. */
  #is(state: 'file' | 'discarded'): boolean {
    return this.#state === state;
  }

  /** Releases blocks and descriptor. No write may be in progress. */
  async #forget(): Promise<void> {
    this.#pieces = [];
    for (const block of this.#full.splice(0)) this.#blocks.releaseFull(block);
    if (this.#filling !== null) this.#blocks.release(this.#filling);
    this.#filling = null;
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    if (descriptor !== null) await closeInBackground(descriptor);
  }
}

/** One write is usually enough, but the system may write less. */
async function writeAll(descriptor: number, buffers: readonly Buffer[], position: number): Promise<void> {
  let rest = [...buffers];
  let at = position;
  while (rest.length > 0) {
    const { bytesWritten } = await writeInBackground(descriptor, rest, at);
    at += bytesWritten;
    rest = without(rest, bytesWritten);
  }
}

/** Returns the rest of the buffers after their first `bytes` bytes. */
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

// Reusable memory blocks in which uploads are collected before they are written to disk. Allocating a new buffer for
// each chunk would create hundreds of MB of garbage per second. The blocks are charged to the budget.

/** Size of one write to a spool file. */
export const BLOCK_BYTES = 128 * 1024;

/**
 * Limits for the full blocks of all uploads together: this fraction (1/n) of the budget, and at most this many bytes.
 */
const BUDGET_SHARE = 4;
const BYTES_MAX = 64 * 1024 * 1024;

/** Fast uploads may continue only while the full blocks occupy at most this fraction (1/n) of that limit. */
const FAST_UPLOADS_SHARE = 4;

/** Maximum number of idle blocks kept for the next burst. */
const IDLE_BLOCKS_MAX = 256;

export class WriteBlocks {
  /** Called when there is space again. */
  onCapacity: () => void = () => {};
  #budget: MemoryBudget;
  #idle: Buffer[] = [];
  /** Number of blocks that wait to be written. */
  #full = 0;
  #fullMax: number;
  #fastFullMax: number;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    this.#fullMax = Math.floor(Math.min(budget.limitBytes / BUDGET_SHARE, BYTES_MAX) / BLOCK_BYTES);
    this.#fastFullMax = Math.floor(this.#fullMax / FAST_UPLOADS_SHARE);
  }

  /** True if uploads hold too many blocks, so that blocks must be written immediately. */
  get crowded(): boolean {
    return this.#full > this.#fullMax;
  }

  /** True if fast uploads may continue. Full blocks are always written eventually, so this becomes true again. */
  get hasCapacity(): boolean {
    return this.#full <= this.#fastFullMax;
  }

  take(): Buffer {
    this.#budget.charge(BLOCK_BYTES, 'bodies');
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Marks a block as full and waiting to be written. */
  fill(): void {
    this.#full += 1;
  }

  /** Releases a full block that was written or discarded. */
  releaseFull(block: Buffer): void {
    this.#full -= 1;
    this.release(block);
    if (this.#full === this.#fastFullMax) this.onCapacity();
  }

  /** Releases a block that was never full. The caller must not use it any more. */
  release(block: Buffer): void {
    this.#budget.release(BLOCK_BYTES, 'bodies');
    if (this.#idle.length < IDLE_BLOCKS_MAX) this.#idle.push(block);
  }
}
