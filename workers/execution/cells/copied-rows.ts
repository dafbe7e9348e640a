// A batch of rows that are copies of rows of another one: as often as wanted, in any order. Cells of text still lie with
// the other batch.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { targetBatch } from '../spill/row-codec.ts';

/** Rows that operations which multiply rows hand on at once, and cells of wide ones: half a MiB of views. */
const COPIED_ROWS_MAX = 2048;
const COPIED_CELLS_MAX = 65_536;

/** Rows of so many columns that are copied at once. */
export function copiedRowsMax(columns: number): number {
  return Math.max(1, Math.min(COPIED_ROWS_MAX, Math.floor(COPIED_CELLS_MAX / columns)));
}

/** u32 physical rows, one for each copy. */
export interface RowList {
  readonly at: number;
  readonly count: number;
}

/** A list of numbers in the arena, u32 each. */
export function placeNumbers(arena: Arena, numbers: readonly number[]): number {
  const at = arena.take(numbers.length * 4);
  arena.heap.u32.set(numbers, at >>> 2);
  return at;
}

/**
 * @param rows physical rows of `from` to copy, in the order in which the copies stand
 * @param columns indexes of the columns to copy, those of text as views
 */
export function copyRows(
  { arena, kernel }: Pick<OperatorContext, 'arena' | 'kernel'>,
  from: Batch,
  rows: RowList,
  columns: readonly number[],
): Batch {
  const { at: list, count } = rows;
  const made = columns.map((index): ColumnData => {
    const column = from.columns[index]!;
    if (column.kind === 'raw') throw new Error('rows to copy have views');
    const { at, meta } = copyCells(arena, kernel, column, list, count);
    if (column.kind === 'views')
      return column.kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    const big = column.big === null ? null : copiedBigs(column.big, from, rows);
    return { kind: 'typed', type: column.type, at, meta, big };
  });
  const selection = arena.take(count * 4);
  const sources = arena.take(count * 8);
  const { sourceRows } = from;
  kernel.exports.numberRows(list, count, 'at' in sourceRows ? 0 : sourceRows.first, selection, sources);
  if ('at' in sourceRows) kernel.exports.copyCells(sourceRows.at, 0, list, count, sources, 0);
  return targetBatch({ arena, columns: made, rows: count, selection, sources });
}

type Big = { readonly unscaled: bigint; readonly scale: number };

/** Meta are kinds where the column has such. */
function copyCells(
  arena: Arena,
  kernel: Kernel,
  column: Exclude<ColumnData, { readonly kind: 'raw' }>,
  list: number,
  count: number,
): { readonly at: number; readonly meta: number } {
  const from = column.kind === 'typed' ? column.meta : (column.kinds ?? 0);
  const at = arena.take(count * VIEW_BYTES);
  const meta = from === 0 ? 0 : arena.take(count);
  kernel.exports.copyCells(column.at, from, list, count, at, meta);
  return { at, meta };
}

function copiedBigs(big: ReadonlyMap<number, Big>, { heap }: Batch, { at, count }: RowList): Map<number, Big> {
  const copied = new Map<number, Big>();
  for (let to = 0; to < count; to++) {
    const value = big.get(heap.u32[(at >>> 2) + to]!);
    if (value !== undefined) copied.set(to, value);
  }
  return copied;
}
