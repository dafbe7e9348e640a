// The catalog in force: one snapshot at a time, replaced when the folder changes or on SIGHUP, and only by a sound one. What
// takes rights away does not wait for that: it is in force as soon as its own file is read, also beside a loading.
import { RepeatedWork } from '../collections/repeated-work.ts';
import type { Catalog } from './catalog.ts';
import { CatalogFolder } from './catalog-folder.ts';
import { type FolderLook, lookAt } from './folder-look.ts';
import { FolderWatch } from './folder-watch.ts';
import { type LoadedCatalog, loadCatalog } from './load-catalog.ts';
import { type CatalogProblem, ProblemList, problemText } from './problems.ts';
import { type Access, readAccess } from './read-access.ts';
import type { CheckTemplate } from './template-checker.ts';
import type { TemplateGate } from './template-gate.ts';
import { TemplateVerdicts } from './template-verdicts.ts';
import { withdrawAccess } from './withdraw-access.ts';

/** What happened, for the log. It holds no secret and nothing of a table. */
export type CatalogEvent =
  | { readonly event: 'catalog_loaded'; readonly accounts: number; readonly milliseconds: number }
  | { readonly event: 'catalog_refused'; readonly problems: readonly string[]; readonly more: number }
  /** Rights were taken away before the rest was looked at. */
  | { readonly event: 'access_withdrawn' }
  /** The loading itself failed: a fault of ours. */
  | { readonly event: 'catalog_fault'; readonly fault: unknown };

/** How a reading of the folder ended. */
export type CatalogReading = 'loaded' | 'refused' | 'fault';

export interface CatalogStoreOptions<Checked> {
  readonly checkTemplate: CheckTemplate<Checked>;
  /** Runs the tests of Templates; without it none is run. */
  readonly gate?: TemplateGate | undefined;
  /** Called when a loading has ended: the checker has nothing to do until the next one. */
  readonly checked?: () => void;
  readonly log: (event: CatalogEvent) => void;
}

/** The catalog could not be read at start; `problems` says all that is wrong. */
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
  readonly #loading = new RepeatedWork(() => this.#load());
  readonly #withdrawing = new RepeatedWork(() => this.#withdraw());
  /** How many readings of the folder ended how. */
  readonly readings: Record<CatalogReading, number> = { loaded: 0, refused: 0, fault: 0 };
  #lastReading: CatalogReading = 'loaded';
  #current: Catalog<Checked> | null = null;
  /** What was read last, and how many readings of it have begun: an older one that ends later is not taken. */
  #access: { readonly access: Access; readonly reading: number } | null = null;
  #readings = 0;
  #look: FolderLook;
  #watch: FolderWatch | null = null;
  #closed = false;

  /** Reads the catalog for the first time. Rejects with CatalogRefusedError when anything is wrong with it. */
  static async open<Checked>(directory: string, options: CatalogStoreOptions<Checked>): Promise<CatalogStore<Checked>> {
    const began = performance.now();
    const store = new CatalogStore(directory, await lookAt(directory), options);
    const loaded = await store.#loadFolder();
    if (!loaded.ok) throw new CatalogRefusedError(directory, loaded.problems, loaded.more);
    store.#current = loaded.catalog;
    store.#ended('loaded');
    options.log(loadedEvent(loaded.catalog, began));
    return store;
  }

  private constructor(directory: string, look: FolderLook, options: CatalogStoreOptions<Checked>) {
    this.#directory = directory;
    this.#look = look;
    this.#options = options;
  }

  /** Take it once per request: the next look may find another snapshot. */
  get current(): Catalog<Checked> {
    return this.#current!;
  }

  /** Templates' tests that were run, by how they ended. */
  get tests(): Readonly<Record<string, number>> {
    return this.#options.gate?.counts ?? {};
  }

  /** Whether what was in the folder when it was read last is in force. */
  get isInForce(): boolean {
    return this.#lastReading === 'loaded';
  }

  /**
   * Reads the folder again. True: what was in it when this was called is in force; false: it was refused or could not be
   * read, which has been logged, and the old snapshot goes on, without the rights that were taken away.
   */
  reload(): Promise<boolean> {
    // A loading may be busy with Templates for minutes.
    if (this.#loading.isAtWork) void this.#withdrawing.run();
    return this.#loading.run();
  }

  /** From now on reloads by itself when the folder changes, until `close`. */
  watch(): void {
    this.#watch ??= new FolderWatch(this.#directory, this.#look, () => void this.reload());
  }

  /** What is under way is let go: its checker is closed before. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    this.#watch = null;
    await this.#loading.ended();
    await this.#withdrawing.ended();
  }

  async #load(): Promise<boolean> {
    if (this.#closed) return false;
    const began = performance.now();
    let loaded: LoadedCatalog<Checked>;
    try {
      loaded = await this.#loadFolder();
    } catch (fault) {
      if (this.#closed) return false;
      this.#ended('fault');
      this.#options.log({ event: 'catalog_fault', fault });
      return false;
    }
    if (this.#closed) return false;
    if (!loaded.ok) {
      this.#ended('refused');
      if (loaded.isPassing) this.#watch?.tryAgain();
      this.#options.log({ event: 'catalog_refused', problems: loaded.problems.map(problemText), more: loaded.more });
      return false;
    }
    // While its Templates were checked, its accounts may have lost rights.
    this.#current = this.#access === null ? loaded.catalog : withdrawAccess(loaded.catalog, this.#access.access);
    this.#ended('loaded');
    this.#options.log(loadedEvent(loaded.catalog, began));
    return true;
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
        ...(this.#options.gate === undefined ? {} : { gate: this.#options.gate }),
        onAccess: (access) => this.#take(access, reading),
      });
    } finally {
      this.#options.checked?.();
    }
  }

  async #withdraw(): Promise<void> {
    const reading = ++this.#readings;
    try {
      // Its problems are told by the loading that follows.
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
