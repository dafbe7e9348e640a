// Puts the cells of a batch's column into its pages, by the column's type.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { META_BIG, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import type { ColumnPages } from './column-pages.ts';
import { DECIMAL_BYTES, DECIMAL_DIGITS, widthOf } from './column-type.ts';

const LENGTH_BYTES = 4;
const BIGGEST = 10n ** BigInt(DECIMAL_DIGITS);

/** Bytes that a cell adds to a page at most. */
export function cellBytes(batch: Batch, data: ColumnData, row: number): number {
  if (data.kind !== 'views') return data.kind === 'typed' && data.type === 'decimal' ? DECIMAL_BYTES : 8;
  const view = (data.at + row * VIEW_BYTES) >>> 2;
  return LENGTH_BYTES + batch.heap.u32[view + 1]!;
}

/** Cells of the live rows [from, to). Throws Failed for a decimal that has no place. */
export function putCells(pages: ColumnPages, batch: Batch, data: ColumnData, place: CellPlace): void {
  if (data.kind === 'raw') throw new Error('a writer of clean texts got a raw column');
  for (let position = place.from; position < place.to; position++) {
    const row = batch.physicalRow(position);
    if (data.kind === 'typed') putTyped(pages, batch, data, row, place);
    else {
      const view = (data.at + row * VIEW_BYTES) >>> 2;
      const at = batch.heap.u32[view]!;
      if (at === 0) pages.putNull();
      else pages.putText(at, batch.heap.u32[view + 1]!);
    }
  }
}

export interface CellPlace {
  readonly from: number;
  readonly to: number;
  readonly decimalScale: number;
}

function putTyped(pages: ColumnPages, batch: Batch, data: TypedColumn, row: number, place: CellPlace): void {
  const meta = batch.heap.u8[data.meta + row]!;
  if (meta === META_NULL) pages.putNull();
  else if (data.type === 'boolean') pages.putBoolean(meta === 1);
  else if (data.type === 'decimal') pages.putBig(scaled(batch, data, row, meta, place.decimalScale));
  else if (widthOf(pages.column) > 0) pages.putFixed(data.at + row * 8);
  else throw new Error('a typed cell of a column of texts');
}

/** The unscaled value at the file's scale. */
function scaled(batch: Batch, data: TypedColumn, row: number, meta: number, scale: number): bigint {
  const small = { unscaled: batch.heap.i64[(data.at >>> 3) + row]!, scale: meta };
  const cell = meta === META_BIG ? data.big?.get(row) : small;
  if (cell === undefined) throw new Error('a big decimal is missing');
  const more = scale - cell.scale;
  if (more >= 0) {
    const value = cell.unscaled * 10n ** BigInt(more);
    if (value < BIGGEST && value > -BIGGEST) return value;
    throw tooLong(`${DECIMAL_DIGITS - scale} digits before the point`);
  }
  const divisor = 10n ** BigInt(-more);
  if (cell.unscaled % divisor !== 0n) throw tooLong(`${scale} digits behind the point`);
  const value = cell.unscaled / divisor;
  if (value < BIGGEST && value > -BIGGEST) return value;
  throw tooLong(`${DECIMAL_DIGITS - scale} digits before the point`);
}

function tooLong(room: string): Failed {
  return new Failed(
    'TEMPLATE_CHECK_FAILED',
    `The output holds a decimal that needs more than ${room}. Round the column, or set output.parquet.decimal_scale.`,
  );
}
