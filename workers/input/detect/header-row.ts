// Finds the record that holds the headers: by the names that the Template looks for where it has any, else by form.
import { PAUSE, type Sliced } from '../../run/time-slices.ts';
import { type Body, bodyBelow, compareWithBody, filledCells, isBlank, looksLikeData } from './body-comparison.ts';
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
import { widthBelowWords } from './table-below-words.ts';

/** A header stands among the first records; preambles of reports are seldom longer. */
export const HEADER_RECORDS_MAX = 40;

/** Cells that are compared with the Template's names between two pauses: a Template may have hundreds of patterns. */
const CELLS_AT_ONCE = 16;

/**
 * @param records blank ones included
 * @param isExpected tells whether a text is a name or alias of a column that the Template declares or reads
 * @param best finds the first record with the most such texts, where somebody knows how to without looking at each
 * @returns the 0-based record, or null when the file seems to have no header
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
 * The first line of the header whose last one is `row`: names of several lines are joined (see joinHeaderLines), unless a
 * Template finds no more names in them than in the last line alone, which it was written for then.
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

/** The last line of a header in whose joined lines there are more names than in any one record, else that record. */
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

/** How many different texts of a record the Template looks for; 0 as soon as they cannot be more than `bestHits`. */
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
 * The first record of the table's own width whose cells look like names, or the last of several such records above the
 * data (titles spread over the columns, groups of columns); null when it looks like the data below.
 */
function headerByForm(records: Records): number | null {
  const width = usualWidth(records);
  let above: number | null = null;
  for (let index = 0; index < HEADER_RECORDS_MAX && records.has(index); index++) {
    const record = records.at(index);
    const filled = filledCells(record);
    const isShort = filled < Math.max(1, Math.ceil(Math.min(width, record.length) * 0.6)) || record.length < width;
    if (isShort || isSpreadTitle(record)) {
      // Too short a header, or one with gaps, looks like a line above the table until the next line turns out to be data.
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
 * Goes down while the next filled record, too, names columns whose cells below are numbers, dates or addresses, or says
 * again what the one above says. A record that names every column of the table by a name of its own is the last but for
 * what completes it, as units do: what else stands below it is data, whatever it looks like.
 */
function lastHeaderLine(records: Records, first: number, width: number): number {
  let last = first;
  for (let lines = 1; lines < HEADER_LINES_MAX; lines++) {
    const next = nextFilled(records, last + 1);
    if (next < 0) break;
    if (!goesOn(records, last, next, width)) break;
    last = next;
  }
  return last;
}

function goesOn(records: Records, last: number, next: number, width: number): boolean {
  const above = records.at(last);
  const record = records.at(next);
  const isNear = next === last + 1;
  const body = bodyBelow(records, next);
  if (isNear && isSameLine(above, record))
    return areTitles(record) && !haveFigures(record) && haveFigures(textsOf(body));
  const { named, alike, typed } = compareWithBody(record, body);
  if (named === 0 || alike > 0) return false;
  if (isNear && (isUnitsLine(record) || isCompletion(record, named, body))) return true;
  if (hasNameForEach(above, width)) return false;
  return record.length >= Math.min(width, above.length) && named * 2 >= typed;
}

/** Words in columns of numbers alone, and none where the rows have their texts: what a name lacks stands below it. */
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

/** Half of the cells have digits in them: numbers, whatever they look like. */
function haveFigures(cells: Cells): boolean {
  const filled = cells.filter((cell) => !isBlank(cell));
  return filled.length > 0 && filled.filter((cell) => /\d/.test(cell)).length * 2 >= filled.length;
}

function textsOf({ records, start, end }: Body): Cells {
  return recordsFrom(records, start, end).flat();
}

function hasNameForEach(record: Cells, width: number): boolean {
  const names = record.map((cell) => cell.trim());
  const own = new Set(names.filter((name) => name !== ''));
  return own.size === width && names.slice(0, width).every((name) => name !== '');
}

/**
 * The width that most filled records have, empty cells at their ends left out. Where two are as frequent, the wider one
 * if it begins with names: a table under words; else the one that comes first: rows with fields too many.
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
  const below = widthBelowWords(records, first[0]);
  if (below !== null) return below;
  const wider = others.find(
    ([width, { first: index }]) =>
      width > first[0] && most > 1 && !looksLikeData(records.at(index), bodyBelow(records, index)),
  );
  return wider?.[0] ?? first[0];
}
