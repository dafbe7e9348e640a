// Makes the row table of each batch (RawTable in workers/batch/batch.ts) from complete structurals, and counts what is wrong
// with rows on the way.
import { BATCH_ROWS_MAX } from '../../batch/batch.ts';
import type { KernelExports } from '../../kernel/bindings/exports.ts';
import {
  BEFORE,
  EMPTY_IS_NULL,
  EVENT_BYTES,
  EVENT_EXTRA,
  EVENT_ROW,
  EVENT_STRAYS,
  EVENTS,
  MAY_BE_STRAY,
  PLAIN,
  RAGGED_FAILS,
  ROWS,
  STATE_BYTES,
  STOP,
  STOP_AT,
  STOP_COLUMNS,
  STOP_RAGGED,
  STOP_STRAY,
  STRAY_FAILS,
  STRUCTURALS,
} from '../../kernel/layout/ragged-rows.ts';
import type { Heap } from '../../memory/heap.ts';
import { type CodeCounts, countCode } from '../../run/report.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { CsvTrouble } from './malformed.ts';
import type { StructuralIndex } from './structural-index.ts';

/** u32 entries of the table: 512 KiB. Wide files have fewer rows in a batch. */
const TABLE_ENTRIES = 131_072;

const STOPS: Readonly<Record<number, CsvTrouble>> = {
  [STOP_RAGGED]: 'ragged',
  [STOP_STRAY]: 'stray',
  [STOP_COLUMNS]: 'columns',
};

export interface RowRules {
  readonly columns: number;
  /** 0xFF = none. */
  readonly quote: number;
  readonly raggedFails: boolean;
  readonly strayFails: boolean;
  readonly emptyIsNull: boolean;
}

export class RowTable {
  readonly at: number;
  /** Rows of the table now. */
  rows = 0;
  plain = true;
  /** The row behind the table's rows must fail: what with, and where. */
  stop: { readonly kind: CsvTrouble; readonly address: number } | null = null;
  readonly #heap: Heap;
  readonly #kernel: KernelExports;
  readonly #rules: RowRules;
  readonly #counts: CodeCounts;
  readonly #rowsMax: number;
  readonly #state: number;
  readonly #events: number;

  constructor(heap: Heap, kernel: KernelExports, rules: RowRules, counts: CodeCounts) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#rules = rules;
    this.#counts = counts;
    this.#rowsMax = Math.min(BATCH_ROWS_MAX, Math.floor(TABLE_ENTRIES / (rules.columns + 1)));
    this.at = heap.allocate(TABLE_ENTRIES * 4);
    this.#state = heap.allocate(STATE_BYTES);
    this.#events = heap.allocate(this.#rowsMax * EVENT_BYTES);
  }

  /**
   * Takes up to `rowsMax` rows from the index into the table; 0: takes what there is, for its count alone.
   * @param sourceRow number of the first of them
   */
  take(index: StructuralIndex, rowsMax: number, sourceRow: number): void {
    const limit = rowsMax === 0 ? this.#rowsMax : Math.min(rowsMax, this.#rowsMax);
    if (this.#isUniform(index)) this.#takeUniform(index, rowsMax === 0 ? 0 : limit);
    else this.#takeRagged(index, limit, sourceRow);
  }

  /** Makes rows of a file of one column in which nothing stands. @param address any address that is not 0 */
  fillMissing(rowsMax: number, address: number): void {
    this.rows = Math.min(rowsMax, this.#rowsMax);
    this.plain = false;
    this.#heap.u32.fill(address, this.at >>> 2, (this.at >>> 2) + this.rows * (this.#rules.columns + 1));
  }

  #isUniform(index: StructuralIndex): boolean {
    const { columns, emptyIsNull } = this.#rules;
    const rows = (index.completeEnd - index.cursor) / 4 / columns;
    if (index.uniform === null) {
      const whole = !index.literal && Number.isInteger(rows) && rows === index.rowEnds;
      const settled = whole && (columns !== 1 || emptyIsNull);
      index.uniform = settled && this.#kernel.rowsAreUniform(index.cursor, rows, columns) === 1;
    }
    return index.uniform;
  }

  #takeUniform(index: StructuralIndex, limit: number): void {
    const { columns } = this.#rules;
    const ready = (index.completeEnd - index.cursor) / 4 / columns;
    // In equal shares: a large batch and a small one fill the caches and the arena with the large one for nothing.
    const rows = limit === 0 ? ready : Math.ceil(ready / Math.max(1, Math.ceil(ready / limit)));
    const behind = index.cursor + rows * columns * 4;
    if (limit > 0) this.#kernel.indexRows(index.cursor, index.rowStart - 1, rows, columns, this.at);
    index.rowStart = this.#heap.u32[(behind >>> 2) - 1]! + 1;
    index.cursor = behind;
    this.rows = rows;
    this.plain = true;
  }

  #takeRagged(index: StructuralIndex, limit: number, sourceRow: number): void {
    const { columns, quote } = this.#rules;
    const state = this.#state;
    const words = this.#heap.u32;
    words.fill(0, state >>> 2, (state + STATE_BYTES) >>> 2);
    words[(state + STRUCTURALS) >>> 2] = index.cursor;
    words[(state + BEFORE) >>> 2] = index.rowStart - 1;
    words[(state + PLAIN) >>> 2] = index.literal ? 0 : 1;
    const { at } = this;
    const rules = this.#rulesFor(index);
    this.#kernel.indexRaggedRows(
      this.#state,
      index.completeEnd,
      limit,
      columns,
      COLUMNS_MAX,
      at,
      this.#events,
      rules,
      quote,
    );
    const { u32 } = this.#heap;
    index.cursor = u32[(state + STRUCTURALS) >>> 2]!;
    index.rowStart = u32[(state + BEFORE) >>> 2]! + 1;
    this.rows = u32[(state + ROWS) >>> 2]!;
    this.plain = u32[(state + PLAIN) >>> 2] === 1;
    const kind = STOPS[u32[(state + STOP) >>> 2]!];
    if (kind !== undefined)
      this.stop = { kind, address: kind === 'stray' ? u32[(state + STOP_AT) >>> 2]! : index.rowStart };
    this.#count(u32[(state + EVENTS) >>> 2]!, sourceRow);
  }

  #rulesFor(index: StructuralIndex): number {
    const { raggedFails, strayFails, emptyIsNull } = this.#rules;
    return (
      (raggedFails ? RAGGED_FAILS : 0) |
      (strayFails ? STRAY_FAILS : 0) |
      (index.literal ? MAY_BE_STRAY : 0) |
      (emptyIsNull ? EMPTY_IS_NULL : 0)
    );
  }

  #count(events: number, sourceRow: number): void {
    const { u32 } = this.#heap;
    for (let event = 0; event < events; event++) {
      const at = this.#events + event * EVENT_BYTES;
      const row = sourceRow + u32[(at + EVENT_ROW) >>> 2]!;
      if (u32[(at + EVENT_EXTRA) >>> 2] === 1) countCode(this.#counts, 'RAGGED_ROW', row);
      for (let stray = u32[(at + EVENT_STRAYS) >>> 2]!; stray > 0; stray--) countCode(this.#counts, 'STRAY_QUOTE', row);
    }
  }
}
