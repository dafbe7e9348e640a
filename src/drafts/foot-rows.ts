// Rows at the foot of a table that are none of its own: a word for a sum, an amount, and little else.
import type { SampleCell } from './column-profile.ts';

export interface FootRow {
  readonly cells: readonly SampleCell[];
}

/** Whole words: \b would know letters of ASCII alone. */
const SUM_WORD =
  /^(?:grand total|sub-?total|totals?|sum|summe|gesamt(?:summe|betrag)?|zwischensumme|total général|somme|totale|totaal|suma|total general|итого)(?![\p{L}\p{N}_])/iu;

/**
 * The rows from the first sum on; none where the last rows have no such row. A sum's first cell is a word for it, and at most
 * half of its cells are filled, or two of two.
 *
 * @param last rows of the sample
 * @param rowsAbove rows above them: a table that is a sum alone has none at its foot
 */
export function footersOf(
  last: readonly (readonly SampleCell[])[],
  rowsAbove: number,
): readonly (readonly SampleCell[])[] {
  const at = last.findIndex((row, index) => (index > 0 || rowsAbove > 0) && sumWord(row) !== null);
  return at < 0 ? [] : last.slice(at);
}

/** Where the word of a sum stands; null: the row is none. */
export function sumWord(row: readonly SampleCell[]): { readonly column: number; readonly text: string } | null {
  const filled = row.flatMap((cell, column) => (isFilled(cell) ? [column] : []));
  const [column] = filled;
  if (column === undefined || filled.length < 2 || filled.length > Math.max(2, (row.length + 1) / 2)) return null;
  const cell = row[column];
  return typeof cell === 'string' && SUM_WORD.test(cell.trim()) ? { column, text: cell.trim() } : null;
}

function isFilled(cell: SampleCell): boolean {
  return cell !== null && (typeof cell !== 'string' || cell.trim() !== '');
}
