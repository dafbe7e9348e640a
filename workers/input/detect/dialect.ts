// Finds the delimiter and the quote of a CSV by the consistency of what they give: rows of the same length (pattern
// score) with cells that look like cells (type score). After van den Burg, Nazábal, Sutton: "Wrangling messy CSV files
// by detecting row and type patterns", Data Mining and Knowledge Discovery 33 (2019).
import { type Dialect, SAMPLE_RECORDS_MAX, type Sample, type Samples } from './sample.ts';

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

/** No such delimiter scores higher: a record counts 1 at most. */
const DOUBTFUL_SCORE_MAX = RARE_DOUBTFUL_FACTOR * SAMPLE_RECORDS_MAX;

/** Cells looked at per dialect: enough for the type score, so that wide files do not cost more than long ones. */
const TYPED_CELLS_MAX = 2_000;

/** Type score of cells that are all odd: not zero, so that the pattern score still decides between such dialects. */
const TYPE_SCORE_MIN = 1e-3;

/** What the request or the Template has already fixed. */
export interface KnownDialect {
  readonly delimiter: string | null;
  readonly quote: string | null;
}

/** Of the first part of a file. */
export function detectDialect(samples: Samples, known: KnownDialect): Dialect {
  const plain = known.delimiter === null && known.quote === null ? plainDialect(samples) : null;
  if (plain !== null) return plain;
  const only = known.delimiter === null && known.quote === null ? onlyDialect(samples) : null;
  if (only !== null) return only;
  let best: ScoredDialect | null = null;
  for (const scored of scoredDialects(samples, known, (dialect, isEven) => isWorse(samples, dialect, isEven, best)))
    if (best === null || scored.score > best.score) best = scored;
  return best?.dialect ?? { delimiter: known.delimiter ?? ',', quote: known.quote ?? '"' };
}

/**
 * The one usual delimiter of a text, where all others are doubtful for sure and it is better than any such: then nobody has to
 * know by how much. Null where it has to be looked at more closely.
 */
function onlyDialect(samples: Samples): Dialect | null {
  const { text } = samples;
  const [delimiter, ...others] = delimiterCandidates(text);
  if (delimiter === undefined || !text.includes(delimiter) || quoteCandidates(text).length > 1) return null;
  const [dialect, spaced] = dialectsOf(samples, delimiter, '"');
  if (dialect === undefined || spaced !== undefined) return null;
  const sample = samples.of(dialect);
  const isEven = evenShare(sample, 2) >= EVEN_SHARE;
  const areDoubtful = others
    .flatMap((other) => dialectsOf(samples, other, '"'))
    .every((other) => isDoubtful(samples, other, isEven));
  return areDoubtful && scoresAtLeast(sample, DOUBTFUL_SCORE_MAX) ? dialect : null;
}

export interface ScoredDialect {
  readonly dialect: Dialect;
  readonly score: number;
  readonly sample: Sample;
}

/**
 * Each dialect that the text may have, with its score: more than 0, the highest is the best, the first of equal ones.
 * @param isPassed of a dialect that nobody wants to know of
 */
export function* scoredDialects(
  samples: Samples,
  known: KnownDialect,
  isPassed: (dialect: Dialect, isUsualEven: boolean) => boolean = () => false,
): Generator<ScoredDialect, void, void> {
  const { text } = samples;
  const quotes = known.quote === null ? quoteCandidates(text) : [known.quote];
  const delimiters = known.delimiter === null ? delimiterCandidates(text) : [known.delimiter];
  let isUsualEven = false;
  let unspaced: Sample | null = null;
  for (const delimiter of delimiters) {
    for (const dialect of quotes.flatMap((quote) => dialectsOf(samples, delimiter, quote))) {
      const sample = samples.of(dialect);
      if (dialect.spaced !== true) unspaced = sample;
      else if (unspaced !== null && !isSounder(sample, unspaced)) continue;
      if (isPassed(dialect, isUsualEven)) continue;
      const isRare = RARE_DELIMITERS.includes(delimiter);
      isUsualEven ||= !isRare && evenShare(sample, 2) >= EVEN_SHARE;
      const score = consistency(sample) * (isRare ? rareFactor(delimiter, sample, isUsualEven) : 1);
      yield { dialect, score, sample };
    }
  }
}

/** True for a rare delimiter that is doubtful for sure, where the best so far is better than any such: most files have spaces. */
function isWorse(samples: Samples, dialect: Dialect, isUsualEven: boolean, best: ScoredDialect | null): boolean {
  return best !== null && best.score >= DOUBTFUL_SCORE_MAX && isDoubtful(samples, dialect, isUsualEven);
}

/** Whether a delimiter is a rare one whose factor is surely the least: see rareFactor. */
function isDoubtful(samples: Samples, dialect: Dialect, isUsualEven: boolean): boolean {
  const { delimiter } = dialect;
  if (!RARE_DELIMITERS.includes(delimiter)) return false;
  return isUsualEven || (TEXT_DELIMITERS.includes(delimiter) && !isAllEven(samples.of(dialect)));
}

/** False as soon as two filled records differ. */
function isAllEven(sample: Sample): boolean {
  let width = 0;
  for (let record = 0; sample.has(record); record++) {
    if (!sample.isFilled(record)) continue;
    if (width !== 0 && sample.width(record) !== width) return false;
    width = sample.width(record);
  }
  return true;
}

/**
 * Most files leave no doubt: one usual delimiter in the first line, all records of one length, no odd quote. Found with
 * one split instead of a dozen; and without one where the scan can tell, see obviousForm.
 */
function plainDialect(samples: Samples): Dialect | null {
  const { text } = samples;
  const end = text.search(/[\r\n]/);
  const firstLine = end < 0 ? text : text.slice(0, end);
  const [delimiter, ...others] = USUAL_DELIMITERS.filter((candidate) => firstLine.includes(candidate));
  if (delimiter === undefined || others.length > 0 || quoteCandidates(firstLine).length > 1) return null;
  const dialect = { delimiter, quote: '"' };
  const sample = samples.of(dialect);
  for (let record = 1; sample.has(record); record++) if (sample.width(record) !== sample.width(0)) return null;
  return sample.strayQuotes === 0 ? dialect : null;
}

function delimiterCandidates(text: string): string[] {
  const usual = USUAL_DELIMITERS.filter((delimiter) => text.includes(delimiter));
  const rare = RARE_DELIMITERS.filter((delimiter) => text.includes(delimiter));
  return usual.length === 0 ? [',', ...rare] : [...usual, ...rare];
}

/** More quotes stand where they can stand, and none is in the way that was not. */
function isSounder(spaced: Sample, unspaced: Sample): boolean {
  return spaced.quotedFields > unspaced.quotedFields && spaced.strayQuotes < unspaced.strayQuotes;
}

/** With spaces before quotes only where there are such: a field that begins with a space is a usual one. */
function dialectsOf(samples: Samples, delimiter: string, quote: string): Dialect[] {
  if (quote === delimiter) return [];
  // The bytes between them are looked at one by one.
  const isPossible = quote !== '' && quote < '\x80' && delimiter < '\x80' && delimiter !== ' ';
  const isSpaced = isPossible && samples.holds(quote) && samples.text.includes(`${delimiter} ${quote}`);
  return isSpaced
    ? [
        { delimiter, quote },
        { delimiter, quote, spaced: true },
      ]
    : [{ delimiter, quote }];
}

/** The double quote is the rule; a single quote is tried only where it stands at the start of a field, or behind spaces. */
function quoteCandidates(text: string): string[] {
  if (!text.includes("'")) return ['"'];
  return /(?:^|[\n\r,;\t|]) *'[^'\n]*'(?:[,;\t|\r\n]|$)/.test(text) && !text.includes('"') ? ['"', "'"] : ['"'];
}

/** @param isUsualEven true when a usual delimiter, which is tried before, cuts the file evenly: then it is the one */
function rareFactor(delimiter: string, sample: Sample, isUsualEven: boolean): number {
  const isText = TEXT_DELIMITERS.includes(delimiter);
  const even = evenShare(sample, isText ? TEXT_DELIMITER_COLUMNS_MIN : 2);
  return !isUsualEven && even >= (isText ? 1 : EVEN_SHARE) ? RARE_FACTOR : RARE_DOUBTFUL_FACTOR;
}

/** The share of filled records that have the median length; 0 where that is too small or the records are too few. */
function evenShare(sample: Sample, columnsMin: number): number {
  const lengths: number[] = [];
  for (let record = 0; sample.has(record); record++) if (sample.isFilled(record)) lengths.push(sample.width(record));
  const width = Uint32Array.from(lengths).sort()[lengths.length >> 1] ?? 0;
  if (width < columnsMin || lengths.length < EVEN_RECORDS_MIN) return 0;
  return lengths.filter((length) => length === width).length / lengths.length;
}

function consistency(sample: Sample): number {
  return patternScore(sample) * typeScore(sample) * quoteScore(sample);
}

/** Whether `consistency` is no less, as far as the first cells show already: the others can only add to it. */
function scoresAtLeast(sample: Sample, least: number): boolean {
  const pattern = patternScore(sample);
  const quotes = quoteScore(sample);
  let cells = 0;
  let records = 0;
  for (; sample.has(records) && cells <= TYPED_CELLS_MAX; records++) cells += sample.width(records);
  let known = 0;
  for (let record = 0; record < records; record++) {
    for (let column = 0; column < sample.width(record); column++) if (sample.kind(record, column) !== null) known++;
    if (pattern * (known / cells) * quotes >= least) return true;
  }
  return false;
}

/** Mean over the distinct row lengths of (rows of that length) x (length - 1) / length: long, even rows score high. */
function patternScore(sample: Sample): number {
  const rowsByLength = new Map<number, number>();
  for (let record = 0; sample.has(record); record++) {
    if (!sample.isFilled(record)) continue;
    const length = sample.width(record);
    rowsByLength.set(length, (rowsByLength.get(length) ?? 0) + 1);
  }
  let score = 0;
  for (const [length, rows] of rowsByLength) score += rows * Math.max(1e-3, (length - 1) / length);
  return rowsByLength.size === 0 ? 0 : score / rowsByLength.size;
}

/** The share of cells that look like one cell. */
export function typeScore(sample: Sample): number {
  let cells = 0;
  let known = 0;
  for (let record = 0; sample.has(record); record++) {
    const width = sample.width(record);
    cells += width;
    for (let column = 0; column < width; column++) if (sample.kind(record, column) !== null) known++;
    if (cells > TYPED_CELLS_MAX) break;
  }
  return cells === 0 ? TYPE_SCORE_MIN : Math.max(TYPE_SCORE_MIN, known / cells);
}

/** Quotes that stand where no quote can stand speak against the dialect. */
function quoteScore({ quotedFields, strayQuotes }: Sample): number {
  return strayQuotes === 0 ? 1 : (quotedFields + 1) / (quotedFields + 1 + 2 * strayQuotes);
}
