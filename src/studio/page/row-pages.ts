// The rows that the grid shows. They are fetched in pages and kept until another Run has been watched or another step
// is chosen. Visible rows are fetched first, then the others. With 2,000 rows and 500 columns they take about 10 MB.
import { type Signal, signal } from '@preact/signals';
import type {
  CellFilter,
  RowFilter,
  WatchedColumn,
  WatchedRow,
  WatchedRows,
} from '../../../workers/watch/watch-messages.ts';
import { ask } from './ask.ts';

const PAGE_ROWS = 100;

export class RowPages {
  /** Number of pages that have arrived; components that show rows subscribe to it. */
  readonly arrived: Signal<number> = signal(0);
  readonly count: Signal<number> = signal(0);
  readonly #step: number;
  readonly #filter: RowFilter;
  readonly #cell: CellFilter | null;
  readonly #pages = new Map<number, readonly WatchedRow[] | null>();
  /** First and last page requested most recently. When other pages arrive, nothing that is shown changes. */
  #wanted = { first: 0, last: 0 };
  #isClosed = false;

  /** The columns of these rows; an earlier Run may have had other columns. */
  readonly columns: readonly WatchedColumn[];
  /** True when all rows have arrived. */
  readonly isWhole: Signal<boolean> = signal(false);
  /** Resolves when the first rows have arrived. */
  readonly begun: Promise<void>;

  constructor(step: number, filter: RowFilter, cell: CellFilter | null, columns: readonly WatchedColumn[]) {
    this.#step = step;
    this.#filter = filter;
    this.#cell = cell;
    this.columns = columns;
    this.begun = this.#fetch(0);
  }

  /** The rows of the first page. */
  get first(): readonly WatchedRow[] {
    return this.#pages.get(0) ?? [];
  }

  /** Null: not yet fetched. */
  row(index: number): WatchedRow | null {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS] ?? null;
  }

  /** Fetches missing rows of this range, and the adjacent pages. */
  want(from: number, to: number): void {
    const first = Math.max(0, Math.floor(from / PAGE_ROWS) - 1);
    const last = Math.min(this.#lastPage(), Math.floor(to / PAGE_ROWS) + 1);
    this.#wanted = { first, last };
    for (let page = first; page <= last; page++) {
      if (!this.#pages.has(page)) void this.#fetch(page);
    }
  }

  /** Fetches the remaining rows one page at a time, so that they are present when the user scrolls. */
  async readAhead(): Promise<void> {
    for (let page = 0; page <= this.#lastPage(); page++) {
      if (this.#isClosed) return;
      if (!this.#pages.has(page)) await this.#fetch(page);
    }
  }

  /** Stops fetching, because other rows replace these. */
  close(): void {
    this.#isClosed = true;
  }

  #lastPage(): number {
    return Math.floor(Math.max(0, this.count.peek() - 1) / PAGE_ROWS);
  }

  async #fetch(page: number): Promise<void> {
    this.#pages.set(page, null);
    try {
      const found = await ask<WatchedRows | null>('POST /api/rows', {
        step: this.#step,
        filter: this.#filter,
        cell: this.#cell,
        from: page * PAGE_ROWS,
        count: PAGE_ROWS,
      });
      this.#pages.set(page, found?.rows ?? []);
      this.count.value = found?.count ?? 0;
      if (page >= this.#wanted.first && page <= this.#wanted.last) this.arrived.value++;
      if (this.#hasAll()) this.isWhole.value = true;
    } catch {
      // The page is requested again when it is needed again. If the server is gone, the state of the page shows that.
      this.#pages.delete(page);
    }
  }

  #hasAll(): boolean {
    for (let page = 0; page <= this.#lastPage(); page++) {
      if ((this.#pages.get(page) ?? null) === null) return false;
    }
    return true;
  }
}
