// The text of a cell as a watcher keeps and shows it.
import { textOfValue } from '../execution/cells/text-of-value.ts';

/** Characters of a cell that are kept: a screen shows no more. Behind them stands "…". */
export const CELL_CHARACTERS_MAX = 2_000;

/** @param value as CellReader gives it */
export function cellText(value: unknown): string | null {
  if (value === null) return null;
  const text = textOfValue(value);
  return text.length > CELL_CHARACTERS_MAX ? `${text.slice(0, CELL_CHARACTERS_MAX)}…` : text;
}
