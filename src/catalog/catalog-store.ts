// The live catalog: one snapshot at a time, replaced when the folder changes or on SIGHUP, and only by a valid
// catalog. Revocations do not wait for that: they take effect as soon as their own file has been read, even during a
// reload.

import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, type FSWatcher, watch } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Catalog } from './catalog.ts';
import { CatalogFolder } from './catalog-folder.ts';
import { type LoadedCatalog, loadCatalog } from './load-catalog.ts';
import { type CatalogProblem, FOLDER_FILES_MAX, ProblemList, problemText } from './problems.ts';
import { type Access, readAccess, withdrawAccess } from './read-access.ts';
import { TemplateVerdicts } from './read-templates.ts';
import type { CheckTemplate } from './template-checker.ts';
import { type TemplateGate, TestTurns } from './template-gate.ts';

/** The content of the folder is refused. */
interface CatalogRefusal {
  readonly event: 'catalog_refused';
  readonly problems: readonly string[];
  /** Number of further problems. */
  readonly more: number;
}

const NO_PROBLEMS = { problems: [], more: 0 } as const;

/** Events for the log. They contain no secrets and no table content. */
export type CatalogEvent =
  | { readonly event: 'catalog_loaded'; readonly accounts: number; readonly milliseconds: number }
  | CatalogRefusal
  /** Accounts with tests that are still to be run keep their previous Templates; the others are live. */
  | { readonly event: 'catalog_loaded_in_part'; readonly accounts: number; readonly waiting: number }
  /** Access was revoked before the rest of the catalog was checked. */
  | { readonly event: 'access_withdrawn' }
  /** The reload itself failed because of a fault of the program. */
  | { readonly event: 'catalog_fault'; readonly fault: unknown };

/** Result of reading the folder. */
export type CatalogReading = 'loaded' | 'refused' | 'fault';

export interface CatalogStoreOptions<Checked> {
  readonly checkTemplate: CheckTemplate<Checked>;
  /** Runs the tests of Templates; without it, no tests are run. */
  readonly gate?: TemplateGate | undefined;
  /** Called when the folder must be read again during a reload, whose tests would delay the next reading. */
  readonly postponeTests?: () => void;
  /** Called at the end of a reload: the checker is idle until the next one. */
  readonly checked?: () => void;
  readonly log: (event: CatalogEvent) => void;
}

/** The catalog could not be loaded at start; `problems` lists the reasons. */
export class CatalogRefusedError extends Error {
  readonly problems: readonly CatalogProblem[];

  constructor(directory: string, problems: readonly CatalogProblem[], more: number) {
    const lines = problems.map((problem) => `\n  ${problemText(problem)}`).join('');
    super(`The catalog ${directory} is refused:${lines}${more === 0 ? '' : `\n  and ${more} more`}`);
    this.name = 'CatalogRefusedError';
    this.problems = problems;
  }
}

export class CatalogStore<Checked> {
  readonly #directory: string;
  readonly #options: CatalogStoreOptions<Checked>;
  readonly #verdicts = new TemplateVerdicts<Checked>();
  readonly #turns: TestTurns | null;
  readonly #loading = new RepeatedWork(() => this.#load());
  readonly #withdrawing = new RepeatedWork(() => this.#withdraw());
  /** Number of readings of the folder by result. */
  readonly readings: Record<CatalogReading, number> = { loaded: 0, refused: 0, fault: 0 };
  #lastReading: CatalogReading = 'loaded';
  /** Why the last reading was refused. */
  #refused: Pick<CatalogRefusal, 'problems' | 'more'> = NO_PROBLEMS;
  #current: Catalog<Checked> | null = null;
  /**
   * The access that was read last, with the number of its reading. The result of an older reading that finishes later
   * is discarded.
   */
  #access: { readonly access: Access; readonly reading: number } | null = null;
  #readings = 0;
  /** True if the folder must be read again after the load in progress. */
  #isOutdated = false;
  #firstScan: FolderScan;
  #watch: FolderWatch | null = null;
  #closed = false;

  /** Loads the catalog for the first time. Rejects with CatalogRefusedError if it has any problem. */
  static async open<Checked>(directory: string, options: CatalogStoreOptions<Checked>): Promise<CatalogStore<Checked>> {
    const began = performance.now();
    const store = new CatalogStore(directory, await scanFolder(directory), options);
    const loaded = await store.#loadFolder();
    if (!loaded.ok) throw new CatalogRefusedError(directory, loaded.problems, loaded.more);
    store.#current = loaded.catalog;
    store.#ended('loaded');
    options.log(loadedEvent(loaded.catalog, began));
    return store;
  }

  private constructor(directory: string, scan: FolderScan, options: CatalogStoreOptions<Checked>) {
    this.#directory = directory;
    this.#firstScan = scan;
    this.#options = options;
    this.#turns = options.gate === undefined ? null : new TestTurns(options.gate);
  }

  /** Callers must read this once per request, because a later read may return another snapshot. */
  get current(): Catalog<Checked> {
    return this.#current!;
  }

  /** Number of Template tests run, by result. */
  get tests(): Readonly<Record<string, number>> {
    return this.#options.gate?.counts ?? {};
  }

  /** True if the last reading of the folder succeeded, so that its content is live. */
  get isLive(): boolean {
    return this.#lastReading === 'loaded';
  }

  /** Why the current content of the folder is refused, at most 200 problems and the number of others. */
  get refused(): Pick<CatalogRefusal, 'problems' | 'more'> {
    return this.#refused;
  }

  /**
   * Reads the folder again. Resolves with true if the content at the time of the call is now live. False: the content
   * was refused or could not be read, which has been logged; the old snapshot stays live, minus any revoked access.
   */
  async reload(): Promise<boolean> {
    if (this.#loading.isAtWork) {
      // A reload in progress may take minutes to check Templates, so revocations are read separately.
      void this.#withdrawing.run();
      this.#isOutdated = true;
      this.#options.postponeTests?.();
    }
    let result = await this.#loading.run();
    while (result === 'outdated') result = await this.#loading.run();
    return result === 'loaded';
  }

  /** Starts automatic reloads on changes of the folder, until `close`. */
  watch(): void {
    this.#watch ??= new FolderWatch(this.#directory, this.#firstScan, () => void this.reload());
  }

  /** Abandons work in progress; the checker must be closed before. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    this.#watch = null;
    await this.#loading.ended();
    await this.#withdrawing.ended();
  }

  async #load(): Promise<CatalogReading | 'outdated' | 'closed'> {
    if (this.#closed) return 'closed';
    const began = performance.now();
    this.#isOutdated = false;
    let loaded: LoadedCatalog<Checked>;
    try {
      loaded = await this.#loadFolder();
    } catch (fault) {
      if (this.#closed) return 'closed';
      this.#ended('fault');
      this.#options.log({ event: 'catalog_fault', fault });
      return 'fault';
    }
    if (this.#closed) return 'closed';
    if (!loaded.ok) {
      if (loaded.isOutdated) return 'outdated';
      this.#ended('refused');
      if (loaded.isTemporary) this.#watch?.tryAgain();
      this.#refused = { problems: loaded.problems.map(problemText), more: loaded.more };
      this.#options.log({ event: 'catalog_refused', ...this.#refused });
      return 'refused';
    }
    this.#replace(loaded.catalog);
    this.#ended('loaded');
    this.#options.log(loadedEvent(loaded.catalog, began));
    return 'loaded';
  }

  /** Access may have been revoked while the Templates were checked. */
  #replace(catalog: Catalog<Checked>): void {
    this.#current = this.#access === null ? catalog : withdrawAccess(catalog, this.#access.access);
  }

  #ended(reading: CatalogReading): void {
    this.readings[reading] += 1;
    this.#refused = NO_PROBLEMS;
    this.#lastReading = reading;
  }

  async #loadFolder(): Promise<LoadedCatalog<Checked>> {
    const reading = ++this.#readings;
    try {
      return await loadCatalog(this.#directory, this.#options.checkTemplate, {
        ...(this.#current === null ? {} : { catalog: this.#current }),
        ...(this.#access === null ? {} : { access: this.#access.access }),
        verdicts: this.#verdicts,
        ...(this.#turns === null ? {} : { turns: this.#turns }),
        onPart: (catalog, waiting) => this.#takePart(catalog, waiting),
        isOutdated: () => this.#isOutdated || this.#closed,
        onAccess: (access) => this.#take(access, reading),
      });
    } finally {
      this.#options.checked?.();
    }
  }

  #takePart(catalog: Catalog<Checked>, waiting: number): void {
    if (this.#closed) return;
    this.#replace(catalog);
    this.#options.log({ event: 'catalog_loaded_in_part', accounts: catalog.accounts.size, waiting });
  }

  async #withdraw(): Promise<void> {
    const reading = ++this.#readings;
    try {
      // Problems are reported by the reload that follows.
      const folder = await CatalogFolder.open(this.#directory, new ProblemList());
      if (folder !== null) this.#take(await readAccess(folder, this.#access?.access), reading);
    } catch (fault) {
      this.#options.log({ event: 'catalog_fault', fault });
    }
  }

  #take(access: Access, reading: number): void {
    if (this.#access !== null && this.#access.reading > reading) return;
    this.#access = { access, reading };
    if (this.#current === null) return;
    const narrowed = withdrawAccess(this.#current, access);
    if (narrowed === this.#current) return;
    this.#current = narrowed;
    this.#options.log({ event: 'access_withdrawn' });
  }
}

function loadedEvent<Checked>(catalog: Catalog<Checked>, began: number): CatalogEvent {
  const milliseconds = Math.round(performance.now() - began);
  return { event: 'catalog_loaded', accounts: catalog.accounts.size, milliseconds };
}

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
  if (status !== null) await addFolder(directory, status, 0, folders, hash);
  return { folders, root, signature: hash.digest('hex') };
}

/** Resolved path and identity of the folder; takes three system calls regardless of the content. */
async function rootOf(directory: string): Promise<string> {
  const path = await realpath(directory).catch(() => '');
  const status = await statOf(directory);
  return `${path} ${status === null ? '' : identityOf(status)}`;
}

async function addFolder(
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
      if (entry?.isDirectory() && depth + 1 < DEPTH_MAX) await addFolder(path, entry, depth + 1, folders, hash);
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

// Coalesces repeated requests for the same work: only one execution runs at a time, and all requests made during it
// share the next execution.
//
// States: idle → at work → idle, or at work → at work with one execution waiting → at work.

export class RepeatedWork<Result> {
  readonly #work: () => Promise<Result>;
  #current: Promise<Result> | null = null;
  #next: Promise<Result> | null = null;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  /** Resolves with the result of an execution that started after this call. */
  run(): Promise<Result> {
    if (this.#current === null) {
      this.#current = this.#work().finally(() => {
        this.#current = null;
      });
      return this.#current;
    }
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.run();
      });
    return this.#next;
  }

  get isAtWork(): boolean {
    return this.#current !== null;
  }

  /** Resolves when no execution is running or waiting. */
  async ended(): Promise<void> {
    while (this.#current !== null) await (this.#next ?? this.#current).catch(() => undefined);
  }
}
