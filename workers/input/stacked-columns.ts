// Matches the columns of several tables that are read one after the other, such as the sheets of a workbook or the
// files of an archive, to the columns of the first one.
import type { Sliced } from '../scheduling/time-slices.ts';
import type { ExpectedHeaders } from './expected-headers.ts';

/** The first table that is read, to which the others are matched. */
export interface FirstTable {
  readonly texts: readonly string[];
  /**
   * For each column of the Template, its position in this header or null. Null if the Template also takes columns that
   * it does not name: all tables must then have the same columns.
   */
  readonly fields: readonly (number | null)[] | null;
}

/**
 * @param texts header texts of the first table
 * @param expected the columns of the Template, or null if it names none
 */
export function* firstTable(texts: readonly string[], expected: ExpectedHeaders | null): Sliced<FirstTable> {
  return { texts, fields: expected === null ? null : yield* expected.fieldsIn(texts) };
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
    // A column that the first table lacks would be lost; one that only the first table has must be optional.
    else if (field !== null || (place !== null && expected.isRequired(column))) return null;
  }
  return places;
}
