// Notices that something in a folder changed. The kernel's events make it quick, where there are any; looking at every
// file's times now and then makes it sure (network file systems, mounts that are swapped, too many folders to watch).
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** An editor writes, renames and removes in a row: this long without an event is the end of it. */
const QUIET_MILLISECONDS = 150;

/** How often the folder is looked at; more seldom when a look takes long, so that it costs at most a twentieth. */
const LOOK_MILLISECONDS = 2000;
const LOOK_COST_RATIO = 20;

/** Folders with a watch of their own: the kernel's share per user is some thousand, and others want some too. */
const WATCHES_MAX = 256;

/** Below the catalog lie folders by kind, and by account. */
const DEPTH_MAX = 3;

/** Entries that are asked for at once. */
const STATS_AT_ONCE = 16;

/** What a folder looks like from outside: its folders, and a text that differs when a file below it changed. */
export interface FolderLook {
  readonly folders: ReadonlySet<string>;
  readonly signature: string;
}

/** Hidden files are left out: locks, and files that are being written. */
export async function lookAt(directory: string): Promise<FolderLook> {
  const folders = new Set<string>();
  const lines: string[] = [];
  await walk(directory, 0, folders, lines);
  return { folders, signature: lines.join('\n') };
}

export class FolderWatch {
  #directory: string;
  #changed: () => Promise<void>;
  #signature: string;
  #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;
  /** The kernel told of a change since the last look: times alone may not show it. */
  #told = false;
  #closed = false;

  /**
   * @param before what the folder looked like when it was last read
   * @param changed called once per change, never while an earlier call is under way; logs its own faults
   */
  constructor(directory: string, before: FolderLook, changed: () => Promise<void>) {
    this.#directory = directory;
    this.#signature = before.signature;
    this.#changed = changed;
    this.#watchFolders(before.folders);
    this.#plan(0);
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #plan(milliseconds: number): void {
    if (this.#closed || this.#looking) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), milliseconds).unref();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const told = this.#told;
    this.#told = false;
    const began = performance.now();
    const look = await lookAt(this.#directory);
    const cost = performance.now() - began;
    if (!this.#closed) {
      this.#watchFolders(look.folders);
      const changed = told || this.#signature !== look.signature;
      this.#signature = look.signature;
      if (changed) await this.#changed();
    }
    this.#looking = false;
    this.#plan(this.#told ? QUIET_MILLISECONDS : Math.max(LOOK_MILLISECONDS, cost * LOOK_COST_RATIO));
  }

  #watchFolders(folders: ReadonlySet<string>): void {
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (this.#watchers.has(folder) || this.#watchers.size >= WATCHES_MAX) continue;
      try {
        this.#watchers.set(folder, this.#watchFolder(folder));
      } catch {
        // Without events for this folder the regular look still finds the change.
        return;
      }
    }
  }

  #watchFolder(folder: string): FSWatcher {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name?.startsWith('.')) return;
      this.#told = true;
      this.#plan(QUIET_MILLISECONDS);
    });
    watcher.on('error', () => {
      watcher.close();
      this.#watchers.delete(folder);
    });
    return watcher;
  }
}

async function walk(folder: string, depth: number, folders: Set<string>, lines: string[]): Promise<void> {
  // A folder that vanished meanwhile shows as a change.
  const names = await readdir(folder).catch(() => []);
  folders.add(folder);
  const visible = names.filter((name) => !name.startsWith('.')).sort();
  for (let index = 0; index < visible.length; index += STATS_AT_ONCE) {
    const paths = visible.slice(index, index + STATS_AT_ONCE).map((name) => join(folder, name));
    const entries = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
    for (const [offset, entry] of entries.entries()) {
      const path = paths[offset]!;
      if (entry?.isDirectory() && depth + 1 < DEPTH_MAX) await walk(path, depth + 1, folders, lines);
      else lines.push(`${path} ${entry?.ino} ${entry?.size} ${entry?.mtimeMs} ${entry?.ctimeMs}`);
    }
  }
}
