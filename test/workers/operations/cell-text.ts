// Cells of a batch as texts, for tests that compare them with the texts that they wrote.
import type { Batch, ColumnData } from '../../../workers/batch/batch.ts';
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import { dateText, timestampOf, timestampText } from '../../../workers/values/timestamp.ts';
import type { Cell } from './batch-builder.ts';

/** A cell in the notation of a test: typed cells as their canonical text. */
export function cellText(batch: Batch, column: ColumnData, row: number): Cell {
  if (column.kind === 'views') return batch.text(column, row);
  if (column.kind === 'raw') throw new Error('there are no raw columns here');
  const meta = batch.heap.u8[column.meta + row]!;
  if (meta === META_NULL) return null;
  if (column.type === 'boolean') return meta === 1 ? 'true' : 'false';
  if (column.type === 'number') return String(batch.heap.f64[(column.at >>> 3) + row]!);
  if (column.type === 'date' || column.type === 'datetime') return timeText(batch, column.type, column.at, row);
  if (column.type !== 'decimal') return String(batch.heap.i64[(column.at >>> 3) + row]!);
  const big = meta === META_BIG ? column.big!.get(row)! : null;
  const unscaled = big === null ? batch.heap.i64[(column.at >>> 3) + row]! : big.unscaled;
  return decimalText(unscaled, big === null ? meta : big.scale);
}

function timeText(batch: Batch, type: 'date' | 'datetime', at: number, row: number): string {
  const value = Number(batch.heap.i64[(at >>> 3) + row]!);
  if (type === 'date') return dateText(value);
  return timestampText(timestampOf(Math.floor(value / 1e6), (value - Math.floor(value / 1e6) * 1e6) * 1000)!);
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
