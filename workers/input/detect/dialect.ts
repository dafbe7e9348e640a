// Finds the delimiter and the quote of a CSV by the consistency of what they give: rows of the same length (pattern
// score) with cells that look like cells (type score). After van den Burg, Nazábal, Sutton: "Wrangling messy CSV files
// by detecting row and type patterns", Data Mining and Knowledge Discovery 33 (2019).
import { cellKind } from './cell-kind.ts';
import { type Dialect, type SampleRecords, splitSample } from './sample.ts';

/** Usual delimiters in the order in which a tie is settled. */
export const USUAL_DELIMITERS = [',', ';', '\t', '|'];

/** Tried only where they occur: spaces and marks that stand in data far more often than between fields. */
const RARE_DELIMITERS = [':', '^', '~', '¦', '§', '\u001f', '*', '#', ' '];

/** A rare delimiter must be this much better than a usual one: a colon also splits times, a space names. */
const RARE_FACTOR = 0.75;

/** Records of which this share is of one length show that a rare delimiter is meant, where there are this many. */
export const EVEN_SHARE = 0.9;
const EVEN_RECORDS_MIN = 3;

/**
 * Spaces and colons stand in names, sentences and times: only a file whose records they cut all alike, the header too,
 * is theirs, and not into two ("First name" above "Ada Lovelace" is one column). Else such a column would lose words.
 */
const TEXT_DELIMITERS = [':', ' '];
const TEXT_DELIMITER_COLUMNS_MIN = 3;

/** Factor of a rare delimiter that gives ragged or too few records: only worse than no delimiter at all. */
const RARE_DOUBTFUL_FACTOR = 1e-3;

/** Cells looked at per dialect: enough for the type score, so that wide files do not cost more than long ones. */
const TYPED_CELLS_MAX = 2_000;

/** Type score of cells that are all odd: not zero, so that the pattern score still decides between such dialects. */
const TYPE_SCORE_MIN = 1e-3;

/**
 * @param text the first part of the file, decoded
 * @param ended true when it is the whole file
 * @param known what the request or the Template has already fixed
 */
export function detectDialect(
  text: string,
  ended: boolean,
  known: { readonly delimiter: string | null; readonly quote: string | null },
): Dialect {
  const plain = known.delimiter === null && known.quote === null ? plainDialect(text, ended) : null;
  if (plain !== null) return plain;
  let best: ScoredDialect | null = null;
  for (const scored of scoredDialects(text, ended, known))
    if (best === null || scored.score > best.score) best = scored;
  return best?.dialect ?? { delimiter: known.delimiter ?? ',', quote: known.quote ?? '"' };
}

export interface ScoredDialect {
  readonly dialect: Dialect;
  readonly score: number;
  readonly sample: SampleRecords;
}

/** Each dialect that the text may have, with its score: more than 0, the highest is the best, the first of equal ones. */
export function* scoredDialects(
  text: string,
  ended: boolean,
  known: { readonly delimiter: string | null; readonly quote: string | null },
): Generator<ScoredDialect, void, void> {
  const quotes = known.quote === null ? quoteCandidates(text) : [known.quote];
  const delimiters = known.delimiter === null ? delimiterCandidates(text) : [known.delimiter];
  let isUsualEven = false;
  let unspaced: SampleRecords | null = null;
  for (const delimiter of delimiters) {
    for (const dialect of quotes.flatMap((quote) => dialectsOf(text, delimiter, quote))) {
      const sample = splitSample(text, dialect, ended);
      if (dialect.spaced !== true) unspaced = sample;
      else if (unspaced !== null && !isSounder(sample, unspaced)) continue;
      const isRare = RARE_DELIMITERS.includes(delimiter);
      isUsualEven ||= !isRare && evenShare(sample, 2) >= EVEN_SHARE;
      const score = consistency(sample) * (isRare ? rareFactor(delimiter, sample, isUsualEven) : 1);
      yield { dialect, score, sample };
    }
  }
}

/**
 * Most files leave no doubt: one usual delimiter in the first line, all records of one length, no odd quote. Found with
 * one split instead of a dozen; and without one where the scan can tell, see obviousForm.
 */
function plainDialect(text: string, ended: boolean): Dialect | null {
  const end = text.search(/[\r\n]/);
  const firstLine = end < 0 ? text : text.slice(0, end);
  const [delimiter, ...others] = USUAL_DELIMITERS.filter((candidate) => firstLine.includes(candidate));
  if (delimiter === undefined || others.length > 0 || quoteCandidates(firstLine).length > 1) return null;
  const dialect = { delimiter, quote: '"' };
  const { records, strayQuotes } = splitSample(text, dialect, ended);
  return strayQuotes === 0 && records.every(({ length }) => length === records[0]!.length) ? dialect : null;
}

function delimiterCandidates(text: string): string[] {
  const usual = USUAL_DELIMITERS.filter((delimiter) => text.includes(delimiter));
  const rare = RARE_DELIMITERS.filter((delimiter) => text.includes(delimiter));
  return usual.length === 0 ? [',', ...rare] : [...usual, ...rare];
}

/** More quotes stand where they can stand, and none is in the way that was not. */
function isSounder(spaced: SampleRecords, unspaced: SampleRecords): boolean {
  return spaced.quotedFields > unspaced.quotedFields && spaced.strayQuotes < unspaced.strayQuotes;
}

/** With spaces before quotes only where there are such: a field that begins with a space is a usual one. */
function dialectsOf(text: string, delimiter: string, quote: string): Dialect[] {
  if (quote === delimiter) return [];
  // The bytes between them are looked at one by one.
  const isPossible = quote !== '' && quote < '\x80' && delimiter < '\x80' && delimiter !== ' ';
  const isSpaced = isPossible && text.includes(`${delimiter} ${quote}`);
  return isSpaced
    ? [
        { delimiter, quote },
        { delimiter, quote, spaced: true },
      ]
    : [{ delimiter, quote }];
}

/** The double quote is the rule; a single quote is tried only where it stands at the start of a field, or behind spaces. */
function quoteCandidates(text: string): string[] {
  return /(?:^|[\n\r,;\t|]) *'[^'\n]*'(?:[,;\t|\r\n]|$)/.test(text) && !text.includes('"') ? ['"', "'"] : ['"'];
}

/** @param isUsualEven true when a usual delimiter, which is tried before, cuts the file evenly: then it is the one */
function rareFactor(delimiter: string, sample: SampleRecords, isUsualEven: boolean): number {
  const isText = TEXT_DELIMITERS.includes(delimiter);
  const even = evenShare(sample, isText ? TEXT_DELIMITER_COLUMNS_MIN : 2);
  return !isUsualEven && even >= (isText ? 1 : EVEN_SHARE) ? RARE_FACTOR : RARE_DOUBTFUL_FACTOR;
}

/** The share of filled records that have the median length; 0 where that is too small or the records are too few. */
function evenShare({ records }: SampleRecords, columnsMin: number): number {
  const lengths = records.filter((record) => record.length > 1 || record[0] !== '').map(({ length }) => length);
  const width = [...lengths].sort((a, b) => a - b)[lengths.length >> 1] ?? 0;
  if (width < columnsMin || lengths.length < EVEN_RECORDS_MIN) return 0;
  return lengths.filter((length) => length === width).length / lengths.length;
}

function consistency(sample: SampleRecords): number {
  return patternScore(sample) * typeScore(sample) * quoteScore(sample);
}

/** Mean over the distinct row lengths of (rows of that length) x (length - 1) / length: long, even rows score high. */
function patternScore({ records }: SampleRecords): number {
  const rowsByLength = new Map<number, number>();
  for (const record of records) {
    if (record.length === 1 && record[0] === '') continue;
    rowsByLength.set(record.length, (rowsByLength.get(record.length) ?? 0) + 1);
  }
  let score = 0;
  for (const [length, rows] of rowsByLength) score += rows * Math.max(1e-3, (length - 1) / length);
  return rowsByLength.size === 0 ? 0 : score / rowsByLength.size;
}

/** The share of cells that look like one cell. */
export function typeScore({ records }: SampleRecords): number {
  let cells = 0;
  let known = 0;
  for (const record of records) {
    for (const cell of record) {
      cells++;
      if (cellKind(cell.trim()) !== null) known++;
    }
    if (cells > TYPED_CELLS_MAX) break;
  }
  return cells === 0 ? TYPE_SCORE_MIN : Math.max(TYPE_SCORE_MIN, known / cells);
}

/** Quotes that stand where no quote can stand speak against the dialect. */
function quoteScore({ quotedFields, strayQuotes }: SampleRecords): number {
  return strayQuotes === 0 ? 1 : (quotedFields + 1) / (quotedFields + 1 + 2 * strayQuotes);
}
