// Finds the record that holds the headers: by the names that the Template looks for where it has any, else by form.
import { cellKind, isDataKind } from './cell-kind.ts';
import { SAMPLE_RECORDS_MAX } from './sample.ts';

/** A header stands among the first records; preambles of reports are seldom longer. */
export const HEADER_RECORDS_MAX = 40;

/** Records below the header whose cells are compared with it. */
const BODY_RECORDS = 20;

/** Lines that a header of several lines has at most: titles, groups of columns, names, units. */
const HEADER_LINES_MAX = 5;

/** Years name columns of tables over time; spreadsheets export them with a decimal. */
const YEAR = /^(?:19|20)\d{2}(?:\.0)?$/;

/**
 * @param records the first ones of the sample, at most so many, blank ones included
 * @param isExpected tells whether a text is a name or alias of a column that the Template declares or reads
 * @returns the 0-based record, or null when the file seems to have no header
 */
export function detectHeaderRow(
  records: (most: number) => readonly (readonly string[])[],
  isExpected: ((text: string) => boolean) | null,
): number | null {
  const expected = isExpected === null ? null : bestMatch(records(HEADER_RECORDS_MAX), isExpected);
  return expected ?? headerByForm(records(SAMPLE_RECORDS_MAX));
}

function bestMatch(records: readonly (readonly string[])[], isExpected: (text: string) => boolean): number | null {
  let best: number | null = null;
  let bestHits = 0;
  for (let index = 0; index < records.length; index++) {
    const hits = expectedTexts(records[index]!, isExpected, bestHits);
    if (hits > bestHits) {
      best = index;
      bestHits = hits;
    }
  }
  return best;
}

/** How many different texts of a record the Template looks for; 0 as soon as they cannot be more than `bestHits`. */
export function expectedTexts(
  record: readonly string[],
  isExpected: (text: string) => boolean,
  bestHits: number,
): number {
  let texts: Set<string> | null = null;
  for (let index = 0; index < record.length; index++) {
    if ((texts?.size ?? 0) + record.length - index <= bestHits) return 0;
    const cell = record[index]!;
    if (cell === '' || !isExpected(cell) || cell.trim() === '') continue;
    texts ??= new Set();
    texts.add(cell);
  }
  return texts?.size ?? 0;
}

/**
 * The first record of the table's own width whose cells look like names, or the last of several such records above the
 * data (titles spread over the columns, groups of columns); null when it looks like the data below.
 */
function headerByForm(records: readonly (readonly string[])[]): number | null {
  const width = usualWidth(records);
  const limit = Math.min(records.length, HEADER_RECORDS_MAX);
  let above: number | null = null;
  for (let index = 0; index < limit; index++) {
    const record = records[index]!;
    const filled = filledCells(record);
    if (filled < Math.max(1, Math.ceil(Math.min(width, record.length) * 0.6)) || record.length < width) {
      // Too short a header, or one with gaps, looks like a line above the table until the next line turns out to be data.
      if (filled > 1 || (filled === 1 && record.length === 2 && width === 2)) above = index;
      continue;
    }
    const last = lastHeaderLine(records, index, width);
    return last === index && looksLikeData(record, bodyBelow(records, index)) ? above : last;
  }
  const first = records.findIndex((record) => filledCells(record) > 0);
  return first < 0 ? null : first;
}

/**
 * Goes down while the next filled record, too, names columns whose cells below are numbers, dates or addresses. Not from
 * a record that names every column of the table by a name of its own: what stands below it is data, whatever it looks like.
 */
function lastHeaderLine(records: readonly (readonly string[])[], first: number, width: number): number {
  let last = first;
  const names = records[first]!.map((cell) => cell.trim());
  if (names.length === width && !names.includes('') && new Set(names).size === width) return first;
  for (let lines = 1; lines < HEADER_LINES_MAX; lines++) {
    const next = records.findIndex((record, index) => index > last && filledCells(record) > 0);
    if (next < 0 || records[next]!.length < Math.min(width, names.length)) break;
    const { named, alike, typed } = compareWithBody(records[next]!, bodyBelow(records, next));
    if (named * 2 < typed || named === 0 || alike > 0) break;
    last = next;
  }
  return last;
}

function bodyBelow(records: readonly (readonly string[])[], header: number): readonly (readonly string[])[] {
  return records.slice(header + 1, header + 1 + BODY_RECORDS);
}

/**
 * The width that most filled records have, empty cells at their ends left out. Where two are as frequent, the wider one
 * if it begins with names: a table under words; else the one that comes first: rows with fields too many.
 */
function usualWidth(records: readonly (readonly string[])[]): number {
  const widths = new Map<number, { count: number; first: number }>();
  for (const [index, record] of records.entries()) {
    const length = record.findLastIndex((cell) => cell.trim() !== '') + 1;
    const known = widths.get(length);
    if (known !== undefined) known.count++;
    else if (length > 0) widths.set(length, { count: 1, first: index });
  }
  const most = Math.max(...[...widths.values()].map(({ count }) => count));
  const [first, ...others] = [...widths].filter(([, { count }]) => count === most);
  if (first === undefined) return 0;
  const wider = others.find(
    ([width, { first: index }]) =>
      width > first[0] && most > 1 && !looksLikeData(records[index]!, bodyBelow(records, index)),
  );
  return wider?.[0] ?? first[0];
}

function filledCells(record: readonly string[]): number {
  return record.filter((cell) => cell.trim() !== '').length;
}

/** True when a record has numbers, dates or addresses in it where the rows below have them in the same columns. */
function looksLikeData(record: readonly string[], body: readonly (readonly string[])[]): boolean {
  const { alike, typed } = compareWithBody(record, body);
  if (typed === 0) return record.length > 0 && record.every((cell) => isDataKind(cellKind(cell.trim())));
  return alike * 2 > typed;
}

interface Comparison {
  /** Columns that hold mostly numbers, dates or addresses below the record. */
  readonly typed: number;
  /** Of these, columns where the record has such a cell too. */
  readonly alike: number;
  /** Of these, columns where the record has a text, or a year above cells that are no years. */
  readonly named: number;
}

function compareWithBody(record: readonly string[], body: readonly (readonly string[])[]): Comparison {
  let typed = 0;
  let alike = 0;
  let named = 0;
  for (const [column, cell] of record.entries()) {
    const below = body.map((row) => (row[column] ?? '').trim()).filter((text) => text !== '');
    if (below.filter((text) => isDataKind(cellKind(text))).length * 2 <= below.length) continue;
    typed++;
    const kind = cellKind(cell.trim());
    const isYearAboveOthers =
      YEAR.test(cell.trim()) && below.filter((text) => YEAR.test(text)).length * 2 <= below.length;
    if (isDataKind(kind) && !isYearAboveOthers) alike++;
    else if (kind !== '' && kind !== 'code') named++;
  }
  return { typed, alike, named };
}
