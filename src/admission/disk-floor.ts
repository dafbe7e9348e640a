// Whether the data directory takes another Run: free bytes and free inodes above a floor, folders that can be written, and a
// ledger that takes charges.
import { statfs } from 'node:fs/promises';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { type DataDirectory, makeAgain } from '../runtime/data-directory.ts';
import { StoreUnavailableError } from '../stores/store-unavailable.ts';

/** How long an answer holds: statfs costs a system call in the thread pool, a second of uploads fits in the floor. */
const CACHE_MILLISECONDS = 1000;

/** Free inodes below which no Run is admitted: a Run makes a handful of files, its spilling at most some hundred. */
const DISK_INODES_MIN = 10_000;

export interface DiskSpace {
  readonly freeBytes: number;
  /** null: the file system has no fixed number of inodes. */
  readonly freeInodes: number | null;
  readonly aboveFloor: boolean;
  /** Why folders or ledger cannot be used, such as ENOENT; null: they can. */
  readonly trouble: string | null;
}

/** What keeps charges: a Run that could not be charged is not to be begun. */
export interface ChargeKeeper {
  readonly isSound: boolean;
  /** Rejects while it is not. */
  mend(): Promise<void>;
}

export class DiskFloor {
  #directory: DataDirectory;
  #charges: ChargeKeeper | null;
  #floorBytes: number;
  #inodesMin: number;
  /** A promise only while the file system is asked. */
  #space: MaybePromise<DiskSpace> | null = null;
  #readAt = 0;

  /** @param floorBytes free bytes below which the node takes no new Run; 0 = never */
  constructor(
    directory: DataDirectory,
    floorBytes: number,
    inodesMin = DISK_INODES_MIN,
    charges: ChargeKeeper | null = null,
  ) {
    this.#directory = directory;
    this.#charges = charges;
    this.#floorBytes = floorBytes;
    this.#inodesMin = inodesMin;
  }

  /** At most a second old. Folders below the root that have gone are made again. */
  space(now = performance.now()): MaybePromise<DiskSpace> {
    // What was found before a charge failed says nothing any more.
    const isStale =
      this.#charges?.isSound === false && !(this.#space instanceof Promise) && this.#space?.trouble === null;
    if (this.#space === null || isStale || now - this.#readAt >= CACHE_MILLISECONDS) {
      this.#readAt = now;
      const asked = this.#read();
      const settle = (space: DiskSpace | null): void => {
        if (this.#space === asked) this.#space = space;
      };
      // A failed reading is not kept: the next caller asks again.
      asked.then(settle, () => settle(null));
      this.#space = asked;
    }
    return this.#space;
  }

  async #read(): Promise<DiskSpace> {
    const { root } = this.#directory;
    try {
      await makeAgain(this.#directory);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      return unusable(code);
    }
    if (this.#charges?.isSound === false) {
      try {
        await this.#charges.mend();
      } catch (error) {
        if (error instanceof StoreUnavailableError) return unusable(error.message);
        throw error;
      }
    }
    const { bavail, bsize, files, ffree } = await statfs(root);
    const freeBytes = bavail * bsize;
    const freeInodes = files > 0 ? ffree : null;
    const inodesSuffice = this.#floorBytes === 0 || freeInodes === null || freeInodes >= this.#inodesMin;
    return { freeBytes, freeInodes, aboveFloor: freeBytes >= this.#floorBytes && inodesSuffice, trouble: null };
  }
}

function unusable(trouble: string): DiskSpace {
  return { freeBytes: 0, freeInodes: null, aboveFloor: false, trouble };
}
