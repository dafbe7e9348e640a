// Reads cells as values, one by one, in the form that expressions use (value.ts). A missing cell is null.

import { ASCII_TEXT_BYTES_MAX, asciiText } from '../../batch/ascii-text.ts';
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { NativeText } from '../../batch/native-cell.ts';
import type { StoredType } from '../../batch/schema.ts';
import { KIND_TEXT, META_BIG, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Heap } from '../../memory/heap.ts';
import { Decimal, decimalOf } from '../../values/decimal.ts';
import { CalendarDate, timestampOf } from '../../values/timestamp.ts';
import { valueOfJsonText } from './value-text.ts';

const VIEW_WORDS = VIEW_BYTES / 4;
const TWO_32 = 2 ** 32;
const MICROS_PER_SECOND = 1_000_000n;

/** Bound on the high words of integers that are exact as doubles: 53 bits and the sign. */
const SAFE_HIGH_MAX = 2 ** 21;

/** Reads the cells of one column. Call `bind` first for each batch. The memory may move between two reads. */
export class CellReader {
  #index: number;
  #batch!: Batch;
  #column!: ColumnData;
  /** Index of the views in u32 words, or -1 for a column without views. */
  #views = -1;
  #heap!: Heap;

  /** @param parseJson return json cells as parsed values instead of texts */
  constructor(type: StoredType, index: number, parseJson = false) {
    this.#index = index;
    this.read = type === 'json' && parseJson ? (row) => jsonValue(this.text(row)) : readerOf(type, this);
  }

  /** Reads the cell of a physical row. */
  readonly read: (row: number) => unknown;

  /** Reads another column of the same type from the next `bind` on. */
  moveTo(index: number): void {
    this.#index = index;
  }

  bind(batch: Batch): void {
    this.#batch = batch;
    if (batch.columns[this.#index]!.kind === 'raw') batch.views(this.#index);
    this.#column = batch.columns[this.#index]!;
    this.#views = this.#column.kind === 'views' ? this.#column.at >>> 2 : -1;
    this.#heap = batch.heap;
  }

  text(row: number): string | null {
    if (this.#views < 0) return null;
    const { u8, u32 } = this.#heap;
    const at = this.#views + row * VIEW_WORDS;
    const start = u32[at]!;
    if (start === 0) return null;
    const length = u32[at + 1]!;
    const text = length <= ASCII_TEXT_BYTES_MAX ? asciiText(u8, start, length) : null;
    return text ?? this.#batch.arena.decode(start, length);
  }

  /** Native kind of a text cell, or KIND_TEXT if the column has no kinds in this batch. */
  kind(row: number): number {
    const column = this.#column;
    return column.kind === 'views' && column.kinds !== undefined ? this.#heap.u8[column.kinds + row]! : KIND_TEXT;
  }

  /**
   * Meta byte of a typed cell. META_NULL if the column is not stored as typed: such a column was text before and
   * contains only nulls.
   */
  meta(row: number): number {
    return this.#column.kind === 'typed' ? this.#heap.u8[this.#column.meta + row]! : META_NULL;
  }

  number(row: number): number {
    return this.#heap.f64[(this.#at() >>> 3) + row]!;
  }

  /** A number if it is a safe integer, otherwise a bigint. */
  integer(row: number): number | bigint {
    const at = (this.#at() >>> 2) + row * 2;
    const { u32 } = this.#heap;
    const high = u32[at + 1]! | 0;
    if (high >= -SAFE_HIGH_MAX && high < SAFE_HIGH_MAX) {
      const value = high * TWO_32 + u32[at]!;
      if (value > Number.MIN_SAFE_INTEGER) return value;
    }
    return this.bigint(row);
  }

  bigint(row: number): bigint {
    return this.#heap.i64[(this.#at() >>> 3) + row]!;
  }

  decimal(row: number, meta: number): Decimal {
    if (meta !== META_BIG) return new Decimal(this.integer(row), meta);
    const big = this.#column.kind === 'typed' ? this.#column.big?.get(row) : undefined;
    const value = big === undefined ? null : decimalOf(big.unscaled, big.scale);
    if (value === null) throw new Error('a decimal beyond 64 bits is missing');
    return value;
  }

  #at(): number {
    return this.#column.kind === 'typed' ? this.#column.at : 0;
  }
}

function readerOf(type: StoredType, cells: CellReader): (row: number) => unknown {
  switch (type) {
    case 'text':
    case 'json':
      return (row) => cells.text(row);
    case 'text_with_kind':
      return (row) => {
        const text = cells.text(row);
        const kind = text === null ? KIND_TEXT : cells.kind(row);
        return kind === KIND_TEXT ? text : new NativeText(text!, kind);
      };
    case 'boolean':
      return (row) => {
        const meta = cells.meta(row);
        return meta === META_NULL ? null : meta === 1;
      };
    case 'number':
      return (row) => (cells.meta(row) === META_NULL ? null : cells.number(row));
    case 'integer':
      return (row) => (cells.meta(row) === META_NULL ? null : cells.integer(row));
    case 'decimal':
      return (row) => {
        const meta = cells.meta(row);
        return meta === META_NULL ? null : cells.decimal(row, meta);
      };
    case 'date':
      return (row) => (cells.meta(row) === META_NULL ? null : new CalendarDate(Number(cells.bigint(row))));
    case 'datetime':
      return (row) => (cells.meta(row) === META_NULL ? null : timestampOfMicros(cells.bigint(row)));
  }
}

function jsonValue(text: string | null): unknown {
  if (text === null) return null;
  const value = valueOfJsonText(text);
  return value === undefined ? null : value;
}

function timestampOfMicros(micros: bigint): unknown {
  return timestampOf(Number(micros / MICROS_PER_SECOND), Number(micros % MICROS_PER_SECOND) * 1000);
}
