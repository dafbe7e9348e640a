// Some hundred to thousand rows in columns, in the memory of one Run. A batch is only valid during the `push` that hands
// it on: its cells lie in the input window and in the arena, which the next batch overwrites.
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { Heap } from '../memory/heap.ts';
import { utf8Text } from './ascii-text.ts';
import type { ColumnType } from './schema.ts';

/** Rows of a batch at most: column views of 32 KiB each, so that the touched columns of a batch stay in the L2 cache. */
export const BATCH_ROWS_MAX = 4096;

/**
 * The rows of a CSV file as they stand in the input window, not yet decoded. Row r has `stride` u32 entries at
 * `at + r * stride * 4`: entry 0 is the address before the row's first byte, entry j + 1 the address behind field j.
 * So field j is [entry j + 1, entry j + 1's successor): bytes from entry[j] + 1 up to entry[j + 1]. A field whose end lies
 * before its start is missing (short row): null.
 */
export interface RawTable {
  readonly at: number;
  readonly stride: number;
  /** Byte between fields. */
  readonly delimiter: number;
  /** Byte around quoted fields (0 = none). */
  readonly quote: number;
  /**
   * True when every row has all its fields side by side and the only quotes are those around well-formed quoted fields:
   * then a field whose first byte is not the quote holds no delimiter, quote, CR or LF.
   */
  readonly plain: boolean;
}

/** A field of the raw table, untouched. */
export interface RawColumn {
  readonly kind: 'raw';
  readonly field: number;
}

/** Clean UTF-8 text (unquoted, null values resolved): VIEW_BYTES per physical row at `at`. Only live rows are set. */
export interface ViewsColumn {
  readonly kind: 'views';
  readonly at: number;
  /** The field of the raw table whose texts these are; a column that an operation made has none. */
  readonly field?: number;
  /**
   * Address of a native kind (kernel/layout/native-kinds.ts) a byte per physical row; that of a null means nothing. Without
   * it all cells are text, as those of a CSV are. Who moves cells keeps it, who makes cells makes a column without it.
   */
  readonly kinds?: number;
}

/** A field of the raw table whose numbers all stand there as they would be written with this decimal mark. */
export interface WrittenField {
  readonly field: number;
  readonly decimalMark: number;
}

/**
 * Typed values: 8 bytes per physical row at `at` (i64: integer, decimal's unscaled value, date as days and datetime as
 * microseconds since 1970-01-01Z; f64: number; unused: boolean) and one byte at `meta` (META_NULL; boolean: 0 or 1;
 * decimal: its scale or META_BIG; else 0).
 */
export interface TypedColumn {
  readonly kind: 'typed';
  readonly type: Exclude<ColumnType, 'text' | 'json'>;
  readonly at: number;
  readonly meta: number;
  /** Decimals beyond 64 bits, by physical row. */
  readonly big: Map<number, { readonly unscaled: bigint; readonly scale: number }> | null;
  /** Where the file holds the texts of all live rows. */
  readonly written?: WrittenField;
}

export type ColumnData = RawColumn | ViewsColumn | TypedColumn;

/** Source rows (1 = first data row of the file): consecutive from `first`, or an f64 per physical row at `at`. */
export type SourceRows = { readonly first: number } | { readonly at: number };

/** Turns a raw column into clean views for the live rows of a batch; the reader of the file supplies it. */
export type Materialise = (batch: Batch, column: RawColumn) => ViewsColumn;

export interface BatchParts {
  readonly arena: Arena;
  /** Physical rows. */
  readonly rows: number;
  /** Address of u32 physical row numbers of the live rows, ascending unless the rows were sorted. */
  readonly selection: number;
  /** Live rows. */
  readonly live: number;
  readonly columns: readonly ColumnData[];
  readonly raw: RawTable | null;
  readonly sourceRows: SourceRows;
  readonly materialise: Materialise;
}

export class Batch {
  readonly arena: Arena;
  readonly rows: number;
  readonly selection: number;
  readonly live: number;
  readonly raw: RawTable | null;
  readonly sourceRows: SourceRows;
  /** In the order of the schema at this step. Replaced, not changed in place, when another batch shares it. */
  columns: ColumnData[];
  readonly #materialise: Materialise;

  constructor(parts: BatchParts) {
    this.arena = parts.arena;
    this.rows = parts.rows;
    this.selection = parts.selection;
    this.live = parts.live;
    this.columns = [...parts.columns];
    this.raw = parts.raw;
    this.sourceRows = parts.sourceRows;
    this.#materialise = parts.materialise;
  }

  get heap(): Heap {
    return this.arena.heap;
  }

  /** The same rows with other columns (select, drop, reorder, add). */
  withColumns(columns: readonly ColumnData[]): Batch {
    return this.#with(columns, this.selection, this.live);
  }

  /** The same columns with fewer (or reordered) live rows. `selection`: address of `live` u32 physical row numbers. */
  withSelection(selection: number, live: number): Batch {
    return this.#with(this.columns, selection, live);
  }

  /** Live rows from position `from` up to `to` (positions in the selection). Shares everything. */
  slice(from: number, to: number): Batch {
    return from === 0 && to === this.live ? this : this.withSelection(this.selection + from * 4, to - from);
  }

  /** Clean text of a column (raw, text or json) as views, made at first use and kept. Address of VIEW_BYTES per physical row. */
  views(index: number): number {
    const column = this.columns[index]!;
    if (column.kind === 'views') return column.at;
    if (column.kind === 'typed') throw new Error('a typed column has no views');
    const made = this.#materialise(this, column);
    this.columns[index] = made;
    return made.at;
  }

  /** Physical row at a position of the selection. */
  physicalRow(position: number): number {
    return this.heap.u32[(this.selection >>> 2) + position]!;
  }

  /** Source row number (1 = the file's first data row) of a physical row. */
  sourceRow(physicalRow: number): number {
    const rows = this.sourceRows;
    return 'at' in rows ? this.heap.f64[(rows.at >>> 3) + physicalRow]! : rows.first + physicalRow;
  }

  /** A text cell decoded, or null. For code that no kernel covers; `views` must have been called for the column. */
  text(column: ViewsColumn, physicalRow: number): string | null {
    const { u8, u32 } = this.heap;
    const at = (column.at + physicalRow * VIEW_BYTES) >>> 2;
    const start = u32[at]!;
    if (start === 0) return null;
    return utf8Text(u8, start, u32[at + 1]!);
  }

  /** Part by part: the engine copies an object with `...` many times as slowly. */
  #with(columns: readonly ColumnData[], selection: number, live: number): Batch {
    return new Batch({
      arena: this.arena,
      rows: this.rows,
      selection,
      live,
      columns,
      raw: this.raw,
      sourceRows: this.sourceRows,
      materialise: this.#materialise,
    });
  }
}
