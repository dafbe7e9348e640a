// The live catalog: one snapshot at a time, replaced when the folder changes or on SIGHUP, and only by a valid
// catalog. Revocations do not wait for that: they take effect as soon as their own file has been read, even during a
// reload.
import { RepeatedWork } from '../collections/repeated-work.ts';
import type { Catalog } from './catalog.ts';
import { CatalogFolder } from './catalog-folder.ts';
import { type FolderScan, FolderWatch, scanFolder } from './folder-watch.ts';
import { type LoadedCatalog, loadCatalog } from './load-catalog.ts';
import { type CatalogProblem, ProblemList, problemText } from './problems.ts';
import { type Access, readAccess, withdrawAccess } from './read-access.ts';
import { TemplateVerdicts } from './read-templates.ts';
import type { CheckTemplate } from './template-checker.ts';
import { type TemplateGate, TestTurns } from './template-gate.ts';

/** Events for the log. They contain no secrets and no table content. */
export type CatalogEvent =
  | { readonly event: 'catalog_loaded'; readonly accounts: number; readonly milliseconds: number }
  | { readonly event: 'catalog_refused'; readonly problems: readonly string[]; readonly more: number }
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
      this.#options.log({ event: 'catalog_refused', problems: loaded.problems.map(problemText), more: loaded.more });
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
