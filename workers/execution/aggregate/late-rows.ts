// Cells of rows that go to late values straight away.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { GroupValues } from './late-values.ts';

/** Of rows those from `from` on, with the numbers of their groups. */
interface LateRows {
  readonly rows: number;
  readonly ids: number;
  readonly from: number;
  readonly count: number;
}

/** Address of the booleans that choose a metric's rows, 0 where it takes all. */
export function conditionMeta(batch: Batch, condition: number): number {
  if (condition < 0) return 0;
  const chosen = batch.columns[condition]!;
  if (chosen.kind !== 'typed') throw new Error('a condition is a column of booleans');
  return chosen.meta;
}

/** Hands on the cells of a metric that are not null, one behind the other. */
export function lateRows(
  arena: Arena,
  batch: Batch,
  { place, condition }: { readonly place: number; readonly condition: number },
  list: LateRows,
  next: (values: GroupValues) => void,
): void {
  const column = batch.columns[place]!;
  if (column.kind === 'raw') throw new Error('views of a metric’s column are made before');
  const mark = arena.next;
  const most = list.count - list.from;
  const [at, meta, groups] = [arena.take(most * 8), arena.take(most), arena.take(most * 4)];
  const { u8, u32 } = arena.heap;
  const chosen = conditionMeta(batch, condition);
  const metas = column.kind === 'typed' ? column.meta : (column.kinds ?? 0);
  const big = new Map<number, { readonly unscaled: bigint; readonly scale: number }>();
  let count = 0;
  for (let i = list.from; i < list.count; i++) {
    const row = u32[(list.rows >>> 2) + i]!;
    if (chosen !== 0 && u8[chosen + row] !== 1) continue;
    if (column.kind === 'typed' ? u8[metas + row] === META_NULL : u32[(column.at >>> 2) + row * 2] === 0) continue;
    u8.copyWithin(at + count * 8, column.at + row * 8, column.at + row * 8 + 8);
    u8[meta + count] = metas === 0 ? 0 : u8[metas + row]!;
    u32[(groups >>> 2) + count] = u32[(list.ids >>> 2) + i]!;
    const value = column.kind === 'typed' ? column.big?.get(row) : undefined;
    if (value !== undefined) big.set(count, value);
    count++;
  }
  next({ groups, column: cellsAt(column, at, meta, big), count });
  arena.release(mark);
}

function cellsAt(
  column: Exclude<ColumnData, { readonly kind: 'raw' }>,
  at: number,
  meta: number,
  big: Map<number, { readonly unscaled: bigint; readonly scale: number }>,
): ColumnData {
  if (column.kind === 'typed') return { kind: 'typed', type: column.type, at, meta, big: big.size === 0 ? null : big };
  return column.kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
}
