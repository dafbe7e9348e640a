// Cells of columns that no row is to blame for: what does not fit one ends the Run.
import type { ColumnBuilder } from '../../batch/column-builder.ts';
import { Failed } from '../../protocol/failure.ts';
import { CellFault } from './value-cells.ts';

/** Writes what rows come to. False when the arena is full. Throws Failed TEMPLATE_ROW_ERROR. */
export function setCell(builder: ColumnBuilder, row: number, value: unknown): boolean {
  const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
  if (outcome === 'done' || outcome === 'full') return outcome === 'done';
  throw new Failed('TEMPLATE_ROW_ERROR', `${outcome}: a sum or text is larger than a cell can be.`);
}
