// One file of a Run's spill folder, written from front to back and then read. A full disk ends the Run as a failure.
import { ftruncateSync, readSync, writeSync } from 'node:fs';
import { Failed } from '../../protocol/failure.ts';
import type { SpillFolder } from './spill-folder.ts';

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Bytes that are written from front to back and then read. */
export interface SpillBytes {
  readonly sizeBytes: number;
  append(bytes: Uint8Array): void;
  /** Fills `target` from `position` on; gives the bytes read, fewer only at the end. */
  read(target: Uint8Array, position: number): number;
  drop(): void;
}

export class SpillFile implements SpillBytes {
  readonly #folder: SpillFolder;
  readonly #descriptor: number;
  #sizeBytes = 0;
  #dropped = false;

  constructor(folder: SpillFolder) {
    this.#folder = folder;
    this.#descriptor = guarded(() => folder.create());
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

  /** Fills `target` from `position` on; gives the bytes read, fewer only at the end of the file. */
  read(target: Uint8Array, position: number): number {
    let at = 0;
    while (at < target.length) {
      const got = readSync(this.#descriptor, target, at, target.length - at, position + at);
      if (got === 0) break;
      at += got;
    }
    return at;
  }

  /** Gives the space back at once; the folder's removal would do it only at the Run's end. */
  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    ftruncateSync(this.#descriptor, 0);
    this.#folder.close(this.#descriptor);
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (DISK_FULL.has(code)) throw new Failed('RUN_RESOURCE_LIMIT', 'The disk for intermediate data is full.');
    throw error;
  }
}
