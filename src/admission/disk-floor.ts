// Checks whether the data directory can take another Run: free bytes and inodes above a minimum, writable folders, and
// a ledger that accepts charges.
import { statfs } from 'node:fs/promises';
import type { MaybePromise } from '../collections/maybe-promise.ts';
import { type DataDirectory, makeAgain } from '../runtime/data-directory.ts';
import { StoreUnavailableError } from '../stores/stores.ts';

/**
 * Cache time of a result in milliseconds: statfs costs a system call in the thread pool, and the minimum leaves
 * space for the uploads of one second.
 */
const CACHE_MILLISECONDS = 1000;

/**
 * Minimum number of free inodes for admitting a Run. A Run creates a few files, and at most some hundred if it spills.
 */
const DISK_INODES_MIN = 10_000;

export interface DiskSpace {
  readonly freeBytes: number;
  /** null if the file system has no fixed number of inodes. */
  readonly freeInodes: number | null;
  readonly aboveFloor: boolean;
  /** Error code of unusable folders or ledger, such as ENOENT, or null. */
  readonly error: string | null;
}

/** The ledger of charges: a Run that could not be charged must not start. */
export interface ChargeKeeper {
  readonly isHealthy: boolean;
  /** Rejects while the ledger is unusable. */
  recover(): Promise<void>;
}

export class DiskFloor {
  #directory: DataDirectory;
  #charges: ChargeKeeper | null;
  #floorBytes: number;
  #inodesMin: number;
  /** Returns a promise only while the file system is being queried. */
  #space: MaybePromise<DiskSpace> | null = null;
  #readAt = 0;

  /** @param floorBytes minimum of free bytes for admitting a new Run; 0 for no minimum */
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

  /** Returns a result that is at most one second old. Missing folders below the root are created again. */
  space(now = performance.now()): MaybePromise<DiskSpace> {
    // A result from before a failed charge is no longer valid.
    const isStale =
      this.#charges?.isHealthy === false && !(this.#space instanceof Promise) && this.#space?.error === null;
    if (this.#space === null || isStale || now - this.#readAt >= CACHE_MILLISECONDS) {
      this.#readAt = now;
      const asked = this.#read();
      const settle = (space: DiskSpace | null): void => {
        if (this.#space === asked) this.#space = space;
      };
      // A failed query is not cached: the next caller queries again.
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
    if (this.#charges?.isHealthy === false) {
      try {
        await this.#charges.recover();
      } catch (error) {
        if (error instanceof StoreUnavailableError) return unusable(error.message);
        throw error;
      }
    }
    const { bavail, bsize, files, ffree } = await statfs(root);
    const freeBytes = bavail * bsize;
    const freeInodes = files > 0 ? ffree : null;
    const inodesSuffice = this.#floorBytes === 0 || freeInodes === null || freeInodes >= this.#inodesMin;
    return { freeBytes, freeInodes, aboveFloor: freeBytes >= this.#floorBytes && inodesSuffice, error: null };
  }
}

function unusable(error: string): DiskSpace {
  return { freeBytes: 0, freeInodes: null, aboveFloor: false, error };
}
