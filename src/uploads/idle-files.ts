// Spool files whose Run is over, on their way out: the next upload writes over one of them. To get the pages of a new file
// from the system and to give those of the old one back cost a large upload more than to write it. One file is of one
// upload at a time; what is idle goes soon, and at once where the disk is short.
import { openSync, renameSync } from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import type { MaybePromise } from '../collections/maybe-promise.ts';

/** How long an idle file waits for an upload, in milliseconds: who sends fewer than one a second has a core to spare. */
const IDLE_MILLISECONDS_MAX = 1_000;

/** Idle files hold at most one part in so many of what the disk has left ... */
const FREE_SHARE = 16;

/** ... at most so many bytes, eight files of 256 MiB, so that a large disk does not keep what a burst has left ... */
const IDLE_BYTES_MAX = 2 * 1024 ** 3;

/** ... and are at most so many: each has a timer and an inode. */
const IDLE_FILES_MAX = 64;

/** Uploads are nobody else's business. */
const PRIVATE = 0o600;

interface Disk {
  /** What it has left. */
  space(): MaybePromise<{ readonly freeBytes: number }>;
}

interface IdleFile {
  readonly path: string;
  readonly bytes: number;
  readonly timer: NodeJS.Timeout;
}

export interface OpenedFile {
  readonly descriptor: number;
  /** How long the file is already, in bytes, with what is to be written over. */
  readonly oldBytes: number;
}

export class IdleFiles {
  /** The last one was given last: its pages are the likeliest to lie in a cache. */
  #idle: IdleFile[] = [];
  #idleBytes = 0;
  #closed = false;
  #disk: Disk;
  #onFault: (fault: unknown) => void;

  /** @param onFault told when an idle file could not be removed */
  constructor(disk: Disk, onFault: (fault: unknown) => void) {
    this.#disk = disk;
    this.#onFault = onFault;
  }

  /** Opens a file at the path, where nothing is, for writing from its start. Throws what the system says. */
  open(path: string): OpenedFile {
    const idle = this.#take();
    if (idle === null || !moved(idle.path, path)) {
      return { descriptor: openSync(path, 'wx', PRIVATE), oldBytes: 0 };
    }
    return { descriptor: openSync(path, 'r+'), oldBytes: idle.bytes };
  }

  /**
   * Takes a closed file that nobody reads any more: keeps it for a moment or removes it.
   * @param bytes what its last upload wrote; the rest, of an earlier one, is cut off
   * @param oldBytes as `open` said
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

  /** Removes what is idle, and from now on what is given. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let idle = this.#take(); idle !== null; idle = this.#take()) await rm(idle.path, { force: true });
  }

  async #bytesMax(): Promise<number> {
    try {
      const { freeBytes } = await this.#disk.space();
      return Math.min(IDLE_BYTES_MAX, freeBytes / FREE_SHARE);
    } catch {
      // Whoever admits the next Run asks again, and tells.
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

/** False: it still holds what was there before, or has gone with its folder. */
async function cut(path: string, bytes: number): Promise<boolean> {
  try {
    await truncate(path, bytes);
    return true;
  } catch {
    return false;
  }
}

/** False: it has gone with its folder. A new file will do, or says what is wrong. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
