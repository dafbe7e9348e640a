// Reads columns of text into typed ones: the common spelling by a kernel, what it hands back by the caller's own reader.
import type { OperatorContext } from '../operation.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { ColumnBuilder } from './column-builder.ts';
import { CellFault, convertEdit } from './value-cells.ts';

/**
 * Reads the cells of a row list (views) into `at` and `meta`, by physical row, and gives how many are not null; rows that it
 * leaves go to `todo`: u32 count, then the rows.
 */
export type ReadCells = (views: number, rows: number, count: number, at: number, meta: number, todo: number) => number;

/** The decimal mark with which all cells that were just read stand there as they would be written, null where some do not. */
export type WrittenMark = () => number | null;

/** `read` gives the value of a text as the kernel would, or a CellFault. */
export function readEdit(
  context: OperatorContext,
  target: CellTarget,
  run: ReadCells,
  read: (text: unknown) => unknown,
  writtenMark: WrittenMark = () => null,
): CellEdit {
  const byCell = convertEdit(context, target, read);
  const { arena } = context;
  const builder = new ColumnBuilder(arena, target.target.type);
  return (work) => {
    const { batch, rows, count, column } = work;
    const source = batch.columns[column]!;
    if (source.kind === 'typed') return byCell(work);
    const views = batch.views(column);
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('texts are read into typed columns');
    let filled = run(views, rows, count, made.at, made.meta, todo);
    const { u32 } = arena.heap;
    const back = u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) {
      const row = u32[(todo >>> 2) + i]!;
      const value = read(batch.text({ kind: 'views', at: views }, row));
      const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
      if (outcome === 'done') filled++;
      else if (outcome === 'full') throw new Error('a typed column needs no room for a cell');
      else {
        builder.set(row, null);
        work.fail(row, outcome);
      }
    }
    work.changed(filled);
    const decimalMark = back === 0 && count === batch.live ? writtenMark() : null;
    if (source.field === undefined || decimalMark === null) return builder.column;
    return { ...made, written: { field: source.field, decimalMark } };
  };
}
