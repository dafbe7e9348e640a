// Finds the delimiter and the quote of a CSV by the consistency of what they give: rows of the same length (pattern
// score) with cells that look like cells (type score). After van den Burg, Nazábal, Sutton: "Wrangling messy CSV files
// by detecting row and type patterns", Data Mining and Knowledge Discovery 33 (2019).
import { hasSingleQuotes, quoteCandidates } from './quote-candidates.ts';
import { type Dialect, SAMPLE_RECORDS_MAX, type Sample } from './sample.ts';
import type { Samples } from './samples.ts';

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

/** A dialect that the text may have. */
interface Candidate {
  readonly dialect: Dialect;
  /** Its score is no higher. */
  readonly most: number;
  /** Less than 1 of a rare delimiter. */
  readonly factor: number;
  readonly isUsualEven: boolean;
}

/**
 * The one that is better than any other can be, as far as its first cells show already. Most cells of most files look like
 * cells: so nobody has to look at all of them under each dialect. Null where it has to be looked at more closely.
 * @param least what else may be has no more
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

/** Each dialect that the text may have, with its score: more than 0, the highest is the best, the first of equal ones. */
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

/** Of a usual delimiter, or of one that is declared. */
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

/** @param isUsualEven true when a usual delimiter cuts the file evenly: then it is the one, and no rare one is looked at */
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

/** Whether the factor of a rare delimiter is surely the least: see rareFactor. */
function isDoubtful(samples: Samples, dialect: Dialect, isUsualEven: boolean): boolean {
  if (isUsualEven) return true;
  return (
    TEXT_DELIMITERS.includes(dialect.delimiter) && (samples.differsSoon(dialect) || !isAllEven(samples.of(dialect)))
  );
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
  const { firstLine } = samples;
  const [delimiter, ...others] = USUAL_DELIMITERS.filter((candidate) => firstLine.includes(candidate));
  if (delimiter === undefined || others.length > 0) return null;
  if (!firstLine.includes('"') && hasSingleQuotes(Buffer.from(firstLine))) return null;
  const dialect = { delimiter, quote: '"' };
  const sample = samples.of(dialect);
  for (let record = 1; sample.has(record); record++) if (sample.width(record) !== sample.width(0)) return null;
  return sample.strayQuotes === 0 ? dialect : null;
}

/** The comma where none stands in the text: it has one column then, unless a rare delimiter cuts it. */
function usualDelimiters(samples: Samples): readonly string[] {
  const usual = USUAL_DELIMITERS.filter((delimiter) => samples.holds(delimiter));
  return usual.length === 0 ? [','] : usual;
}

/** With spaces before quotes only where there are such: a field that begins with a space is a usual one. */
function dialectsOf(samples: Samples, delimiter: string, quote: string): Dialect[] {
  if (quote === delimiter) return [];
  const dialect = { delimiter, quote };
  // The bytes between them are looked at one by one.
  const isPossible = quote !== '' && quote < '\x80' && delimiter < '\x80' && delimiter !== ' ';
  const isSpaced = isPossible && samples.holds(quote) && samples.holds(`${delimiter} ${quote}`);
  if (!isSpaced || samples.of(dialect).strayQuotes === 0) return [dialect];
  const spaced = { ...dialect, spaced: true };
  return isSounder(samples.of(spaced), samples.of(dialect)) ? [dialect, spaced] : [dialect];
}

/** More quotes stand where they can stand, and none is in the way that was not. */
function isSounder(spaced: Sample, unspaced: Sample): boolean {
  return spaced.quotedFields > unspaced.quotedFields && spaced.strayQuotes < unspaced.strayQuotes;
}

/** Where no usual delimiter cuts the file evenly. */
function rareFactor(delimiter: string, sample: Sample): number {
  const isText = TEXT_DELIMITERS.includes(delimiter);
  const even = evenShare(sample, isText ? TEXT_DELIMITER_COLUMNS_MIN : 2);
  return even >= (isText ? 1 : EVEN_SHARE) ? RARE_FACTOR : RARE_DOUBTFUL_FACTOR;
}

/** The share of filled records that have the median length; 0 where that is too small or the records are too few. */
function evenShare(sample: Sample, columnsMin: number): number {
  const counts = [...sample.rowsByWidth].sort(([one], [other]) => one - other);
  const records = counts.reduce((sum, [, rows]) => sum + rows, 0);
  let behind = 0;
  for (const [width, rows] of counts) {
    behind += rows;
    if (behind <= records >> 1) continue;
    return width < columnsMin || records < EVEN_RECORDS_MIN ? 0 : rows / records;
  }
  return 0;
}

function consistency(sample: Sample): number {
  return patternScore(sample) * typeScore(sample) * quoteScore(sample);
}

/** Whether `consistency` is more, as far as the first cells show already: the others can only add to it. */
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

/** Mean over the distinct row lengths of (rows of that length) x (length - 1) / length: long, even rows score high. */
function patternScore({ rowsByWidth }: Sample): number {
  let score = 0;
  for (const [length, rows] of rowsByWidth) score += rows * Math.max(1e-3, (length - 1) / length);
  return rowsByWidth.size === 0 ? 0 : score / rowsByWidth.size;
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
