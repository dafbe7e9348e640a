// The rows that the grid shows, fetched in pages and kept until another Run was watched, or another step is looked at.
// Those that are seen come first, then the others: of 2,000 rows and 500 columns they are some 10 MB.
import { type Signal, signal } from '@preact/signals';
import type { RowFilter, WatchedColumn, WatchedRow, WatchedRows } from '../../../workers/watch/watch-messages.ts';
import { ask } from './ask.ts';

const PAGE_ROWS = 100;

export class RowPages {
  /** Counts pages that have come: whoever shows rows reads it. */
  readonly arrived: Signal<number> = signal(0);
  readonly count: Signal<number> = signal(0);
  readonly #step: number;
  readonly #filter: RowFilter;
  readonly #pages = new Map<number, readonly WatchedRow[] | null>();
  /** First and last page that were wanted last: when others come, nothing that is shown changes. */
  #wanted = { first: 0, last: 0 };
  #isClosed = false;

  /** Those that the rows have: of an earlier Run they may be others. */
  readonly columns: readonly WatchedColumn[];
  /** Whether all rows are here. */
  readonly isWhole: Signal<boolean> = signal(false);
  /** Resolves when the first rows are here. */
  readonly begun: Promise<void>;

  constructor(step: number, filter: RowFilter, columns: readonly WatchedColumn[]) {
    this.#step = step;
    this.#filter = filter;
    this.columns = columns;
    this.begun = this.#fetch(0);
  }

  /** Null: it is not here yet. */
  row(index: number): WatchedRow | null {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS] ?? null;
  }

  /** Fetches what is missing of these rows, and the pages beside them. */
  want(from: number, to: number): void {
    const first = Math.max(0, Math.floor(from / PAGE_ROWS) - 1);
    const last = Math.min(this.#lastPage(), Math.floor(to / PAGE_ROWS) + 1);
    this.#wanted = { first, last };
    for (let page = first; page <= last; page++) {
      if (!this.#pages.has(page)) void this.#fetch(page);
    }
  }

  /** Fetches the other rows, a page at a time, so that whoever scrolls finds them there. */
  async readAhead(): Promise<void> {
    for (let page = 0; page <= this.#lastPage(); page++) {
      if (this.#isClosed) return;
      if (!this.#pages.has(page)) await this.#fetch(page);
    }
  }

  /** Others take their place: what is missing is not fetched any more. */
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
        from: page * PAGE_ROWS,
        count: PAGE_ROWS,
      });
      this.#pages.set(page, found?.rows ?? []);
      this.count.value = found?.count ?? 0;
      if (page >= this.#wanted.first && page <= this.#wanted.last) this.arrived.value++;
      if (this.#hasAll()) this.isWhole.value = true;
    } catch {
      // It is asked for again when it is wanted again; that the server is gone is told by the state of the page.
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
