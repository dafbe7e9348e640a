// The reference tables of one thread by the SHA-256 of their files, shared by its Runs and charged to the budget. Tables
// that nobody uses stay as long as they are few; those that did not fit the budget belong to the Run that loaded them.
import type { TaskTable } from '../../protocol/messages.ts';
import { loadTable, type TableTools } from './load-table.ts';
import type { TableRows } from './table-rows.ts';

/** Bytes of tables that nobody uses at the moment: what a thread keeps from others to save the next Run's reading. */
const IDLE_BYTES_MAX = 8 * 1024 * 1024;

/** Tables by the name that the Template gives them. */
export type Tables = ReadonlyMap<string, TableRows>;

interface Entry {
  readonly rows: TableRows;
  users: number;
}

export class TableCache {
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();

  /** The table, read if it is not there; whoever takes it calls `release` with the same arguments. */
  async take(name: string, table: TaskTable, tools: TableTools): Promise<TableRows> {
    const known = this.#entries.get(table.sha256);
    if (known !== undefined) return this.#use(table.sha256, known);
    const rows = await loadTable(name, table, tools);
    if (!rows.inMemory) return rows;
    // Another Run may have read it in the meantime.
    const other = this.#entries.get(table.sha256);
    if (other === undefined) return this.#use(table.sha256, { rows, users: 0 });
    rows.drop();
    return this.#use(table.sha256, other);
  }

  release({ sha256 }: TaskTable, rows: TableRows): void {
    const entry = this.#entries.get(sha256);
    if (entry?.rows === rows) {
      entry.users--;
      this.#dropIdle();
    } else rows.drop();
  }

  #use(sha256: string, entry: Entry): TableRows {
    entry.users++;
    this.#entries.delete(sha256);
    this.#entries.set(sha256, entry);
    return entry.rows;
  }

  #dropIdle(): void {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    let bytes = idle.reduce((sum, [, { rows }]) => sum + rows.sizeBytes, 0);
    for (const [sha256, { rows }] of idle) {
      if (bytes <= IDLE_BYTES_MAX) return;
      bytes -= rows.sizeBytes;
      this.#entries.delete(sha256);
      rows.drop();
    }
  }
}
