// The text of a cell's value, as an output shows it: what operations that make texts put in for typed cells.

/** Decimals keep their scale, dates are ISO 8601; null is the empty text. Takes the values that CellReader gives. */
export function textOfValue(value: unknown): string {
  return value === null ? '' : String(value);
}
