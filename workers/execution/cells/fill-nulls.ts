// Puts one value into the cells of a column that are null.
import type { ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Arena } from '../../memory/arena.ts';

/** @returns the column, whose first `count` cells were edited in place; null when the arena is full */
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
