// A batch of rows, stored by column in the memory of one Run. A batch is valid only during the `push` call that
// receives it: its cells are in the input window and in the arena, which the next batch overwrites.

import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { Heap } from '../memory/heap.ts';
import { utf8Text } from './ascii-text.ts';
import type { ColumnType } from './schema.ts';

/**
 * Maximum number of rows in a batch. The views of a column then take 32 KiB, so the used columns of a batch stay in the
 * L2 cache.
 */
export const BATCH_ROWS_MAX = 4096;

/**
 * Maximum size of a cell that an operation computes, in bytes of UTF-8. It is the same as for a cell in an input file.
 * A longer cell is the row error TOO_LONG.
 */
export const CELL_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The rows of a CSV file as they are in the input window, not yet decoded. Row r has `stride` u32 entries at `at + r *
 * stride * 4`. Entry 0 is the address of the byte before the row, and entry j + 1 is the address of the byte after
 * field j. So field j consists of the bytes from entry[j] + 1 up to (excluding) entry[j + 1]. A field whose end is
 * before its start is missing (the row is too short) and therefore null.
 */
export interface RawTable {
  readonly at: number;
  readonly stride: number;
  /** Field delimiter. */
  readonly delimiter: number;
  /** Quote character, 0 if the file has no quotes. */
  readonly quote: number;
  /**
   * True if every row has all its fields in consecutive memory, and quotes occur only around well-formed quoted fields.
   * Then a field whose first byte is not the quote contains no delimiter, quote, CR or LF.
   */
  readonly plain: boolean;
}

/** An unchanged field of the raw table. */
export interface RawColumn {
  readonly kind: 'raw';
  readonly field: number;
}

/**
 * Clean UTF-8 text (unquoted, null values resolved): VIEW_BYTES per physical row at `at`. Only the views of live rows
 * are set.
 */
export interface ViewsColumn {
  readonly kind: 'views';
  readonly at: number;
  /**
   * Address of one native kind (kernel/layout/cells.ts) per physical row. The kind of a null has no meaning.
   * Undefined if all cells are text, as in a CSV file. Code that moves cells preserves the kinds, and code that creates
   * cells creates a column without kinds.
   */
  readonly kinds?: number;
}

/**
 * Typed values: 8 bytes per physical row at `at` (i64: integer, decimal's unscaled value, date as days and datetime as
 * microseconds since 1970-01-01Z; f64: number; unused: boolean) and one byte at `meta` (META_NULL; boolean: 0 or 1;
 * decimal: its scale or META_BIG; otherwise 0). The cells of a batch's column are never changed in place: an operation
 * changes a copy.
 */
export interface TypedColumn {
  readonly kind: 'typed';
  readonly type: Exclude<ColumnType, 'text' | 'json'>;
  readonly at: number;
  readonly meta: number;
  /** Decimals beyond 64 bits, by physical row. */
  readonly big: Map<number, { readonly unscaled: bigint; readonly scale: number }> | null;
}

export type ColumnData = RawColumn | ViewsColumn | TypedColumn;

/**
 * Source row numbers (1 = first data row of the file): consecutive from `first`, or an f64 per physical row at `at`.
 */
export type SourceRows = { readonly first: number } | { readonly at: number };

/** Converts a raw column into clean views for the live rows of a batch. The file's reader provides this function. */
export type Materialise = (batch: Batch, column: RawColumn) => ViewsColumn;

export interface BatchParts {
  readonly arena: Arena;
  /** Number of physical rows. */
  readonly rows: number;
  /** Address of the u32 physical row numbers of the live rows, ascending unless the rows were sorted. */
  readonly selection: number;
  /** Number of live rows. */
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
  /**
   * In the order of the schema at this step. Replaced instead of changed in place if another batch shares the array.
   */
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

  /** The same columns with fewer or reordered live rows. `selection`: address of `live` u32 physical row numbers. */
  withSelection(selection: number, live: number): Batch {
    return this.#with(this.columns, selection, live);
  }

  /**
   * The same rows of a later file: with other columns, and numbered after the rows of the files before it. The rows must
   * be numbered consecutively.
   */
  stacked(columns: readonly ColumnData[], rowsBefore: number): Batch {
    if ('at' in this.sourceRows) throw new Error('the rows of a file are numbered consecutively');
    return new Batch({
      ...{ arena: this.arena, rows: this.rows, selection: this.selection, live: this.live, columns, raw: this.raw },
      sourceRows: { first: this.sourceRows.first + rowsBefore },
      materialise: this.#materialise,
    });
  }

  /** The live rows from position `from` up to `to` (positions in the selection). Shares all memory. */
  slice(from: number, to: number): Batch {
    return from === 0 && to === this.live ? this : this.withSelection(this.selection + from * 4, to - from);
  }

  /**
   * Clean text of a column (raw, text or json) as views, created on first use. Returns the address of VIEW_BYTES per
   * physical row.
   */
  views(index: number): number {
    const column = this.columns[index]!;
    if (column.kind === 'views') return column.at;
    if (column.kind === 'typed') throw new Error('a typed column has no views');
    const made = this.#materialise(this, column);
    this.columns[index] = made;
    return made.at;
  }

  /** Physical row number at a position of the selection. */
  physicalRow(position: number): number {
    return this.heap.u32[(this.selection >>> 2) + position]!;
  }

  /** Source row number (1 = the file's first data row) of a physical row. */
  sourceRow(physicalRow: number): number {
    const rows = this.sourceRows;
    return 'at' in rows ? this.heap.f64[(rows.at >>> 3) + physicalRow]! : rows.first + physicalRow;
  }

  /**
   * Decodes a text cell, or returns null. For code that no kernel covers. `views` must have been called for the column.
   */
  text(column: ViewsColumn, physicalRow: number): string | null {
    const { u8, u32 } = this.heap;
    const at = (column.at + physicalRow * VIEW_BYTES) >>> 2;
    const start = u32[at]!;
    if (start === 0) return null;
    return utf8Text(u8, start, u32[at + 1]!);
  }

  /** Lists each property, because copying an object with `...` is many times slower. */
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

// Columns whose cells are identical to a field of the file, so that a writer may copy the file's bytes instead of the
// cells. The field is private to the column object: a copy of the column, by a spread or as a new object, does not have
// it. An operation that changes cells needs such a copy, so it cannot keep the bytes from before the change.

/** The clean texts of a field. */
export class ViewsOfField implements ViewsColumn {
  readonly kind = 'views';
  readonly at: number;
  readonly #field: number;

  constructor(at: number, field: number) {
    this.at = at;
    this.#field = field;
  }

  static fieldOf(column: ColumnData): number | undefined {
    return #field in column ? column.#field : undefined;
  }
}

/** The values of a field whose text, in all live rows, equals what a writer with this decimal mark would write. */
export class ValuesOfField implements TypedColumn {
  readonly kind = 'typed';
  readonly type: TypedColumn['type'];
  readonly at: number;
  readonly meta: number;
  readonly big: TypedColumn['big'];
  readonly #field: number;
  readonly #decimalMark: number;

  constructor({ type, at, meta, big }: TypedColumn, field: number, decimalMark: number) {
    this.type = type;
    this.at = at;
    this.meta = meta;
    this.big = big;
    this.#field = field;
    this.#decimalMark = decimalMark;
  }

  /** The field, or undefined if a writer with this decimal mark would write other bytes than the file contains. */
  static fieldOf(column: TypedColumn, decimalMark: number): number | undefined {
    return #field in column && column.#decimalMark === decimalMark ? column.#field : undefined;
  }
}

/** The field of the file whose texts are those of this column, or undefined. */
export function textField(column: ColumnData): number | undefined {
  return column.kind === 'raw' ? column.field : ViewsOfField.fieldOf(column);
}
