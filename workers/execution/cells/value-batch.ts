// Batches made of rows that are values, cell by cell.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { setCell } from './set-cell.ts';

/** The cells of a row, and its source row. */
export interface ValueRow {
  readonly cells: readonly unknown[];
  readonly source: number;
}

/** A batch of rows given as values, in the arena. */
export function valueBatch({ arena }: OperatorContext, rows: readonly ValueRow[], types: readonly StoredType[]): Batch {
  const columns = types.map((type, index): ColumnData => {
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      if (builder.begin(rows.length) && rows.every((row, at) => setCell(builder, at, row.cells[index])))
        return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  });
  const selection = arena.take(rows.length * 4);
  for (let row = 0; row < rows.length; row++) arena.heap.u32[(selection >>> 2) + row] = row;
  const sources = arena.take(rows.length * 8);
  for (const [row, { source }] of rows.entries()) arena.heap.f64[(sources >>> 3) + row] = source;
  return new Batch({
    arena,
    rows: rows.length,
    selection,
    live: rows.length,
    columns,
    raw: null,
    sourceRows: { at: sources },
    materialise: () => {
      throw new Error('rows of values have no raw columns');
    },
  });
}
