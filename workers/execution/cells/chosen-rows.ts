// Small steps on rows and columns: rows that are not in a list, flag columns of new rows, and null cells that get one
// value.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { KIND_TEXT, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { Next, OperatorContext } from '../../template/operation.ts';

// Selects the rows of a batch that are not in a list.

/** Returns the batch without the listed rows. The list must have the order of the selection. */
export function unlistedRows(batch: Batch, rows: number, count: number, kernel: Kernel): Batch {
  const kept = batch.arena.take(batch.live * 4);
  const live = kernel.exports.keepUnlisted(batch.selection, batch.live, rows, count, kept);
  return batch.withSelection(kept, live);
}

// Adds a blank flag column to newly created rows, such as groups, which have no flags. The flag column is the last one
// of the output.

/** Receives batches without the flag column and emits them with a blank one if the output has a flag column. */
export function withBlankFlags({ arena, output, next }: OperatorContext): Next {
  return function* (batch) {
    if (batch.columns.length === output.length) {
      yield* next(batch);
      return;
    }
    const mark = arena.next;
    const at = arena.take(batch.rows * VIEW_BYTES);
    arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
    yield* next(batch.withColumns([...batch.columns, { kind: 'views', at }]));
    arena.release(mark);
  };
}

// Replaces the null cells of a column by one value.

/** @returns the column, whose first `count` cells were edited in place, or null if the arena is full */
export function fillNulls(
  arena: Arena,
  column: ColumnData,
  count: number,
  type: StoredType,
  value: unknown,
): ColumnData | null {
  if (column.kind === 'raw') throw new Error('a raw column is not edited');
  const builder = new ColumnBuilder(arena, type);
  if (!builder.begin(1) || builder.set(0, value) !== 'done') return null;
  const one = builder.column;
  if (one.kind !== column.kind) throw new Error('a column has the form of its type');
  const { u8, u32 } = arena.heap;
  const bigs = new Map(column.kind === 'typed' ? column.big : null);
  for (let row = 0; row < count; row++) {
    const at = column.at + row * VIEW_BYTES;
    const isNull = column.kind === 'typed' ? u8[column.meta + row] === META_NULL : u32[at >>> 2] === 0;
    if (!isNull) continue;
    u8.copyWithin(at, one.at, one.at + VIEW_BYTES);
    if (column.kind === 'views') {
      if (column.kinds !== undefined) u8[column.kinds + row] = KIND_TEXT;
      continue;
    }
    if (one.kind !== 'typed') continue;
    u8[column.meta + row] = u8[one.meta]!;
    const big = one.big?.get(0);
    if (big !== undefined) bigs.set(row, big);
  }
  return column.kind === 'typed' ? { ...column, big: bigs.size === 0 ? null : bigs } : column;
}
