// Detects changes in a catalog's folder by kernel events, and by regular scans of file names and times.
import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, type FSWatcher, watch } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { FOLDER_FILES_MAX } from './problems.ts';

// Computes a signature of a catalog's folder that changes when a file in it changes. Uses only names and times, and
// limits the work regardless of the content.

/** The catalog has a folder for each kind of file, and in some of these a folder for each account. */
const DEPTH_MAX = 3;

/** Number of parallel stat calls. */
const STATS_AT_ONCE = 16;

export interface FolderScan {
  /** Each folder with its identity, so that a replaced folder is noticed. */
  readonly folders: ReadonlyMap<string, string>;
  /**
   * Identity of the catalog's own folder; changes if a link to it is changed or another folder is moved to its path.
   */
  readonly root: string;
  readonly signature: string;
}

/** Ignores hidden files, which are locks and files being written. */
export async function scanFolder(directory: string): Promise<FolderScan> {
  const folders = new Map<string, string>();
  const hash = createHash('sha256');
  const root = await rootOf(directory);
  hash.update(root);
  const status = await statOf(directory);
  if (status !== null) await walk(directory, status, 0, folders, hash);
  return { folders, root, signature: hash.digest('hex') };
}

/** Resolved path and identity of the folder; takes three system calls regardless of the content. */
async function rootOf(directory: string): Promise<string> {
  const path = await realpath(directory).catch(() => '');
  const status = await statOf(directory);
  return `${path} ${status === null ? '' : identityOf(status)}`;
}

async function walk(
  folder: string,
  status: BigIntStats,
  depth: number,
  folders: Map<string, string>,
  hash: Hash,
): Promise<void> {
  folders.set(folder, identityOf(status));
  // Leaves out the folder's times, because hidden files change them.
  hash.update(`${folder}/\n`);
  const names = await namesIn(folder);
  for (let index = 0; index < names.length; index += STATS_AT_ONCE) {
    const paths = names.slice(index, index + STATS_AT_ONCE).map((name) => join(folder, name));
    const entries = await Promise.all(paths.map(statOf));
    for (const [offset, entry] of entries.entries()) {
      const path = paths[offset]!;
      if (entry?.isDirectory() && depth + 1 < DEPTH_MAX) await walk(path, entry, depth + 1, folders, hash);
      else hash.update(`${path} ${entry?.ino} ${entry?.size} ${entry?.mtimeNs} ${entry?.ctimeNs}\n`);
    }
  }
}

/** A folder that is removed in the meantime counts as changed. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      if (names.length === FOLDER_FILES_MAX) break;
      if (!name.startsWith('.')) names.push(name);
    }
  } catch {
    return ['?'];
  }
  return names.sort();
}

function statOf(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch(() => null);
}

/** The inode number of a removed folder can be reused for a new folder; its birth time cannot. */
function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

// Detects changes in a folder. Kernel events make detection fast where available; regular scans of all file times
// make it reliable (network file systems, swapped mounts, too many folders to watch).

/**
 * Events are grouped: an editor writes, renames and removes in a row. A group ends after this time without an event,
 * in milliseconds.
 */
const QUIET_MILLISECONDS = 150;

/** Upper bound on waiting: the folder is read this long after the first event even if it keeps changing. */
const QUIET_MILLISECONDS_MAX = 1_000;

/**
 * Interval between checks of the folder itself, and between scans of its content, in milliseconds. If scans are slow,
 * they run less often, so that they take at most a twentieth of the time.
 */
const SCAN_MILLISECONDS = 2_000;
const SCAN_COST_RATIO = 20;

/**
 * Number of folders with a kernel watch. The kernel allows some thousand per user, and other programs need some too.
 */
const WATCHES_MAX = 256;

/** Key for the parent folder, which cannot occur as a path. */
const PARENT = '\0parent';

export class FolderWatch {
  readonly #directory: string;
  readonly #changed: () => void;
  #signature: string;
  #root: string;
  /** Watchers by path, with the identity of the folder at the time when the watch was set. */
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  #timer: NodeJS.Timeout | null = null;
  #isScanning = false;
  /**
   * Time of the first kernel event since the last scan, null: no event. Needed because the file times alone may not
   * show the change.
   */
  #reportedAt: number | null = null;
  /** Time at which the content is scanned next if no event arrives before. */
  #nextScanAt = 0;
  #closed = false;

  /**
   * @param before the state of the folder when it was last read
   * @param changed called once per change, never more often than every QUIET_MILLISECONDS
   */
  constructor(directory: string, before: FolderScan, changed: () => void) {
    this.#directory = directory;
    this.#signature = before.signature;
    this.#root = before.root;
    this.#changed = changed;
    this.#watchFolders(before.folders);
    this.#plan(0);
  }

  /** Makes the next regular scan report a change. */
  tryAgain(): void {
    this.#signature = '';
    this.#nextScanAt = 0;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #plan(milliseconds: number): void {
    if (this.#closed || this.#isScanning) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#scan(), milliseconds).unref();
  }

  #reported(): void {
    const now = performance.now();
    this.#reportedAt ??= now;
    this.#plan(Math.max(0, Math.min(QUIET_MILLISECONDS, this.#reportedAt + QUIET_MILLISECONDS_MAX - now)));
  }

  async #scan(): Promise<void> {
    this.#isScanning = true;
    const reported = this.#reportedAt !== null;
    this.#reportedAt = null;
    const began = performance.now();
    const isWhole = reported || began >= this.#nextScanAt || (await rootOf(this.#directory)) !== this.#root;
    if (isWhole) {
      const scan = await scanFolder(this.#directory);
      const cost = performance.now() - began;
      this.#nextScanAt = performance.now() + Math.max(SCAN_MILLISECONDS, cost * SCAN_COST_RATIO);
      if (!this.#closed) this.#compare(scan, reported);
    }
    this.#isScanning = false;
    if (this.#reportedAt === null) this.#plan(SCAN_MILLISECONDS);
    else this.#reported();
  }

  #compare(scan: FolderScan, reported: boolean): void {
    this.#watchFolders(scan.folders);
    const changed = reported || this.#signature !== scan.signature;
    this.#signature = scan.signature;
    this.#root = scan.root;
    if (changed) this.#changed();
  }

  #watchFolders(folders: ReadonlyMap<string, string>): void {
    const wanted = new Map([[PARENT, ''], ...folders]);
    for (const [folder, { watcher, identity }] of this.#watchers) {
      if (wanted.get(folder) === identity) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const [folder, identity] of wanted) {
      if (this.#watchers.has(folder) || this.#watchers.size >= WATCHES_MAX) continue;
      try {
        this.#watchers.set(folder, { watcher: this.#watchFolder(folder), identity });
        // The next scan finds changes made between the last scan and the start of the watch.
        this.#nextScanAt = 0;
      } catch {
        // Without events for this folder, the regular scan still finds changes.
      }
    }
  }

  /** The parent folder is watched because the catalog itself may be moved, or be a link that is changed. */
  #watchFolder(folder: string): FSWatcher {
    const isParent = folder === PARENT;
    const own = basename(resolve(this.#directory));
    const path = isParent ? dirname(resolve(this.#directory)) : folder;
    const watcher = watch(path, { persistent: false }, (_event, name) => {
      if (isParent ? name !== own : name?.startsWith('.')) return;
      this.#reported();
    });
    watcher.on('error', () => {
      watcher.close();
      this.#watchers.delete(folder);
    });
    return watcher;
  }
}
