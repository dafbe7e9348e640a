// Keyboard navigation of the grid: where the focus moves for each key.

/** The row number of the header, which is above row 0. */
export const HEADER_ROW = -1;

export interface Place {
  /** Row from 0, or HEADER_ROW. */
  readonly row: number;
  readonly column: number;
}

export interface GridSize {
  readonly rows: number;
  readonly columns: number;
  /** Number of rows visible at once. */
  readonly page: number;
}

/** Null: the key does not move the focus. */
export function placeAfter(
  { row, column }: Place,
  { key, ctrlKey, metaKey }: { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean },
  { rows, columns, page }: GridSize,
): Place | null {
  const far = ctrlKey || metaKey;
  const last = columns - 1;
  const to = (nextRow: number, nextColumn: number): Place => ({
    row: Math.max(HEADER_ROW, Math.min(rows - 1, nextRow)),
    column: Math.max(0, Math.min(last, nextColumn)),
  });
  switch (key) {
    case 'ArrowUp':
      return to(far ? HEADER_ROW : row - 1, column);
    case 'ArrowDown':
      return to(far ? rows - 1 : row + 1, column);
    case 'ArrowLeft':
      return to(row, far ? 0 : column - 1);
    case 'ArrowRight':
      return to(row, far ? last : column + 1);
    case 'Home':
      return to(far ? 0 : row, 0);
    case 'End':
      return to(far ? rows - 1 : row, last);
    case 'PageUp':
      return to(Math.max(0, row - page), column);
    case 'PageDown':
      return to(row + page, column);
    default:
      return null;
  }
}
