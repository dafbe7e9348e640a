// The files to which a Run spills state, and their folder: writing, reading and removal.
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failed } from '../protocol/failure.ts';
import type { Heap } from './heap.ts';

// The files to which a Run spills state for which the budget refuses memory. They are removed with the Run in any case.

export class SpillFolder {
  readonly #directory: string;
  readonly #prefix: string;
  /** null before the first file. Most Runs create no file. */
  #open: Set<number> | null = null;
  #made = false;
  readonly #names: string[] = [];

  /**
   * @param directory a path for this Run only, created at first use and removed by `remove`
   * @param prefix of the file names, different for each thread if several threads use the directory
   */
  constructor(directory: string, prefix = '') {
    this.#directory = directory;
    this.#prefix = prefix;
  }

  /** Names of the files that were created. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Creates an empty file, opened for reading and writing. */
  create(): number {
    if (!this.#made) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      this.#made = true;
    }
    const name = `${this.#prefix}${this.#names.length}.spill`;
    const descriptor = openSync(join(this.#directory, name), 'wx+', 0o600);
    this.#names.push(name);
    this.#open ??= new Set();
    this.#open.add(descriptor);
    return descriptor;
  }

  /** Opens a file that another thread has created. */
  reopen(name: string): number {
    const descriptor = openSync(join(this.#directory, name), 'r');
    this.#open ??= new Set();
    this.#open.add(descriptor);
    return descriptor;
  }

  close(descriptor: number): void {
    if (this.#open?.delete(descriptor)) closeSync(descriptor);
  }

  /** Closes all files. Does not remove them. */
  closeFiles(): void {
    if (this.#open === null) return;
    for (const descriptor of this.#open) closeSync(descriptor);
    this.#open.clear();
  }

  /** Closes and removes everything. */
  remove(): void {
    this.closeFiles();
    if (this.#made) rmSync(this.#directory, { recursive: true, force: true });
  }
}

// One file in the spill folder of a Run, written sequentially and then read. A full disk is a failure of the Run.

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The process or the machine has no file descriptor left. A Run of several threads has files for each thread. */
const FILES_USED_UP = new Set(['EMFILE', 'ENFILE']);

/** Bytes that are written sequentially and then read. */
export interface SpillBytes {
  readonly sizeBytes: number;
  append(bytes: Uint8Array): void;
  /** Fills `target` from `position` on. Returns the number of bytes, which is smaller only at the end. */
  read(target: Uint8Array, position: number): number;
  drop(): void;
}

export class SpillFile implements SpillBytes {
  readonly #folder: SpillFolder;
  readonly #descriptor: number;
  readonly #isOwn: boolean;
  #sizeBytes = 0;
  #dropped = false;

  /** @param name of a file that another thread has written; by default, the file is new */
  constructor(folder: SpillFolder, name: string | null = null) {
    this.#folder = folder;
    this.#isOwn = name === null;
    this.#descriptor = guarded(() => (name === null ? folder.create() : folder.reopen(name)));
    if (name !== null) this.#sizeBytes = fstatSync(this.#descriptor).size;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  append(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const from = at;
      at += guarded(() => writeSync(this.#descriptor, bytes, from, bytes.length - from, this.#sizeBytes + from));
    }
    this.#sizeBytes += bytes.length;
  }

  /** Fills `target` from `position` on. Returns the number of bytes, which is smaller only at the end of the file. */
  read(target: Uint8Array, position: number): number {
    let at = 0;
    while (at < target.length) {
      const got = readSync(this.#descriptor, target, at, target.length - at, position + at);
      if (got === 0) break;
      at += got;
    }
    return at;
  }

  /** Releases the disk space immediately. Removing the folder would do so only at the end of the Run. */
  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    // A file of another thread is not emptied, because another attempt of the Run may read it again.
    if (this.#isOwn) ftruncateSync(this.#descriptor, 0);
    this.#folder.close(this.#descriptor);
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (DISK_FULL.has(code)) throw new Failed('RUN_RESOURCE_LIMIT', 'The disk for intermediate data is full.');
    if (FILES_USED_UP.has(code))
      throw new Failed(
        'RUN_RESOURCE_LIMIT',
        'Too many files are open: intermediate data cannot be written (ulimit -n).',
      );
    throw error;
  }
}

// Bytes that are written sequentially and then read: in the Run's memory while the budget allows, otherwise in a file.

/**
 * Sizes of blocks. The first block is small, for small files. Later blocks are larger, so that memory is
 * requested rarely.
 */
const BLOCK_BYTES_FIRST = 131_072;
const BLOCK_BYTES_MOST = 4 * 1024 * 1024;

interface Block {
  readonly at: number;
  readonly bytes: number;
  /** Position of its first byte among all bytes. */
  readonly start: number;
}

export class HeapBytes implements SpillBytes {
  readonly #heap: Heap;
  readonly #spill: SpillFolder;
  #blocks: Block[] = [];
  #file: SpillFile | null = null;
  #sizeBytes = 0;

  constructor(heap: Heap, spill: SpillFolder) {
    this.#heap = heap;
    this.#spill = spill;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** `bytes` may be a part of the heap, so it is located again after each growth. */
  append(bytes: Uint8Array): void {
    const { byteOffset, length } = bytes;
    const isOwn = bytes.buffer === this.#heap.u8.buffer;
    for (let done = 0; done < length; ) {
      const free = this.#file === null ? this.#freeRange() : null;
      const from = isOwn ? this.#heap.u8.subarray(byteOffset + done, byteOffset + length) : bytes.subarray(done);
      if (free === null) {
        this.#file ??= this.#moveToFile();
        this.#file.append(from);
        this.#sizeBytes += from.length;
        return;
      }
      const part = from.subarray(0, free.bytes);
      this.#heap.u8.set(part, free.at);
      this.#sizeBytes += part.length;
      done += part.length;
    }
  }

  read(target: Uint8Array, position: number): number {
    if (this.#file !== null) return this.#file.read(target, position);
    const most = Math.min(target.length, this.#sizeBytes - position);
    let done = 0;
    for (const { at, bytes, start } of this.#blocks) {
      if (done === most) break;
      const skipped = position + done - start;
      if (skipped < 0 || skipped >= bytes) continue;
      const part = Math.min(bytes - skipped, most - done);
      target.set(this.#heap.u8.subarray(at + skipped, at + skipped + part), done);
      done += part;
    }
    return done;
  }

  /** The memory stays with the Run until its end. */
  drop(): void {
    this.#file?.drop();
    this.#blocks = [];
    this.#sizeBytes = 0;
  }

  /** Returns the address for the next byte and the number of bytes that fit there, or null if the budget refuses. */
  #freeRange(): { readonly at: number; readonly bytes: number } | null {
    const last = this.#blocks.at(-1);
    const used = last === undefined ? 0 : this.#sizeBytes - last.start;
    if (last !== undefined && used < last.bytes) return { at: last.at + used, bytes: last.bytes - used };
    const bytes = last === undefined ? BLOCK_BYTES_FIRST : Math.min(BLOCK_BYTES_MOST, last.bytes * 2);
    const at = this.#heap.tryAllocate(bytes);
    if (at === 0) return null;
    this.#blocks.push({ at, bytes, start: this.#sizeBytes });
    return { at, bytes };
  }

  #moveToFile(): SpillFile {
    const file = new SpillFile(this.#spill);
    for (const { at, bytes, start } of this.#blocks) {
      file.append(this.#heap.u8.subarray(at, at + Math.min(bytes, this.#sizeBytes - start)));
    }
    this.#blocks = [];
    return file;
  }
}
