// Finds the header record: by the names that the Template looks for, if any, otherwise by the form of the records.
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import { type Body, bodyBelow, compareWithBody, filledCells, isBlank, looksLikeData } from './body-comparison.ts';
import type { CellKind } from './cell-kind.ts';
import {
  areTitles,
  firstHeaderLine,
  HEADER_LINES_MAX,
  isSameLine,
  isSpreadTitle,
  isUnitsLine,
  joinHeaderLines,
} from './header-lines.ts';
import { type Cells, nextFilled, type Records, recordsFrom, upTo } from './records.ts';

/** Number of records searched for a header. Preambles of reports are rarely longer. */
export const HEADER_RECORDS_MAX = 40;

/**
 * Cells compared with the names of the Template between two yields of the thread: a Template may have hundreds of
 * patterns.
 */
const CELLS_AT_ONCE = 16;

/**
 * @param records all records, including blank ones
 * @param isExpected whether a text is a name or alias of a column that the Template declares or reads
 * @param best finds the first record with the most such texts, if there is a way to do so without examining each text
 * @returns the 0-based record number, or null if the file seems to have no header
 */
export function* detectHeaderRow(
  records: Records,
  isExpected: ((text: string) => boolean) | null,
  best: Sliced<NamedRow | null> | null = null,
): Sliced<number | null> {
  if (isExpected === null) return headerByForm(records);
  const start = upTo(records, HEADER_RECORDS_MAX);
  const named = yield* best ?? bestMatch(start, isExpected);
  if (named === null) return headerByForm(records);
  const isAlone = firstHeaderLine(start, named.row) === named.row && firstHeaderLine(start, named.row + 1) > named.row;
  return isAlone ? named.row : yield* joinedMatch(records, named, isExpected);
}

/**
 * Returns the first line of the header whose last line is `row`. Names of several lines are joined (see
 * joinHeaderLines). The exception: if the joined lines contain no more names of the Template than the last line alone,
 * the Template was written for the last line alone.
 */
export function* headerStart(
  records: Records,
  row: number,
  isExpected: ((text: string) => boolean) | null,
): Sliced<number> {
  const first = firstHeaderLine(records, row);
  if (first === row || isExpected === null) return first;
  const alone = yield* expectedTexts(records.at(row), isExpected, 0);
  const joined = yield* expectedTexts(joinHeaderLines(recordsFrom(records, first, row + 1)), isExpected, 0);
  return joined > alone || alone === 0 ? first : row;
}

export interface NamedRow {
  readonly row: number;
  readonly hits: number;
}

/**
 * Returns the last line of a header whose joined lines contain more names than any single record, otherwise the best
 * single record.
 */
function* joinedMatch(
  records: Records,
  { row, hits }: NamedRow,
  isExpected: (text: string) => boolean,
): Sliced<number> {
  const last = headerByForm(records);
  if (last === null) return row;
  const joined = joinHeaderLines(recordsFrom(records, firstHeaderLine(records, last), last + 1));
  return (yield* expectedTexts(joined, isExpected, hits)) > hits ? last : row;
}

function* bestMatch(records: Records, isExpected: (text: string) => boolean): Sliced<NamedRow | null> {
  let best: NamedRow | null = null;
  for (let row = 0; records.has(row); row++) {
    const bestHits: number = best?.hits ?? 0;
    const hits = yield* expectedTexts(records.at(row), isExpected, bestHits);
    if (hits > bestHits) best = { row, hits };
  }
  return best;
}

/**
 * Number of distinct texts of a record that the Template looks for. Returns 0 as soon as the number cannot exceed
 * `bestHits`.
 */
export function* expectedTexts(
  record: readonly string[],
  isExpected: (text: string) => boolean,
  bestHits: number,
): Sliced<number> {
  let texts: Set<string> | null = null;
  for (let index = 0; index < record.length; index++) {
    if ((texts?.size ?? 0) + record.length - index <= bestHits) return 0;
    const cell = record[index]!;
    if (index % CELLS_AT_ONCE === 0) yield PAUSE;
    if (cell === '' || !isExpected(cell) || isBlank(cell)) continue;
    texts ??= new Set();
    texts.add(cell);
  }
  return texts?.size ?? 0;
}

/**
 * Returns the first record of the table's own width whose cells look like names. If several such records are above the
 * data (repeated titles, groups of columns), returns the last one. Returns null if that record looks like the data
 * below.
 */
function headerByForm(records: Records): number | null {
  const width = usualWidth(records);
  let above: number | null = null;
  for (let index = 0; index < HEADER_RECORDS_MAX && records.has(index); index++) {
    const record = records.at(index);
    const filled = filledCells(record);
    const isShort = filled < Math.max(1, Math.ceil(Math.min(width, record.length) * 0.6)) || record.length < width;
    if (isShort || isSpreadTitle(record)) {
      // A line that is too short for a header, or has gaps, counts as a line above the table. It is kept, because the
      // next line may turn out to be data.
      if (filled > 1 || (filled === 1 && record.length === 2 && width === 2)) above = index;
      continue;
    }
    const last = lastHeaderLine(records, index, width);
    return last === index && looksLikeData(record, bodyBelow(records, index)) ? above : last;
  }
  const first = nextFilled(records, 0);
  return first < 0 ? null : first;
}

/**
 * Extends the header downwards while the next non-blank record also names columns with numbers, dates or addresses
 * below, or repeats the line above. A record with a distinct name for every column is the last header line, except for
 * lines that complete it, such as units. All further lines are data, whatever they look like.
 */
function lastHeaderLine(records: Records, first: number, width: number): number {
  let last = first;
  for (let lines = 1; lines < HEADER_LINES_MAX; lines++) {
    const next = nextFilled(records, last + 1);
    if (next < 0) break;
    if (!continuesHeader(records, last, next, width)) break;
    last = next;
  }
  return last;
}

function continuesHeader(records: Records, last: number, next: number, width: number): boolean {
  const above = records.at(last);
  const record = records.at(next);
  const isNear = next === last + 1;
  const body = bodyBelow(records, next);
  if (isNear && isSameLine(above, record)) return areTitles(record) && !haveDigits(record) && haveDigits(textsOf(body));
  const { named, alike, typed } = compareWithBody(record, body);
  if (named === 0 || alike > 0) return false;
  if (isNear && (isUnitsLine(record) || isCompletion(record, named, body))) return true;
  if (hasNameForEach(above, width, named) || lacksNames(above, record)) return false;
  return record.length >= Math.min(width, above.length) && named * 2 >= typed;
}

/**
 * True if the record completes the names above: it has words only above columns of numbers, and is empty where the rows
 * have their texts.
 */
function isCompletion(record: Cells, named: number, { records, start, end }: Body): boolean {
  if (named !== filledCells(record) || record[0]?.trim() !== '') return false;
  let rows = 0;
  let texts = 0;
  for (let row = start; row < end; row++) {
    if (records.filledWidth(row) === 0) continue;
    rows++;
    if (records.kind(row, 0) !== '') texts++;
  }
  return texts * 2 > rows;
}

/**
 * True if the record above has a distinct name in each of its cells, and this record has empty cells. The record above is
 * then the header, and this record is a row in which some columns have no value.
 */
function lacksNames(above: Cells, record: Cells): boolean {
  const names = above.map((cell) => cell.trim());
  const hasAll = new Set(names).size === names.length && !names.includes('');
  return record.length === above.length && hasAll && filledCells(record) < names.length;
}

/** True if at least half of the cells contain digits. */
function haveDigits(cells: Cells): boolean {
  const filled = cells.filter((cell) => !isBlank(cell));
  return filled.length > 0 && filled.filter((cell) => /\d/.test(cell)).length * 2 >= filled.length;
}

function textsOf({ records, start, end }: Body): Cells {
  return recordsFrom(records, start, end).flat();
}

/**
 * True if each column of the table has a distinct name in this record. A record that is wider than the table also
 * counts, unless the record below names all columns of numbers, dates or addresses.
 * @param named number of such columns that the record below names
 */
function hasNameForEach(record: Cells, width: number, named: number): boolean {
  const names = record.map((cell) => cell.trim());
  const filled = names.filter((name) => name !== '');
  const hasOwn = new Set(filled).size === filled.length;
  const isWide = filled.length > width && named < width;
  return hasOwn && (filled.length === width || isWide) && names.slice(0, width).every((name) => name !== '');
}

/**
 * The most frequent width of non-blank records, without trailing empty cells. If two widths are equally frequent, the
 * wider one wins if it begins with names (a table below words). Otherwise the first one wins (rows with surplus
 * fields).
 */
function usualWidth(records: Records): number {
  const widths = new Map<number, { count: number; first: number }>();
  for (let index = 0; records.has(index); index++) {
    const length = records.filledWidth(index);
    const known = widths.get(length);
    if (known !== undefined) known.count++;
    else if (length > 0) widths.set(length, { count: 1, first: index });
  }
  const most = Math.max(...[...widths.values()].map(({ count }) => count));
  const [first, ...others] = [...widths].filter(([, { count }]) => count === most);
  if (first === undefined) return 0;
  const below = widthBelowWords(records, first[0]) ?? widthBelowTitles(records, first[0]);
  if (below !== null) return below;
  const wider = others.find(
    ([width, { first: index }]) =>
      width > first[0] && most > 1 && !looksLikeData(records.at(index), bodyBelow(records, index)),
  );
  return wider?.[0] ?? first[0];
}

// Finds a short table below a longer block of text lines, such as a report of a day with few bookings. Detection by the
// most frequent width would find one column, and the table would be lost.

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
  if (isTableAbove(records, first) || continuesList(records, first, end)) return null;
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
function continuesList(records: Records, first: number, end: number): boolean {
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
