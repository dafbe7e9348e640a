// The cells of lines above the header of a CSV, and the values of the file that stand in them.
import type { MetaValues } from '../../input/reader.ts';

/** A cell of such a line: texts are quoted as those of the table, numbers are no texts, null is an empty cell. */
export type PreambleCell = string | number | boolean | null;

/** A value above or below the table of the file that is read. */
const PLACEHOLDER = /\{run\.meta\.([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Names of the values that the lines take from the file. */
export function placeholdersOf(lines: readonly (readonly PreambleCell[])[]): string[] {
  const texts = lines.flat().filter((cell) => typeof cell === 'string');
  return texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!));
}

/** A text with the values in place of their names; one that the file lacks is nothing. */
export function filledIn(text: string, meta: MetaValues): string {
  return text.replace(PLACEHOLDER, (_, name: string) => meta[name] ?? '');
}
