// The catalog in force: one snapshot at a time, replaced when the folder changes or on SIGHUP, and only by a sound one.
// States: idle → loading → idle; a request to reload while loading leads to one more loading.
import type { Catalog } from './catalog.ts';
import { type FolderLook, FolderWatch, lookAt } from './folder-watch.ts';
import { type LoadedCatalog, loadCatalog } from './load-catalog.ts';
import { type CatalogProblem, problemText } from './problems.ts';
import type { CheckTemplate } from './template-checker.ts';

/** What happened, for the log. It holds no secret and nothing of a table. */
export type CatalogEvent =
  | { readonly event: 'catalog_loaded'; readonly accounts: number; readonly milliseconds: number }
  | { readonly event: 'catalog_refused'; readonly problems: readonly string[]; readonly more: number }
  /** The loading itself failed: a fault of ours. */
  | { readonly event: 'catalog_fault'; readonly fault: unknown };

export interface CatalogStoreOptions<Checked> {
  readonly checkTemplate: CheckTemplate<Checked>;
  readonly log: (event: CatalogEvent) => void;
  /** Called with each snapshot that came into force after the first. */
  readonly changed?: (catalog: Catalog<Checked>) => void;
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
  #current: Catalog<Checked>;
  #look: FolderLook;
  #options: CatalogStoreOptions<Checked>;
  #loading: Promise<boolean> | null = null;
  #next: Promise<boolean> | null = null;
  #watch: FolderWatch | null = null;

  /** Reads the catalog for the first time. Rejects with CatalogRefusedError when anything is wrong with it. */
  static async open<Checked>(directory: string, options: CatalogStoreOptions<Checked>): Promise<CatalogStore<Checked>> {
    const began = performance.now();
    const look = await lookAt(directory);
    const loaded = await loadCatalog(directory, options.checkTemplate);
    if (!loaded.ok) throw new CatalogRefusedError(directory, loaded.problems, loaded.more);
    options.log(loadedEvent(loaded.catalog, began));
    return new CatalogStore(loaded.catalog, look, options);
  }

  private constructor(catalog: Catalog<Checked>, look: FolderLook, options: CatalogStoreOptions<Checked>) {
    this.#current = catalog;
    this.#look = look;
    this.#options = options;
  }

  /** Take it once per request: the next look may find another snapshot. */
  get current(): Catalog<Checked> {
    return this.#current;
  }

  /**
   * Reads the folder again. True: what was in it when this was called is in force; false: it was refused or could not be
   * read, which has been logged, and the old snapshot goes on.
   */
  reload(): Promise<boolean> {
    if (this.#loading === null) {
      this.#loading = this.#load().finally(() => {
        this.#loading = null;
      });
      return this.#loading;
    }
    this.#next ??= this.#loading.then(() => {
      this.#next = null;
      return this.reload();
    });
    return this.#next;
  }

  /** From now on reloads by itself when the folder changes, until `close`. */
  watch(): void {
    this.#watch ??= new FolderWatch(this.#current.directory, this.#look, async () => {
      await this.reload();
    });
  }

  async close(): Promise<void> {
    this.#watch?.close();
    this.#watch = null;
    await (this.#next ?? this.#loading);
  }

  async #load(): Promise<boolean> {
    const began = performance.now();
    let loaded: LoadedCatalog<Checked>;
    try {
      loaded = await loadCatalog(this.#current.directory, this.#options.checkTemplate, this.#current);
    } catch (fault) {
      this.#options.log({ event: 'catalog_fault', fault });
      return false;
    }
    if (!loaded.ok) {
      this.#options.log({ event: 'catalog_refused', problems: loaded.problems.map(problemText), more: loaded.more });
      return false;
    }
    this.#current = loaded.catalog;
    this.#options.log(loadedEvent(loaded.catalog, began));
    this.#options.changed?.(loaded.catalog);
    return true;
  }
}

function loadedEvent<Checked>(catalog: Catalog<Checked>, began: number): CatalogEvent {
  const milliseconds = Math.round(performance.now() - began);
  return { event: 'catalog_loaded', accounts: catalog.accounts.size, milliseconds };
}
