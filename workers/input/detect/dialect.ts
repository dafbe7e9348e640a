// Finds the delimiter and the quote of a CSV by the consistency of the result: rows of the same length (pattern score)
// with cells that look like cells (type score). Based on van den Burg, Nazábal, Sutton: "Wrangling messy CSV files by
// detecting row and type patterns", Data Mining and Knowledge Discovery 33 (2019).
import { type Dialect, SAMPLE_RECORDS_MAX, type Sample } from './sample.ts';
import type { Samples } from './samples.ts';

/** Usual delimiters. If scores are equal, the earlier one wins. */
export const USUAL_DELIMITERS = [',', ';', '\t', '|'];

/**
 * Rare delimiters: spaces and marks that occur in data far more often than between fields. Tried only if the text
 * contains them.
 */
const RARE_DELIMITERS = [':', '^', '~', '¦', '§', '\u001f', '*', '#', ' '];

/**
 * Factor on the score of a rare delimiter. It must be much better than a usual delimiter, because a colon also splits
 * times and a space also splits names.
 */
const RARE_FACTOR = 0.75;

/**
 * A rare delimiter is meant if at least this share of the records has the same length, and if the file has at least EVEN_RECORDS_MIN records.
 */
export const EVEN_SHARE = 0.9;
const EVEN_RECORDS_MIN = 3;

/**
 * Spaces and colons occur in names, sentences and times. They are delimiters only if they split all records, including
 * the header, into the same number of columns, at least three: "First name" above "Ada Lovelace" is one column.
 * Otherwise such a column would lose words.
 */
const TEXT_DELIMITERS = [':', ' '];
const TEXT_DELIMITER_COLUMNS_MIN = 3;

/**
 * Factor on the score of a rare delimiter that gives ragged or too few records. Such a delimiter is only better than no
 * delimiter.
 */
const RARE_DOUBTFUL_FACTOR = 1e-3;

/** Upper bound for the score of such a delimiter, because a record adds at most 1. */
const DOUBTFUL_SCORE_MAX = RARE_DOUBTFUL_FACTOR * SAMPLE_RECORDS_MAX;

/** Number of cells examined per dialect: enough for the type score, and a limit for wide files. */
const TYPED_CELLS_MAX = 2_000;

/** Type score if no cell looks like a cell. Not zero, so that the pattern score still decides between such dialects. */
const TYPE_SCORE_MIN = 1e-3;

/** Settings that the request or the Template prescribes. */
export interface KnownDialect {
  readonly delimiter: string | null;
  readonly quote: string | null;
}

/** Detects the dialect from the first part of a file. */
export function detectDialect(samples: Samples, known: KnownDialect): Dialect {
  const isOpen = known.delimiter === null && known.quote === null;
  const plain = isOpen ? plainDialect(samples) : null;
  if (plain !== null) return plain;
  const quotes = known.quote === null ? quoteCandidates(samples) : [known.quote];
  const delimiters = known.delimiter === null ? usualDelimiters(samples) : [known.delimiter];
  const usual = delimiters.flatMap((delimiter) => usualCandidates(samples, delimiter, quotes));
  const isEven = usual.some(({ isUsualEven }) => isUsualEven);
  const isAlone = known.delimiter !== null;
  const early = isEven || isAlone ? surest(samples, usual, isAlone ? 0 : DOUBTFUL_SCORE_MAX) : null;
  if (early !== null) return early;
  const candidates = isAlone ? usual : [...usual, ...rareCandidates(samples, quotes, isEven)];
  const sure = surest(samples, candidates, 0);
  if (sure !== null) return sure;
  let best: ScoredDialect | null = null;
  for (const candidate of candidates) {
    if (best !== null && candidate.most <= best.score) continue;
    const scored = scoreOf(samples, candidate);
    if (best === null || scored.score > best.score) best = scored;
  }
  return best?.dialect ?? { delimiter: known.delimiter ?? ',', quote: known.quote ?? '"' };
}

/** A possible dialect of the text. */
interface Candidate {
  readonly dialect: Dialect;
  /** Upper bound of its score. */
  readonly most: number;
  /** Less than 1 for a rare delimiter. */
  readonly factor: number;
  readonly isUsualEven: boolean;
}

/**
 * Returns the dialect whose first cells already prove that no other dialect can score higher. Most cells of most files
 * look like cells, so this avoids examining all cells under each dialect. Returns null if a closer look is needed.
 * @param least upper bound for the score of all dialects that are not among the candidates
 */
function surest(samples: Samples, candidates: readonly Candidate[], least: number): Dialect | null {
  const [first, ...rest] = candidates;
  if (first === undefined) return null;
  if (rest.length === 0 && least === 0) return first.dialect;
  const best = rest.reduce((most, other) => (other.most > most.most ? other : most), first);
  const others = candidates.filter((other) => other !== best).map(({ most }) => most);
  return scoresMoreThan(samples.of(best.dialect), Math.max(least, ...others) / best.factor) ? best.dialect : null;
}

export interface ScoredDialect {
  readonly dialect: Dialect;
  readonly score: number;
  readonly sample: Sample;
}

/**
 * Returns all possible dialects with their scores, which are greater than 0. The highest score is the best; if scores
 * are equal, the first.
 */
export function scoredDialects(samples: Samples): readonly ScoredDialect[] {
  const quotes = quoteCandidates(samples);
  const usual = usualDelimiters(samples).flatMap((delimiter) => usualCandidates(samples, delimiter, quotes));
  const isEven = usual.some(({ isUsualEven }) => isUsualEven);
  return [...usual, ...rareCandidates(samples, quotes, isEven)].map((candidate) => scoreOf(samples, candidate));
}

function scoreOf(samples: Samples, { dialect, factor }: Candidate): ScoredDialect {
  const sample = samples.of(dialect);
  return { dialect, score: consistency(sample) * factor, sample };
}

/** Candidates with a usual delimiter or with a declared one. */
function usualCandidates(samples: Samples, delimiter: string, quotes: readonly string[]): readonly Candidate[] {
  const isRare = RARE_DELIMITERS.includes(delimiter);
  return quotes
    .flatMap((quote) => dialectsOf(samples, delimiter, quote))
    .map((dialect) => {
      const sample = samples.of(dialect);
      const isUsualEven = !isRare && evenShare(sample, 2) >= EVEN_SHARE;
      return { dialect, most: mostOf(sample), factor: 1, isUsualEven };
    });
}

/**
 * @param isUsualEven true if a usual delimiter splits the file evenly: it then wins, and rare delimiters are not
 * examined
 */
function rareCandidates(samples: Samples, quotes: readonly string[], isUsualEven: boolean): readonly Candidate[] {
  return RARE_DELIMITERS.filter((delimiter) => samples.holds(delimiter)).flatMap((delimiter) =>
    quotes
      .flatMap((quote) => (isUsualEven ? [{ delimiter, quote }] : dialectsOf(samples, delimiter, quote)))
      .map((dialect) => {
        if (isDoubtful(samples, dialect, isUsualEven))
          return { dialect, most: DOUBTFUL_SCORE_MAX, factor: RARE_DOUBTFUL_FACTOR, isUsualEven: false };
        const sample = samples.of(dialect);
        const factor = rareFactor(delimiter, sample);
        return { dialect, most: mostOf(sample) * factor, factor, isUsualEven: false };
      }),
  );
}

function mostOf(sample: Sample): number {
  return patternScore(sample) * quoteScore(sample);
}

/** True if rareFactor certainly returns the lowest factor for this dialect. */
function isDoubtful(samples: Samples, dialect: Dialect, isUsualEven: boolean): boolean {
  if (isUsualEven) return true;
  return (
    TEXT_DELIMITERS.includes(dialect.delimiter) && (samples.differsSoon(dialect) || !isAllEven(samples.of(dialect)))
  );
}

/** Returns false as soon as two non-blank records have different lengths. */
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
 * Returns the dialect of a file that leaves no doubt, as most files do: one usual delimiter in the first line, all
 * records of the same length, no misplaced quote. Needs one split instead of a dozen. If the scan is enough, even that
 * split is avoided, see obviousForm.
 */
function plainDialect(samples: Samples): Dialect | null {
  const { firstLine } = samples;
  const [delimiter, ...others] = USUAL_DELIMITERS.filter((candidate) => firstLine.includes(candidate));
  if (delimiter === undefined || others.length > 0) return null;
  if (!firstLine.includes('"') && hasSingleQuotes(Buffer.from(firstLine))) return null;
  const dialect = { delimiter, quote: '"' };
  const sample = samples.of(dialect);
  for (let record = 1; sample.has(record); record++) if (sample.width(record) !== sample.width(0)) return null;
  return sample.strayQuotes === 0 ? dialect : null;
}

/**
 * Falls back to the comma if the text contains no usual delimiter: the file then has one column, unless a rare
 * delimiter splits it.
 */
function usualDelimiters(samples: Samples): readonly string[] {
  const usual = USUAL_DELIMITERS.filter((delimiter) => samples.holds(delimiter));
  return usual.length === 0 ? [','] : usual;
}

/**
 * Includes a dialect with spaces before quotes only if the text has such spaces. A field that begins with a space is
 * otherwise an ordinary field.
 */
function dialectsOf(samples: Samples, delimiter: string, quote: string): Dialect[] {
  if (quote === delimiter) return [];
  const dialect = { delimiter, quote };
  // The source that removes such spaces works byte by byte.
  const isPossible = quote !== '' && quote < '\x80' && delimiter < '\x80' && delimiter !== ' ';
  const isSpaced = isPossible && samples.holds(quote) && samples.holds(`${delimiter} ${quote}`);
  if (!isSpaced || samples.of(dialect).strayQuotes === 0) return [dialect];
  const spaced = { ...dialect, spaced: true };
  return isSounder(samples.of(spaced), samples.of(dialect)) ? [dialect, spaced] : [dialect];
}

/** True if more fields are quoted and fewer quotes are misplaced. */
function isSounder(spaced: Sample, unspaced: Sample): boolean {
  return spaced.quotedFields > unspaced.quotedFields && spaced.strayQuotes < unspaced.strayQuotes;
}

/** Factor if no usual delimiter splits the file evenly. */
function rareFactor(delimiter: string, sample: Sample): number {
  const isText = TEXT_DELIMITERS.includes(delimiter);
  const even = evenShare(sample, isText ? TEXT_DELIMITER_COLUMNS_MIN : 2);
  return even >= (isText ? 1 : EVEN_SHARE) ? RARE_FACTOR : RARE_DOUBTFUL_FACTOR;
}

/**
 * Share of the non-blank records that have the median length. 0 if that length is below the minimum or there are too
 * few records.
 */
function evenShare(sample: Sample, columnsMin: number): number {
  const counts = [...sample.rowsByWidth].sort(([one], [other]) => one - other);
  const records = counts.reduce((sum, [, rows]) => sum + rows, 0);
  let after = 0;
  for (const [width, rows] of counts) {
    after += rows;
    if (after <= records >> 1) continue;
    return width < columnsMin || records < EVEN_RECORDS_MIN ? 0 : rows / records;
  }
  return 0;
}

function consistency(sample: Sample): number {
  return patternScore(sample) * typeScore(sample) * quoteScore(sample);
}

/**
 * True if the first cells already prove that `consistency` is greater than `least`: further cells can only increase it.
 */
function scoresMoreThan(sample: Sample, least: number): boolean {
  const most = patternScore(sample) * quoteScore(sample);
  if (most <= least) return false;
  let cells = 0;
  let records = 0;
  for (; sample.has(records) && cells <= TYPED_CELLS_MAX; records++) cells += sample.width(records);
  let known = 0;
  for (let record = 0; record < records; record++) {
    for (let column = 0; column < sample.width(record); column++) {
      if (sample.kind(record, column) !== null) known++;
      if (most * (known / cells) > least) return true;
    }
  }
  return false;
}

/**
 * Mean over the distinct row lengths of (rows of that length) x (length - 1) / length. Long and even rows score high.
 */
function patternScore({ rowsByWidth }: Sample): number {
  let score = 0;
  for (const [length, rows] of rowsByWidth) score += rows * Math.max(1e-3, (length - 1) / length);
  return rowsByWidth.size === 0 ? 0 : score / rowsByWidth.size;
}

/** Share of cells that look like a single cell. */
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

/** Misplaced quotes lower the score of a dialect. */
function quoteScore({ quotedFields, strayQuotes }: Sample): number {
  return strayQuotes === 0 ? 1 : (quotedFields + 1) / (quotedFields + 1 + 2 * strayQuotes);
}

// Finds the quote characters that a file may use.

const LF = 10;
const SPACE = 0x20;
const SINGLE_QUOTE = 0x27;

/** Bytes that may precede or follow a field. */
const FIELD_ENDS: ReadonlySet<number> = new Set([...',;\t|\r\n'].map((mark) => mark.charCodeAt(0)));

/**
 * Always includes the double quote. The single quote is a candidate only if it occurs at the start of a field, possibly
 * after spaces.
 */
export function quoteCandidates(samples: Samples): string[] {
  if (!samples.holds("'") || samples.holds('"')) return ['"'];
  return hasSingleQuotes(samples.bytes) ? ['"', "'"] : ['"'];
}

/** True if a field within one line is in single quotes, with any usual delimiter. */
export function hasSingleQuotes(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(SINGLE_QUOTE); at >= 0; at = bytes.indexOf(SINGLE_QUOTE, at + 1)) {
    let before = at - 1;
    while (bytes[before] === SPACE) before--;
    if (before >= 0 && !FIELD_ENDS.has(bytes[before]!)) continue;
    let end = at + 1;
    while (end < bytes.length && bytes[end] !== SINGLE_QUOTE && bytes[end] !== LF) end++;
    if (bytes[end] === SINGLE_QUOTE && (end + 1 === bytes.length || FIELD_ENDS.has(bytes[end + 1]!))) return true;
  }
  return false;
}
