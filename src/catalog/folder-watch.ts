// Notices that something in a folder changed. The kernel's events make it quick, where there are any; looking at every
// file's times now and then makes it sure (network file systems, mounts that are swapped, too many folders to watch).
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type FolderLook, lookAt, rootOf } from './folder-look.ts';

/** An editor writes, renames and removes in a row: this long without an event is the end of it. */
const QUIET_MILLISECONDS = 150;

/** Who never stops writing is not waited for: this long after the first event the folder is read as it is. */
const QUIET_MILLISECONDS_MAX = 1_000;

/** How often the folder itself is looked at, and all that is in it; that more seldom when it takes long: a twentieth. */
const LOOK_MILLISECONDS = 2_000;
const LOOK_COST_RATIO = 20;

/** Folders with a watch of their own: the kernel's share per user is some thousand, and others want some too. */
const WATCHES_MAX = 256;

/** Does not stand in a path. */
const PARENT = '\0parent';

export class FolderWatch {
  readonly #directory: string;
  readonly #changed: () => void;
  #signature: string;
  #root: string;
  /** By path, with what the folder at that path was when the watch was set. */
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;
  /** The kernel told of a change since the last look: times alone may not show it. When it did first, null = it did not. */
  #reportedAt: number | null = null;
  /** When all that is in the folder is looked at again though nobody told of a change. */
  #wholeLookAt = 0;
  #closed = false;

  /**
   * @param before what the folder looked like when it was last read
   * @param changed called once per change; never more often than each QUIET_MILLISECONDS
   */
  constructor(directory: string, before: FolderLook, changed: () => void) {
    this.#directory = directory;
    this.#signature = before.signature;
    this.#root = before.root;
    this.#changed = changed;
    this.#watchFolders(before.folders);
    this.#plan(0);
  }

  /** Takes the next regular look for a change. */
  tryAgain(): void {
    this.#signature = '';
    this.#wholeLookAt = 0;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #plan(milliseconds: number): void {
    if (this.#closed || this.#looking) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), milliseconds).unref();
  }

  #reported(): void {
    const now = performance.now();
    this.#reportedAt ??= now;
    this.#plan(Math.max(0, Math.min(QUIET_MILLISECONDS, this.#reportedAt + QUIET_MILLISECONDS_MAX - now)));
  }

  async #look(): Promise<void> {
    this.#looking = true;
    const reported = this.#reportedAt !== null;
    this.#reportedAt = null;
    const began = performance.now();
    const isWhole = reported || began >= this.#wholeLookAt || (await rootOf(this.#directory)) !== this.#root;
    if (isWhole) {
      const look = await lookAt(this.#directory);
      const cost = performance.now() - began;
      this.#wholeLookAt = performance.now() + Math.max(LOOK_MILLISECONDS, cost * LOOK_COST_RATIO);
      if (!this.#closed) this.#compare(look, reported);
    }
    this.#looking = false;
    if (this.#reportedAt === null) this.#plan(LOOK_MILLISECONDS);
    else this.#reported();
  }

  #compare(look: FolderLook, reported: boolean): void {
    this.#watchFolders(look.folders);
    const changed = reported || this.#signature !== look.signature;
    this.#signature = look.signature;
    this.#root = look.root;
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
        // What changed between the look and the watch is found with the next one.
        this.#wholeLookAt = 0;
      } catch {
        // Without events for this folder the regular look still finds the change.
      }
    }
  }

  /** In the parent, the catalog itself is what may be moved, or be a link that is turned. */
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
