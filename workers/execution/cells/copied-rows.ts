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
  rows: readonly number[],
  columns: readonly number[],
): Batch {
  const count = rows.length;
  const list = placeNumbers(arena, rows);
  const made = columns.map((index): ColumnData => {
    const column = from.columns[index]!;
    if (column.kind === 'raw') throw new Error('rows to copy have views');
    const { at, meta } = copyCells(arena, kernel, column, list, count);
    if (column.kind === 'views')
      return column.kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    const big = column.big === null ? null : copiedBigs(column.big, rows);
    return { kind: 'typed', type: column.type, at, meta, big };
  });
  const selection = arena.take(count * 4);
  const sources = arena.take(count * 8);
  const { u32, f64 } = arena.heap;
  for (const [to, row] of rows.entries()) {
    u32[(selection >>> 2) + to] = to;
    f64[(sources >>> 3) + to] = from.sourceRow(row);
  }
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

function copiedBigs(big: ReadonlyMap<number, Big>, rows: readonly number[]): Map<number, Big> {
  return new Map(
    [...rows.entries()].flatMap(([to, row]) => {
      const value = big.get(row);
      return value === undefined ? [] : [[to, value] as const];
    }),
  );
}
