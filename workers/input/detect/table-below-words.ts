// Finds a short table below a longer block of text lines, such as a report of a day with few bookings. Detection by the
// most frequent width would find one column, and the table would be lost.
import { bodyBelow, compareWithBody } from './body-comparison.ts';
import type { CellKind } from './cell-kind.ts';
import { type Cells, nextFilled, type Records } from './records.ts';

/** Maximum width of lines above a table: words, or a name and its value. */
const WORDS_WIDTH_MAX = 2;

/** Minimum number of consecutive numbers that make a table. Fewer numbers may be totals, each after its name. */
const NUMBERS_MIN = 3;

const NUMBERS: readonly CellKind[] = ['number', 'money'];

/**
 * A header and two rows make a table. With a header and one row, at least the following number and share of columns
 * must have names above numbers, to exclude words that contain a delimiter.
 */
const TABLE_RECORDS_MIN = 3;
const NAMED_MIN = 2;
const NAMED_SHARE_MIN = 1 / 3;

/**
 * Finds a table whose records are consecutive and wider than lines of words. Its first record must be the widest, must
 * not be a sentence, and must have words above numbers, dates or addresses.
 * @param usual the most frequent width of non-blank records
 * @returns the width of the table, or null
 */
export function widthBelowWords(records: Records, usual: number): number | null {
  if (usual > WORDS_WIDTH_MAX) return null;
  const first = firstWide(records, 0);
  if (first === null) return null;
  const widest = records.filledWidth(first);
  let end = first + 1;
  for (; records.has(end) && (isWide(records, end) || records.width(end) === records.width(first)); end++)
    if (records.filledWidth(end) > widest) return null;
  const count = end - first;
  if (count < 2 || firstWide(records, end) !== null || isSentence(records.at(first))) return null;
  if (isTableAbove(records, first) || goesOn(records, first, end)) return null;
  const { typed, alike, named } = compareWithBody(records.at(first), bodyBelow(records, first));
  if (alike > 0 || named < typed) return null;
  const isSure = count >= TABLE_RECORDS_MIN || isSetApart(records, first, end);
  const least = isSure ? 1 : Math.max(NAMED_MIN, widest * NAMED_SHARE_MIN);
  return named >= least ? widest : null;
}

/**
 * Finds a table below lines without a delimiter, in which most rows have only their first cell. Its records must have
 * the same number of fields, including empty ones, or its first record must have words above numbers, dates or
 * addresses.
 * @param usual the most frequent width of non-blank records, without trailing empty cells
 * @returns the width of the table, or null
 */
export function widthBelowTitles(records: Records, usual: number): number | null {
  if (usual !== 1) return null;
  let first = nextFilled(records, 0);
  while (first >= 0 && records.width(first) === 1) first = nextFilled(records, first + 1);
  if (first <= 0) return null;
  const names = records.at(first);
  const width = names.length;
  const areNames =
    new Set(names.map((name) => name.trim())).size === width && names.every((name) => name.trim() !== '');
  if (!areNames || isSentence(names)) return null;
  if (isEven(records, first)) return width;
  const { named, alike } = compareWithBody(names, bodyBelow(records, first));
  return named > 0 && alike === 0 ? width : null;
}

/**
 * True if all non-blank records from the first one on have the same number of fields. Needs at least two such records.
 */
function isEven(records: Records, first: number): boolean {
  let count = 0;
  for (let record = nextFilled(records, first); record >= 0; record = nextFilled(records, record + 1)) {
    if (records.width(record) !== records.width(first)) return false;
    count++;
  }
  return count > 1;
}

/**
 * True if the records follow a blank line, all have the same number of fields (including empty ones), and are wider
 * than all lines above.
 */
function isSetApart(records: Records, first: number, end: number): boolean {
  if (first === 0 || records.filledWidth(first - 1) > 0) return false;
  const width = records.width(first);
  for (let record = first; record < end; record++) if (records.width(record) !== width) return false;
  for (let record = 0; record < first; record++) if (records.width(record) >= width) return false;
  return true;
}

/** True if the narrow records above are a table themselves: a name above numbers, and nothing else after it. */
function isTableAbove(records: Records, first: number): boolean {
  const start = nextFilled(records, 0);
  let end = start;
  while (end < first && records.filledWidth(end) === WORDS_WIDTH_MAX) end++;
  if (end - start <= NUMBERS_MIN) return false;
  const column = WORDS_WIDTH_MAX - 1;
  if (records.kind(start, column) !== 'text') return false;
  for (let record = start + 1; record < end; record++)
    if (!NUMBERS.includes(records.kind(record, column))) return false;
  return true;
}

/** True if the surrounding records belong to one list, of which some records have surplus fields. */
function goesOn(records: Records, first: number, end: number): boolean {
  const isNarrow = (record: number): boolean => records.has(record) && records.filledWidth(record) === WORDS_WIDTH_MAX;
  return first > 0 && isNarrow(first - 1) && isNarrow(end) && isNarrow(end + 1);
}

function firstWide(records: Records, start: number): number | null {
  for (let record = start; records.has(record); record++) if (isWide(records, record)) return record;
  return null;
}

/** Commas in a sentence are followed by spaces. The line above may be the name of a column of sentences. */
function isSentence(cells: Cells): boolean {
  return cells.slice(1).every((cell) => /^\s/.test(cell));
}

function isWide(records: Records, record: number): boolean {
  return records.filledWidth(record) > WORDS_WIDTH_MAX;
}
