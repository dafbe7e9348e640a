// Explains the detected form of a file: confidence, runner-up, and the reason in words. It repeats the work of the
// detectors, so it is used by `inspect` and never by a Run. A reason contains no text of the file.
import { type Choice, type FileExplanation, rounded } from '../explanation.ts';
import { bodyBelow, compareWithBody, filledCells } from './body-comparison.ts';
import type { DetectedForm } from './detect-form.ts';
import { type ScoredDialect, scoredDialects, typeScore } from './dialect.ts';
import { HEADER_RECORDS_MAX } from './header-row.ts';
import { type Cells, nextFilled, type Records, recordsFrom, upTo } from './records.ts';
import type { Dialect, Sample } from './sample.ts';
import { Samples } from './samples.ts';

const NAMES: ReadonlyMap<string, string> = new Map([
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'vertical bar'],
  [':', 'colon'],
  [' ', 'space'],
  ['^', 'caret'],
  ['~', 'tilde'],
  ['*', 'asterisk'],
  ['#', 'number sign'],
  ['¦', 'broken bar'],
  ['§', 'section sign'],
  ['\u001f', 'unit separator'],
]);

/** Confidence if nothing favours or contradicts a choice. */
const EVEN_CHANCE = 0.5;

/** Maximum confidence if header and rows do not fit together. */
const DOUBTFUL_MAX = 0.25;

/**
 * Confidence if all columns are words. Words alone do not distinguish a header from a row, but most tables have a
 * header.
 */
const WORDS_CONFIDENCE = 0.6;

/** Factor if lines of words above the header may belong to it. */
const BELOW_TITLES_FACTOR = 0.9;

const PERCENT = 100;

/** @param form result of detectForm for these bytes */
export function explainForm(bytes: Uint8Array, ended: boolean, form: DetectedForm): FileExplanation {
  const dialect: Dialect = { delimiter: form.oneColumn ? '' : form.delimiter!, quote: form.quote, spaced: form.spaced };
  const samples = new Samples(bytes, ended, null);
  return { delimiter: delimiterChoice(samples, form), headerRow: explainHeader(samples.of(dialect), form) };
}

function delimiterChoice(samples: Samples, form: DetectedForm): Choice<string> {
  const scored = scoredDialects(samples);
  const best = (is: (delimiter: string) => boolean): ScoredDialect | null =>
    scored
      .filter(({ dialect, sample }) => is(dialect.delimiter) && widthOf(sample).count > 0)
      .reduce<ScoredDialect | null>((most, other) => (other.score > (most?.score ?? 0) ? other : most), null);
  const chosen = form.oneColumn ? null : best((delimiter) => delimiter === form.delimiter);
  const next = best((delimiter) => delimiter !== form.delimiter || form.oneColumn === true);
  const runnerUp = next?.dialect.delimiter ?? null;
  const after = next === null ? 'no other character splits the records' : `next comes ${factsOf(next)}`;
  if (form.isDoubtful) {
    const reason = `the header row and the rows below it do not contain the same delimiter; ${after}`;
    return { confidence: rounded(Math.min(DOUBTFUL_MAX, share(chosen, next))), runnerUp, reason };
  }
  if (chosen === null) {
    const reason = `the header row contains no delimiter, so the file has one column; ${after}`;
    return { confidence: next === null ? 1 : rounded(1 - oneColumnDoubt(next)), runnerUp, reason };
  }
  return { confidence: rounded(share(chosen, next)), runnerUp, reason: `${factsOf(chosen)}; ${after}` };
}

/** Share of the chosen score in the sum of both scores. */
function share(chosen: ScoredDialect | null, next: ScoredDialect | null): number {
  const score = chosen?.score ?? 0;
  return score === 0 ? 0 : score / (score + (next?.score ?? 0));
}

/** Half the share of the records that the delimiter splits evenly. */
function oneColumnDoubt({ sample }: ScoredDialect): number {
  const { count, records } = widthOf(sample);
  return (count / records) * EVEN_CHANCE;
}

function factsOf({ dialect, sample }: ScoredDialect): string {
  const { width, count, records } = widthOf(sample);
  const name = NAMES.get(dialect.delimiter) ?? 'another character';
  const cells = Math.round(typeScore(sample) * PERCENT);
  const stray =
    sample.strayQuotes === 0 ? '' : `, with ${sample.strayQuotes} quotes in places where quotes are not allowed`;
  return `${name}, which splits ${count} of ${records} records into ${width} fields, ${cells} % of them like one cell${stray}`;
}

/** The most frequent width among the records that are split at all, and the number of records with that width. */
function widthOf(sample: Sample): { width: number; count: number; records: number } {
  const counts = new Map<number, number>();
  let filled = 0;
  for (let record = 0; sample.has(record); record++) {
    if (!sample.isFilled(record)) continue;
    filled++;
    const width = sample.width(record);
    if (width > 1) counts.set(width, (counts.get(width) ?? 0) + 1);
  }
  const [width, count] = [...counts].reduce((most, other) => (other[1] > most[1] ? other : most), [0, 0]);
  return { width, count, records: filled };
}

/** Explains the position of the header among these records. */
export function explainHeader(
  records: Records,
  { headerRow, headerLines = 1 }: Pick<DetectedForm, 'headerRow' | 'headerLines'>,
): Choice<number> {
  const firstFilled = nextFilled(records, 0);
  if (headerRow === null) return noHeader(records, firstFilled);
  const record = textsOf(records, headerRow);
  const { typed, named, alike } = compareWithBody(record, bodyBelow(records, headerRow));
  const start = headerRow - headerLines + 1;
  const titles = firstFilled < start;
  const above = recordsFrom(records, 0, start).findLastIndex((line) => filledCells(line) > 0);
  const reason = [
    typed === 0
      ? 'all columns contain words: this is the first row of the usual width, and most tables have a header'
      : `${named} of the ${typed} columns with numbers, dates or addresses have a name in this row, ${alike} have such a value there`,
    ...(headerLines > 1 ? [titlesOf(headerLines - 1)] : []),
    ...(titles ? ['the lines above the table are not rows of it'] : []),
  ].join('; ');
  const evidence = typed === 0 ? WORDS_CONFIDENCE : EVEN_CHANCE + ((named - alike) / typed) * EVEN_CHANCE;
  const confidence = evidence * (titles ? BELOW_TITLES_FACTOR : 1);
  return { confidence: rounded(Math.max(0, confidence)), runnerUp: titles && above >= 0 ? above : null, reason };
}

function titlesOf(lines: number): string {
  return lines === 1 ? 'the line above it is a part of it' : `the ${lines} lines above it are a part of it`;
}

function noHeader(records: Records, firstFilled: number): Choice<number> {
  const record = textsOf(records, firstFilled);
  const { typed, alike } = compareWithBody(record, bodyBelow(upTo(records, HEADER_RECORDS_MAX), firstFilled));
  const reason =
    typed === 0
      ? 'the first row has no words that could be names'
      : `the first row has a number, date or address in ${alike} of the ${typed} columns that have them below`;
  const confidence = typed === 0 ? EVEN_CHANCE : EVEN_CHANCE + (alike / typed) * EVEN_CHANCE;
  return { confidence: rounded(confidence), runnerUp: firstFilled, reason };
}

function textsOf(records: Records, record: number): Cells {
  return record >= 0 && records.has(record) ? records.at(record) : [];
}
