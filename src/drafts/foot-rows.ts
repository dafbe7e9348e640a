// Rows at the foot of a table that are none of its own: a word for a sum, an amount, and little else; or notes, which fill one
// cell each.
import type { SampleCell } from './column-profile.ts';

export interface FootRow {
  readonly cells: readonly SampleCell[];
}

/** Whole words: \b would know letters of ASCII alone. */
const SUM_WORD =
  /^(?:grand total|sub-?total|totals?|sum|summe|gesamt(?:summe|betrag)?|zwischensumme|total général|somme|totale|totaal|suma|total general|итого)(?![\p{L}\p{N}_])/iu;

/** Fewer columns leave it open whether a row with one filled cell is a note. */
const NOTED_COLUMNS_MIN = 3;

/** A cell at the foot by which the row is known. */
export interface FootCell {
  readonly column: number;
  readonly text: string;
}

/**
 * The rows from the first sum on, or else the notes that are the last rows, from the first on. A sum's first cell is a word
 * for it, and at most half of its cells are filled, or two of two. A note is the only cell of its row, below a row of which
 * most cells are filled.
 *
 * @param last rows of the sample
 * @param above the row above them; null: there is none, and a table that is a sum alone has none at its foot
 */
export function footersOf(
  last: readonly (readonly SampleCell[])[],
  above: readonly SampleCell[] | null,
): readonly (readonly SampleCell[])[] {
  const sum = last.findIndex((row, index) => (index > 0 || above !== null) && sumWord(row) !== null);
  return last.slice(sum < 0 ? firstNote(last, above) : sum);
}

function firstNote(last: readonly (readonly SampleCell[])[], above: readonly SampleCell[] | null): number {
  const body = last.findLastIndex((row) => row.some(isFilled) && noteCell(row) === null);
  const row = body < 0 ? above : last[body]!;
  if (row === null || row.filter(isFilled).length * 2 <= row.length) return last.length;
  const note = last.findIndex((each, index) => index > body && noteCell(each) !== null);
  return note < 0 ? last.length : note;
}

/** The only cell of a row; null: it has none or several. */
export function noteCell(row: readonly SampleCell[]): FootCell | null {
  const [column, ...others] = filledColumns(row);
  if (column === undefined || others.length > 0 || row.length < NOTED_COLUMNS_MIN) return null;
  const cell = row[column];
  return typeof cell === 'string' ? { column, text: cell.trim() } : null;
}

/** Where the word of a sum stands; null: the row is none. */
export function sumWord(row: readonly SampleCell[]): FootCell | null {
  const filled = filledColumns(row);
  const [column] = filled;
  if (column === undefined || filled.length < 2 || filled.length > Math.max(2, (row.length + 1) / 2)) return null;
  const cell = row[column];
  return typeof cell === 'string' && SUM_WORD.test(cell.trim()) ? { column, text: cell.trim() } : null;
}

function filledColumns(row: readonly SampleCell[]): number[] {
  return row.flatMap((cell, column) => (isFilled(cell) ? [column] : []));
}

function isFilled(cell: SampleCell): boolean {
  return cell !== null && (typeof cell !== 'string' || cell.trim() !== '');
}
