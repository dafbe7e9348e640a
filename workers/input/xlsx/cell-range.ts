// Cell ranges as sheets write them: `A1:C20`, or a single cell.
import { COLUMNS_MAX } from '../ceilings.ts';

/** Rows from 1, columns from 0. Both ends are included. */
export interface CellRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** Returns null if the text is not a range. */
export function parseRange(text: string): CellRange | null {
  const found = /^\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,8})(?::\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,8}))?$/.exec(text);
  if (found === null) return null;
  const firstColumn = columnOf(found[1]!);
  const firstRow = Number(found[2]);
  const lastColumn = found[3] === undefined ? firstColumn : columnOf(found[3]);
  const lastRow = found[4] === undefined ? firstRow : Number(found[4]);
  if (lastColumn >= COLUMNS_MAX || lastColumn < firstColumn || lastRow < firstRow) return null;
  return { firstRow, lastRow, firstColumn, lastColumn };
}

function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
