// The reference tables of one Run: taken before its first row, given back at its end.
import { Failed } from '../../protocol/failure.ts';
import type { TaskTable } from '../../protocol/messages.ts';
import type { Template } from '../../template/template.ts';
import type { TableTools } from './load-table.ts';
import type { TableCache, Tables } from './table-cache.ts';
import type { TableRows } from './table-rows.ts';

/** For planning: the columns of each table. */
export type TableColumns = ReadonlyMap<string, readonly string[]>;

const NO_TABLES: Tables = new Map();
const NO_COLUMNS: TableColumns = new Map();

interface Taken {
  readonly table: TaskTable;
  readonly rows: TableRows;
}

export class RunTables {
  readonly #cache: TableCache;
  /** Null: none yet, as of most Runs. */
  #taken: Map<string, Taken> | null = null;

  constructor(cache: TableCache) {
    this.#cache = cache;
  }

  /** Takes the tables that the Template declares. Throws as `loadTable`. */
  async open(
    { tables }: Pick<Template, 'tables'>,
    catalog: Readonly<Record<string, TaskTable>>,
    tools: TableTools,
  ): Promise<void> {
    for (const [name, { ref }] of Object.entries(tables)) {
      const table = Object.hasOwn(catalog, ref) ? catalog[ref] : undefined;
      if (table === undefined) {
        const message = `There is no reference table ${JSON.stringify(ref)}, which the Template calls ${JSON.stringify(name)}.`;
        throw new Failed('TEMPLATE_CHECK_FAILED', message);
      }
      const rows = await this.#cache.take(name, table, tools);
      this.#taken ??= new Map();
      this.#taken.set(name, { table, rows });
    }
  }

  get tables(): Tables {
    if (this.#taken === null) return NO_TABLES;
    return new Map([...this.#taken].map(([name, { rows }]) => [name, rows]));
  }

  get columns(): TableColumns {
    if (this.#taken === null) return NO_COLUMNS;
    return new Map([...this.#taken].map(([name, { rows }]) => [name, rows.columns]));
  }

  /** For the report: the SHA-256 of each table's file. */
  get digests(): Record<string, string> {
    return Object.fromEntries([...(this.#taken ?? [])].map(([name, { table }]) => [name, table.sha256]));
  }

  close(): void {
    if (this.#taken === null) return;
    for (const { table, rows } of this.#taken.values()) this.#cache.release(table, rows);
    this.#taken = null;
  }
}
