// Spool files of finished Runs, kept for a short time so that the next upload can overwrite one of them. For a large
// upload, getting the pages of a new file from the system and returning those of the old one takes longer than writing.
// A file belongs to one upload at a time. Idle files are removed soon, and immediately if disk space is short.
import { openSync, renameSync, statfsSync } from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import type { MaybePromise } from '../collections/maybe-promise.ts';

/**
 * Maximum wait of an idle file for an upload, in milliseconds. A service with fewer than one upload per second has
 * processor time to spare.
 */
const IDLE_MILLISECONDS_MAX = 1_000;

/** Idle files occupy at most this fraction (1/n) of the free disk space. */
const FREE_SHARE = 16;

/**
 * Maximum size of all idle files: eight files of 256 MiB. Without this limit, a large disk would keep all files of a
 * burst.
 */
const IDLE_BYTES_MAX = 2 * 1024 ** 3;

/** Maximum number of idle files, because each needs a timer and an inode. */
const IDLE_FILES_MAX = 64;

/** Type of the Linux file system that keeps files in memory: TMPFS_MAGIC in `man 2 statfs`. */
const TMPFS = 0x01021994;

/** File mode: readable only by the service. */
const PRIVATE = 0o600;

interface Disk {
  /** Returns the free space. */
  space(): MaybePromise<{ readonly freeBytes: number }>;
}

interface IdleFile {
  readonly path: string;
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
}

export interface OpenedFile {
  readonly descriptor: number;
  /** Current length of the file in bytes, to be overwritten. */
  readonly oldBytes: number;
  /** True if a write is only a copy to memory, which never waits for a disk or a network. */
  readonly isInMemory: boolean;
}

export class IdleFiles {
  /** The last entry was added last: its pages are most likely in a cache. */
  #idle: IdleFile[] = [];
  #idleBytes = 0;
  #closed = false;
  #disk: Disk;
  #onFault: (fault: unknown) => void;

  /** @param onFault called if an idle file could not be removed */
  constructor(disk: Disk, onFault: (fault: unknown) => void) {
    this.#disk = disk;
    this.#onFault = onFault;
  }

  /** Opens a new file at the path for writing from its start. Throws system errors. */
  open(path: string): OpenedFile {
    const idle = this.#take();
    const isNew = idle === null || !moved(idle.path, path);
    const descriptor = isNew ? openSync(path, 'wx', PRIVATE) : openSync(path, 'r+');
    return { descriptor, oldBytes: isNew ? 0 : idle.bytes, isInMemory: isOnTmpfs(path) };
  }

  /**
   * Takes over a closed file that is no longer read: keeps it for a short time or removes it.
   * @param bytes length written by its last upload; the rest, from an earlier upload, is truncated
   * @param oldBytes value returned by `open`
   */
  async give(path: string, bytes: number, oldBytes: number): Promise<void> {
    const bytesMax = await this.#bytesMax();
    const isOwn = oldBytes <= bytes || (await cut(path, bytes));
    const fits = this.#idle.length < IDLE_FILES_MAX && this.#idleBytes + bytes <= bytesMax;
    if (this.#closed || !isOwn || !fits) {
      await rm(path, { force: true });
      return;
    }
    const timer = setTimeout(() => void this.#drop(path).catch(this.#onFault), IDLE_MILLISECONDS_MAX);
    this.#idle.push({ path, bytes, timer });
    this.#idleBytes += bytes;
  }

  /** Removes the idle files. Files passed later are removed immediately. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let idle = this.#take(); idle !== null; idle = this.#take()) await rm(idle.path, { force: true });
  }

  async #bytesMax(): Promise<number> {
    try {
      const { freeBytes } = await this.#disk.space();
      return Math.min(IDLE_BYTES_MAX, freeBytes / FREE_SHARE);
    } catch {
      // The admission of the next Run checks the disk again and reports the problem.
      return 0;
    }
  }

  #take(): IdleFile | null {
    const idle = this.#idle.pop() ?? null;
    if (idle === null) return null;
    clearTimeout(idle.timer);
    this.#idleBytes -= idle.bytes;
    return idle;
  }

  async #drop(path: string): Promise<void> {
    const at = this.#idle.findIndex((idle) => idle.path === path);
    const [idle] = this.#idle.splice(at, 1);
    this.#idleBytes -= idle!.bytes;
    await rm(path, { force: true });
  }
}

function isOnTmpfs(path: string): boolean {
  try {
    return process.platform === 'linux' && statfsSync(path).type === TMPFS;
  } catch {
    // Some sandboxes forbid the call. The file is then written like one on a disk.
    return false;
  }
}

/** Returns false if the file still has its old content, or is gone with its folder. */
async function cut(path: string, bytes: number): Promise<boolean> {
  try {
    await truncate(path, bytes);
    return true;
  } catch {
    return false;
  }
}

/** Returns false if the file is gone with its folder. The caller then creates a new file, or gets the error. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
