// What a sheet can hold, and how it may be called (Excel specifications and limits; ECMA-376 part 1, 18.2.19 and 18.3.1).

/** Rows with the header. */
export const SHEET_ROWS_MAX = 1_048_576;
export const SHEET_COLUMNS_MAX = 16_384;
/** UTF-16 units of a cell's text. */
export const CELL_UNITS_MAX = 32_767;
/** UTF-16 units. */
const SHEET_NAME_LENGTH_MAX = 31;

const REFUSED_CHARACTERS = /[:\\/?*[\]]/;
const CONTROL = /[\u0000-\u001f\u007f\ufffe\uffff]/;
/** Excel keeps it for itself, in any case of its letters. */
const RESERVED = /^history$/i;

/** What is wrong with the name of a sheet, or null. */
export function sheetNameProblem(name: string): string | null {
  if (name.length > SHEET_NAME_LENGTH_MAX) {
    return `The name of a sheet has at most ${SHEET_NAME_LENGTH_MAX} characters, this one has ${name.length}.`;
  }
  if (REFUSED_CHARACTERS.test(name)) return 'The name of a sheet holds none of : \\ / ? * [ ].';
  if (CONTROL.test(name)) return 'The name of a sheet is one line of text.';
  if (name.startsWith("'") || name.endsWith("'"))
    return 'The name of a sheet does not begin or end with an apostrophe.';
  if (RESERVED.test(name)) return 'Excel keeps the name History for itself. Write another one.';
  return null;
}

/** The name of a further sheet: "Data (2)". */
export function sheetName(name: string, sheet: number): string {
  if (sheet === 0) return name;
  const suffix = ` (${sheet + 1})`;
  const kept = name.slice(0, SHEET_NAME_LENGTH_MAX - suffix.length);
  // Not within a character beyond the basic plane.
  return (/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept) + suffix;
}

export function tooManyColumns(columns: number): string {
  return `A sheet has at most ${SHEET_COLUMNS_MAX} columns, the output has ${columns}. Leave some out (output.columns).`;
}
