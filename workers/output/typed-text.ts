// Texts of typed cells as the outputs write them, in plain TypeScript: for what no kernel covers (doubles, decimals beyond
// 64 bits, date patterns), for rows too large for the kernels, and as the kernels' twin.
import type { Batch, TypedColumn } from '../batch/batch.ts';
import { META_BIG, META_NULL, VIEW_BYTES } from '../kernel/layout/cells.ts';
import type { Heap } from '../memory/heap.ts';
import { dateText } from '../values/calendar.ts';
import { Timestamp, timestampText } from '../values/timestamp.ts';

export interface TypedFormat {
  /** Decimal mark of decimals and numbers. */
  readonly decimalMark: string;
  /** Text of a day number, null = ISO 8601. */
  readonly formatDate: ((days: number) => string) | null;
  /** What stands for NaN and the infinities: their names, or null where those are no values. */
  readonly nonFinite: 'name' | 'null';
  /** Texts of true and false. */
  readonly boolean: readonly [string, string];
}

/** ISO dates, a point as the decimal mark: what JSON writes. */
export const PLAIN_FORMAT: TypedFormat = {
  decimalMark: '.',
  formatDate: null,
  nonFinite: 'null',
  boolean: ['true', 'false'],
};

const MICROSECONDS_PER_SECOND = 1_000_000n;

/** The text of a typed cell, or null. */
export function typedText(heap: Heap, column: TypedColumn, physicalRow: number, format: TypedFormat): string | null {
  const meta = heap.u8[column.meta + physicalRow]!;
  if (meta === META_NULL) return null;
  const slot = (column.at >>> 3) + physicalRow;
  switch (column.type) {
    case 'boolean':
      return meta === 1 ? format.boolean[0] : format.boolean[1];
    case 'number': {
      const value = heap.f64[slot]!;
      if (format.nonFinite === 'null' && !Number.isFinite(value)) return null;
      // Shortest text that reads back as the same double. Zero has no sign.
      return withMark(String(value), format.decimalMark);
    }
    case 'integer':
      return String(heap.i64[slot]!);
    case 'decimal': {
      const big = meta === META_BIG ? column.big?.get(physicalRow) : { unscaled: heap.i64[slot]!, scale: meta };
      if (big === undefined) throw new Error('a big decimal is missing');
      return withMark(decimalText(big.unscaled, big.scale), format.decimalMark);
    }
    case 'date': {
      const days = Number(heap.i64[slot]!);
      return format.formatDate === null ? dateText(days) : format.formatDate(days);
    }
    case 'datetime':
      return datetimeText(heap.i64[slot]!);
  }
}

/** True when the kernels cannot write this column of this batch. */
export function needsText(column: TypedColumn, format: TypedFormat): boolean {
  if (column.type === 'number') return true;
  if (column.type === 'date') return format.formatDate !== null;
  return column.type === 'decimal' && ((column.big !== null && column.big.size > 0) || !isByte(format.decimalMark));
}

/** Texts of the live rows as views in the batch's arena. Gives the address of the views. */
export function typedViews(batch: Batch, column: TypedColumn, format: TypedFormat): number {
  const { arena, heap } = batch;
  const at = arena.take(batch.rows * VIEW_BYTES);
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const text = typedText(heap, column, row, format);
    const length = text === null ? 0 : arena.write(text);
    const view = (at + row * VIEW_BYTES) >>> 2;
    heap.u32[view] = text === null ? 0 : arena.next - length;
    heap.u32[view + 1] = length;
  }
  return at;
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function datetimeText(microseconds: bigint): string {
  const rest = ((microseconds % MICROSECONDS_PER_SECOND) + MICROSECONDS_PER_SECOND) % MICROSECONDS_PER_SECOND;
  const seconds = (microseconds - rest) / MICROSECONDS_PER_SECOND;
  return timestampText(new Timestamp(Number(seconds), Number(rest) * 1000));
}

function withMark(text: string, mark: string): string {
  return mark === '.' ? text : text.replace('.', mark);
}

function isByte(mark: string): boolean {
  return mark.length === 1 && mark.charCodeAt(0) < 0x80;
}
