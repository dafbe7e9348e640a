// Rounds columns of doubles through a kernel (kernel/assembly/doubles.ts); the cells that are not for it one by one.
import type { TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { DOUBLE_PLACES_MAX } from '../../kernel/layout/numbers.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Rounding } from '../../values/decimal.ts';
import type { CellEdit, CellTarget, CellWork } from './cell-operator.ts';
import { ROUNDING } from './number-cells.ts';
import { CellFault, convertEdit } from './value-cells.ts';

/** The edit that rounds a column of doubles; `round` gives the value of one as the kernel would, or a CellFault. */
export function roundDoublesEdit(
  context: OperatorContext,
  target: CellTarget,
  scale: number,
  rounding: Rounding,
  round: (value: unknown) => unknown,
): CellEdit {
  const byCell = convertEdit(context, target, round);
  if (scale < 0 || scale > DOUBLE_PLACES_MAX) return byCell;
  const { arena, kernel } = context;
  const builder = new ColumnBuilder(arena, 'number');
  return (work) => {
    const { batch, rows, count, column, inPlace } = work;
    const source = batch.columns[column]!;
    if (source.kind !== 'typed' || source.type !== 'number') return byCell(work);
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows, inPlace ? source : null)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('doubles are typed');
    const changes = inPlace ? 1 : 0;
    const { at, meta } = source;
    const { roundDoubles } = kernel.exports;
    const changed =
      roundDoubles(at, meta, rows, count, scale, ROUNDING[rounding], made.at, made.meta, changes, todo) >>> 0;
    work.changed(changed + settle(work, source, builder, todo, round));
    return made;
  };
}

/** Gives how many of the cells that the kernel left changed. */
function settle(
  { batch: { heap }, inPlace, fail }: CellWork,
  source: TypedColumn,
  builder: ColumnBuilder,
  todo: number,
  round: (value: unknown) => unknown,
): number {
  let changed = 0;
  const left = heap.u32[todo >>> 2]!;
  for (let i = 1; i <= left; i++) {
    const row = heap.u32[(todo >>> 2) + i]!;
    const value = heap.f64[(source.at >>> 3) + row]!;
    const rounded = round(value);
    const outcome = rounded instanceof CellFault ? rounded.code : builder.set(row, rounded);
    if (outcome === 'full') throw new Error('a typed column needs no room for a cell');
    if (outcome === 'done') {
      if (!inPlace || !Object.is(rounded, value)) changed++;
      continue;
    }
    builder.set(row, null);
    fail(row, outcome);
  }
  return changed;
}
