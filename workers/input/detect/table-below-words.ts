// Finds a short table under more lines of words than it has rows, as in reports of a quiet day: the usual width of its
// records says one column then, and the table would be lost.
import { bodyBelow, compareWithBody } from './body-comparison.ts';
import type { CellKind } from './cell-kind.ts';
import { type Cells, nextFilled, type Records } from './records.ts';

/** Lines above a table are words, or a name and what it stands for. */
const WORDS_WIDTH_MAX = 2;

/** Fewer numbers below each other may be sums, each behind its name. */
const NUMBERS_MIN = 3;

const NUMBERS: readonly CellKind[] = ['number', 'money'];

/** A header and two rows; with one row alone so many columns must tell it from words that hold a delimiter. */
const TABLE_RECORDS_MIN = 3;
const NAMED_MIN = 2;
const NAMED_SHARE_MIN = 1 / 3;

/**
 * All records that are wider than words stand one below the other, the first of them is the widest, is no sentence, and has
 * words where those below have numbers, dates or addresses.
 * @param usual the width that most filled records have
 * @returns how wide the table is, null where there is none
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
  const least = count < TABLE_RECORDS_MIN ? Math.max(NAMED_MIN, widest * NAMED_SHARE_MIN) : 1;
  return named >= least ? widest : null;
}

/** Whether the first narrow records are a table of their own: a name above numbers, and nothing else behind it. */
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

/** Whether the records around are those of one list, some of which are wider than they should be. */
function goesOn(records: Records, first: number, end: number): boolean {
  const isNarrow = (record: number): boolean => records.has(record) && records.filledWidth(record) === WORDS_WIDTH_MAX;
  return first > 0 && isNarrow(first - 1) && isNarrow(end) && isNarrow(end + 1);
}

function firstWide(records: Records, start: number): number | null {
  for (let record = start; records.has(record); record++) if (isWide(records, record)) return record;
  return null;
}

/** Commas of a sentence have spaces behind them; what stands above it may be the name of a column of sentences. */
function isSentence(cells: Cells): boolean {
  return cells.slice(1).every((cell) => /^\s/.test(cell));
}

function isWide(records: Records, record: number): boolean {
  return records.filledWidth(record) > WORDS_WIDTH_MAX;
}
