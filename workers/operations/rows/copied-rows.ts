// A batch of rows that are copies of rows of another one: as often as wanted, in any order. Cells of text still lie with
// the other batch.
import type { Arena } from '../../arena.ts';
import { type Batch, type ColumnData, META_BIG, VIEW_BYTES } from '../../batch.ts';
import { targetBatch } from '../../spill/row-codec.ts';

/** Rows that operations which multiply rows hand on at once. */
export const COPIED_ROWS_MAX = 2048;

/**
 * @param rows physical rows of `from` to copy, in the order in which the copies stand
 * @param columns indexes of the columns to copy, those of text as views
 */
export function copyRows(arena: Arena, from: Batch, rows: readonly number[], columns: readonly number[]): Batch {
  const count = rows.length;
  const made = columns.map((index) => copyColumn(arena, from.columns[index]!, rows));
  const selection = arena.take(count * 4);
  const sources = arena.take(count * 8);
  const { u32, f64 } = arena.heap;
  for (const [to, row] of rows.entries()) {
    u32[(selection >>> 2) + to] = to;
    f64[(sources >>> 3) + to] = from.sourceRow(row);
  }
  return targetBatch({ arena, columns: made, rows: count, selection, sources });
}

function copyColumn(arena: Arena, column: ColumnData, rows: readonly number[]): ColumnData {
  if (column.kind === 'raw') throw new Error('rows to copy have views');
  const at = arena.take(rows.length * VIEW_BYTES);
  const meta = column.kind === 'typed' ? arena.take(rows.length) : 0;
  const { u8, u32 } = arena.heap;
  for (const [to, row] of rows.entries()) {
    const target = (at >>> 2) + to * 2;
    const source = (column.at >>> 2) + row * 2;
    u32[target] = u32[source]!;
    u32[target + 1] = u32[source + 1]!;
    if (column.kind === 'typed') u8[meta + to] = u8[column.meta + row]!;
  }
  if (column.kind === 'views') return { kind: 'views', at };
  const big = column.big === null ? null : new Map<number, { readonly unscaled: bigint; readonly scale: number }>();
  for (const [to, row] of rows.entries()) if (u8[meta + to] === META_BIG) big?.set(to, column.big!.get(row)!);
  return { kind: 'typed', type: column.type, at, meta, big };
}
