// Objects of a Template with their keys in the order in which they are written. JavaScript puts keys that are whole numbers
// first, in rising order; names of columns and texts to replace may be such, and their order counts.

/** A key that JavaScript would move. */
const WHOLE_NUMBER = /^(?:0|[1-9][0-9]*)$/;

/** An object without a prototype, to be read only: `Object.entries` and its like give the keys as they came. */
export function orderedRecord(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  let isMoved = false;
  for (const [key, value] of entries) {
    isMoved ||= WHOLE_NUMBER.test(key);
    record[key] = value;
  }
  if (!isMoved) return record;
  const keys = [...new Set(entries.map(([key]) => key))];
  return new Proxy(record, { ownKeys: () => keys });
}
