// Matches the columns of several tables that are read one after the other, such as the sheets of a workbook or the
// files of an archive, to the columns of the first one.
import type { Sliced } from '../scheduling/time-slices.ts';
import type { ExpectedHeaders } from './expected-headers.ts';

/** The first table that is read, to which the others are matched. */
export interface FirstTable {
  readonly texts: readonly string[];
  /** Names of optional columns that the first table lacks. They follow its columns, because later tables may have them. */
  readonly added: readonly string[];
  /**
   * For each column of the Template, its position in this header or null. Null if the Template also takes columns that
   * it does not name: all tables must then have the same columns.
   */
  readonly fields: readonly (number | null)[] | null;
}

/** What a workbook has besides the header of its first sheet. */
export interface BesideHeader {
  /** Number of columns before the added ones, with notes beside the header. */
  readonly width: number;
  /** The column for the name of the sheet, which the reader fills. */
  readonly sheetInto: string | null;
}

/**
 * @param texts header texts of the first table
 * @param expected the columns of the Template, or null if it names none
 */
export function* firstTable(
  texts: readonly string[],
  expected: ExpectedHeaders | null,
  { width, sheetInto }: BesideHeader = { width: texts.length, sheetInto: null },
): Sliced<FirstTable> {
  const fields = expected === null ? null : yield* expected.fieldsIn(texts);
  if (fields === null) return { texts, added: [], fields };
  const own = new Set(texts);
  const isAdded = (name: string, column: number): boolean =>
    fields[column] === null && name !== sheetInto && expected!.isNullIfMissing(column) && !own.has(name);
  const added = expected!.names.filter(isAdded);
  if (added.length === 0) return { texts, added, fields };
  const indices = new Map(added.map((name, index) => [name, index]));
  const fieldsFrom = (from: number): readonly (number | null)[] =>
    expected!.names.map((name, column) => (indices.has(name) ? from + indices.get(name)! : fields[column]!));
  // The plan finds the added columns by these texts, so they must not change how other columns are found.
  const withAdded = yield* expected!.fieldsIn([...texts, ...added]);
  const here = fieldsFrom(texts.length);
  const isSafe = withAdded?.every((field, column) => field === here[column]) === true;
  return isSafe ? { texts, added, fields: fieldsFrom(width) } : { texts, added: [], fields };
}

/**
 * Finds the columns of a later table in the first one. They may be in any order. If the Template takes only columns
 * that it names, other columns may differ, and optional columns may be missing.
 * @returns for each column of the later table, its place in the first one, or -1 for a column that is not read; null if
 *   the tables do not fit
 */
export function* placesInFirst(
  first: FirstTable,
  texts: readonly string[],
  expected: ExpectedHeaders | null,
): Sliced<readonly number[] | null> {
  if (areSame(first.texts, texts)) return texts.map((_, at) => at);
  if (areDistinct(first.texts) && areDistinct(texts)) {
    const known = new Map(first.texts.map((text, at) => [text, at]));
    const places = texts.map((text) => known.get(text) ?? -1);
    if (first.texts.length === texts.length && !places.includes(-1)) return places;
  }
  const fields = first.fields === null || expected === null ? null : yield* expected.fieldsIn(texts);
  return fields === null ? null : placesByColumns(first.fields!, fields, texts.length, expected!);
}

/** True if both headers have the same texts in the same order. */
export function areSame(first: readonly string[], other: readonly string[]): boolean {
  return first.length === other.length && first.every((text, at) => text === other[at]);
}

function areDistinct(texts: readonly string[]): boolean {
  return !texts.includes('') && new Set(texts).size === texts.length;
}

function placesByColumns(
  first: readonly (number | null)[],
  other: readonly (number | null)[],
  columns: number,
  expected: ExpectedHeaders,
): readonly number[] | null {
  const places = new Array<number>(columns).fill(-1);
  for (const [column, place] of first.entries()) {
    const field = other[column]!;
    if (field !== null && place !== null) places[field] = place;
    // A column that only the later table has would be lost. A column that only the first table has must be optional.
    else if (field !== null || (place !== null && expected.isRequired(column))) return null;
  }
  return places;
}
