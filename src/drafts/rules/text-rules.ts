// Blanks around cells.
import { columnSet, counted, type DraftedSample, type DraftLine } from '../draft-line.ts';

export function trimLines({ profile, names }: DraftedSample): DraftLine[] {
  const padded = names.filter((_, at) => profile.columns[at]!.padded > 0);
  if (padded.length === 0) return [];
  const cells = profile.columns.reduce((sum, column) => sum + column.padded, 0);
  const text = `{text: {columns: ${columnSet(padded)}, steps: [trim]}}`;
  const evidence = `${counted(cells, 'cell')} with blanks around`;
  return [{ place: 'operation', text, evidence, isActive: true }];
}

/** Two spaces may be meant, as in a text of fixed width. */
export function spaceLines({ profile, names }: DraftedSample): DraftLine[] {
  const spaced = names.filter((_, at) => profile.columns[at]!.spaced > 0);
  if (spaced.length === 0) return [];
  const cells = profile.columns.reduce((sum, column) => sum + column.spaced, 0);
  const text = `{text: {columns: ${columnSet(spaced)}, steps: [collapse_spaces]}}`;
  const evidence = `${counted(cells, 'cell')} with several blanks between words`;
  return [{ place: 'operation', text, evidence, isActive: false }];
}
