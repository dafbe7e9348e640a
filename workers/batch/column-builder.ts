// Builds a column in the arena, cell by cell, from values in the form that expressions use
// (expression/compile/value.ts). A value that does not fit the column is refused with an error code.

import { KIND_TEXT, META_BIG, META_NULL, META_SCALE_MAX, VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Arena } from '../memory/arena.ts';
import type { RowErrorCode } from '../protocol/report.ts';
import type { Decimal } from '../values/decimal.ts';
import type { CalendarDate, Timestamp } from '../values/timestamp.ts';
import { CELL_BYTES_MAX, type ColumnData } from './batch.ts';
import { NativeText } from './native-cell.ts';
import type { StoredType } from './schema.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const TWO_32 = 2 ** 32;
const MICROS_PER_SECOND = 1_000_000n;
const NANOS_PER_MICROSECOND = 1000;

/** Space for the other cells of a row with a long text. */
const SPARE_BYTES = 65_536;

/** Result of writing a cell: written, arena full, or an error of the row. */
export type CellOutcome = 'done' | 'full' | RowErrorCode;

export class ColumnBuilder {
  readonly #arena: Arena;
  readonly #type: StoredType;
  #at = 0;
  #meta = 0;
  #kinds = 0;
  #big: Map<number, { readonly unscaled: bigint; readonly scale: number }> | null = null;

  constructor(arena: Arena, type: StoredType) {
    this.#arena = arena;
    this.#type = type;
  }

  /**
   * Allocates the cells of `rows` physical rows. They are all null, or copies of `before` if that has the same type.
   * Returns false if the arena is full.
   */
  begin(rows: number, before: ColumnData | null = null): boolean {
    this.#big = null;
    const arena = this.#arena;
    const hasKinds = this.#type === 'text_with_kind';
    const isText = this.#type === 'text' || this.#type === 'json' || hasKinds;
    this.#at = arena.tryTake(rows * VIEW_BYTES);
    this.#meta = isText ? 0 : arena.tryTake(rows);
    this.#kinds = hasKinds ? arena.tryTake(rows) : 0;
    if (this.#at === 0 || (!isText && this.#meta === 0) || (hasKinds && this.#kinds === 0)) return false;
    const { u8 } = arena.heap;
    if (hasKinds) {
      const old = before?.kind === 'views' ? before.kinds : undefined;
      if (old === undefined) u8.fill(KIND_TEXT, this.#kinds, this.#kinds + rows);
      else u8.copyWithin(this.#kinds, old, old + rows);
    }
    if (isText) {
      if (before?.kind === 'views') u8.copyWithin(this.#at, before.at, before.at + rows * VIEW_BYTES);
      else u8.fill(0, this.#at, this.#at + rows * VIEW_BYTES);
    } else if (before?.kind === 'typed' && before.type === this.#type) {
      u8.copyWithin(this.#at, before.at, before.at + rows * VIEW_BYTES);
      u8.copyWithin(this.#meta, before.meta, before.meta + rows);
      this.#big = before.big === null ? null : new Map(before.big);
    } else {
      u8.fill(META_NULL, this.#meta, this.#meta + rows);
    }
    return true;
  }

  /**
   * Writes the cell of a physical row.
   * @param mayGrow enlarge the arena instead of returning `full`. For the first row of a piece of a batch, which would
   * otherwise be computed again and again
   */
  set(row: number, value: unknown, mayGrow = false): CellOutcome {
    const { u8, f64 } = this.#arena.heap;
    if (value === null || value === undefined) return this.#setNull(row);
    switch (this.#type) {
      case 'text':
      case 'json':
        return this.#setText(row, value as string, mayGrow);
      case 'text_with_kind':
        u8[this.#kinds + row] = value instanceof NativeText ? value.kind : KIND_TEXT;
        return this.#setText(row, value instanceof NativeText ? value.text : (value as string), mayGrow);
      case 'boolean':
        u8[this.#meta + row] = value === true ? 1 : 0;
        return 'done';
      case 'number':
        u8[this.#meta + row] = 0;
        f64[(this.#at >>> 3) + row] = value as number;
        return 'done';
      case 'integer':
        return this.#setInteger(row, value as number | bigint, 0) ? 'done' : 'OUT_OF_RANGE';
      case 'decimal':
        this.#setDecimal(row, value as Decimal);
        return 'done';
      case 'date':
        this.#setInteger(row, (value as CalendarDate).days, 0);
        return 'done';
      case 'datetime': {
        const { seconds, nanos } = value as Timestamp;
        if (nanos % NANOS_PER_MICROSECOND !== 0) return 'PRECISION_LOSS';
        this.#setInteger(row, BigInt(seconds) * MICROS_PER_SECOND + BigInt(nanos / NANOS_PER_MICROSECOND), 0);
        return 'done';
      }
    }
  }

  get column(): ColumnData {
    if (this.#type === 'text' || this.#type === 'json') return { kind: 'views', at: this.#at };
    if (this.#type === 'text_with_kind') return { kind: 'views', at: this.#at, kinds: this.#kinds };
    return { kind: 'typed', type: this.#type, at: this.#at, meta: this.#meta, big: this.#big };
  }

  #setNull(row: number): CellOutcome {
    const { u8, u32 } = this.#arena.heap;
    if (this.#meta !== 0) u8[this.#meta + row] = META_NULL;
    else u32.fill(0, (this.#at >>> 2) + row * 2, (this.#at >>> 2) + row * 2 + 2);
    return 'done';
  }

  #setText(row: number, text: string, mayGrow: boolean): CellOutcome {
    const arena = this.#arena;
    if (text.length > CELL_BYTES_MAX) return 'TOO_LONG';
    if (!arena.hasSpaceFor(text)) {
      if (!mayGrow) return 'full';
      const bytes = Buffer.byteLength(text);
      if (bytes > CELL_BYTES_MAX) return 'TOO_LONG';
      arena.enlarge(bytes + SPARE_BYTES);
    }
    const start = arena.next;
    const bytes = arena.write(text);
    if (bytes > CELL_BYTES_MAX) return 'TOO_LONG';
    const at = (this.#at >>> 2) + row * 2;
    arena.heap.u32[at] = start;
    arena.heap.u32[at + 1] = bytes;
    return 'done';
  }

  #setInteger(row: number, value: number | bigint, meta: number): boolean {
    const { u8, u32, i64 } = this.#arena.heap;
    if (typeof value === 'number') {
      const at = (this.#at >>> 2) + row * 2;
      u32[at] = value % TWO_32;
      u32[at + 1] = Math.floor(value / TWO_32);
    } else {
      if (value > INT64_MAX || value < INT64_MIN) return false;
      i64[(this.#at >>> 3) + row] = value;
    }
    u8[this.#meta + row] = meta;
    return true;
  }

  #setDecimal(row: number, { digits, scale }: Decimal): void {
    if (scale >= 0 && scale <= META_SCALE_MAX && this.#setInteger(row, digits, scale)) return;
    this.#big ??= new Map();
    this.#big.set(row, { unscaled: BigInt(digits), scale });
    this.#arena.heap.u8[this.#meta + row] = META_BIG;
  }
}
