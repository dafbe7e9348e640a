// Groups of values that are probably the same: with the same fingerprint, or with a high similarity. The measures are
// those of the Template language: the function `fingerprint`, and `similar` of dedupe with `match: normal`.
import { headerKey } from '../../workers/template/file-columns.ts';
import { fingerprintOf, jaroWinkler, similarityMax } from '../../workers/values/similarity.ts';
import type { WatchedColumn } from '../../workers/watch/watch-messages.ts';
import { counted } from '../drafts/draft-line.ts';
import type { SimilarityMethod, SimilarValues, SimilarValuesAnswer, Suggestion } from './studio-answers.ts';

/** Maximum number of groups that the page shows: as many as a person can review at once. */
const GROUPS_MAX = 100;

/** Longer texts are documents, not values. In characters. */
const VALUE_CHARACTERS_MAX = 200;

/** Maximum number of distinct values that are compared: half a million comparisons, about 0.2 s of work. */
const COMPARED_VALUES_MAX = 1_000;

/** Lowest similarity that can be asked for, as for `dedupe`. */
const THRESHOLD_MIN = 0.5;

/** Tolerance for rounding errors when a similarity is compared with the threshold. */
const ROUNDING = 1e-9;

interface CountedValue {
  readonly text: string;
  readonly count: number;
}

/** The groups with several values, those with the most rows first. The most frequent value of a group is its first. */
export function similarValues(
  cells: readonly (string | null)[],
  { method, threshold }: SimilarityMethod,
): SimilarValuesAnswer {
  const values = countedValues(cells);
  const compared = method === 'similarity' ? values.slice(0, COMPARED_VALUES_MAX) : values;
  const all =
    method === 'similarity' ? bySimilarity(compared, Math.max(THRESHOLD_MIN, threshold)) : byFingerprint(compared);
  const several = all.filter((group) => group.length > 1);
  several.sort((one, other) => rowsOf(other) - rowsOf(one));
  return {
    groups: several.slice(0, GROUPS_MAX),
    groupsFound: several.length,
    values: values.length,
    valuesCompared: compared.length,
  };
}

/** Returns the number of rows with a value of the group. */
function rowsOf(values: SimilarValues): number {
  return values.reduce((sum, { count }) => sum + count, 0);
}

/** The most frequent values first; equally frequent ones in the order of the rows. */
function countedValues(cells: readonly (string | null)[]): readonly CountedValue[] {
  const counts = new Map<string, number>();
  for (const text of cells) {
    if (text === null || text.trim() === '' || text.length > VALUE_CHARACTERS_MAX) continue;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count);
}

/** A text without letters and digits is its own group. */
function byFingerprint(values: readonly CountedValue[]): readonly SimilarValues[] {
  const groups = new Map<string, CountedValue[]>();
  for (const value of values) {
    const key = fingerprintOf(value.text) || value.text;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return [...groups.values()];
}

/** A group, and what its first value needs for comparisons. */
interface ComparedGroup extends Compared {
  readonly values: CountedValue[];
}

interface Compared {
  readonly points: readonly string[];
  /** A set bit for each letter that occurs, by its code point modulo 32. */
  readonly letters: number;
}

/**
 * Each value joins the group whose first value is the most similar one. So the result depends on the values and their
 * counts only, and two values that are each similar to a third one do not become one group by that alone.
 */
function bySimilarity(values: readonly CountedValue[], threshold: number): readonly SimilarValues[] {
  const groups: ComparedGroup[] = [];
  for (const value of values) {
    const compared = comparedOf(value.text);
    let best: ComparedGroup | null = null;
    let highest = threshold;
    for (const group of groups) {
      const found = similarityOf(compared, group, highest);
      // The first of equally similar groups is the one with the most frequent value.
      if (found < highest || (found === highest && best !== null)) continue;
      best = group;
      highest = found;
    }
    if (best === null) groups.push({ values: [value], ...compared });
    else best.values.push(value);
  }
  return groups.map((group) => group.values);
}

function comparedOf(text: string): Compared {
  const points = [...headerKey(text, 'normal')];
  return { points, letters: points.reduce((bits, point) => bits | (1 << (point.codePointAt(0)! & 31)), 0) };
}

/** 0 if it is certainly below the threshold. */
function similarityOf(left: Compared, right: Compared, threshold: number): number {
  // Each letter that only one of the texts has is at least one character without a match.
  const matches = Math.min(
    left.points.length - bitsOf(left.letters & ~right.letters),
    right.points.length - bitsOf(right.letters & ~left.letters),
  );
  if (similarityMax(left.points.length, right.points.length, matches) + ROUNDING < threshold) return 0;
  return jaroWinkler(left.points, right.points);
}

function bitsOf(bits: number): number {
  let [left, count] = [bits, 0];
  for (; left !== 0; left &= left - 1) count++;
  return count;
}

// Similar values that are suggested as steps.

export interface StepRows {
  readonly columns: readonly WatchedColumn[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/**
 * Minimum similarity of values that are suggested as a step without a review. Names with one wrong letter reach it. The
 * review in the page starts with the same groups.
 */
const SUGGESTED_SIMILARITY = 0.93;

/** Columns with more distinct values, or with fewer rows for each value, probably contain names, texts or numbers. */
const CLUSTERED_VALUES_MAX = 300;
const ROWS_PER_VALUE_MIN = 2;

/** A value is probably a misspelling if the most frequent value of its group occurs this many times as often. */
const MISSPELT_SHARE = 3;

/** Similar values of text columns, as one step for each column and method. */
export function similarSuggestions({ columns, rows }: StepRows): readonly Suggestion[] {
  return columns.flatMap(({ name, type }, index) => {
    if (type !== 'text') return [];
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null && /\p{L}/u.test(cell));
    const same = { method: 'fingerprint', threshold: SUGGESTED_SIMILARITY } as const;
    const equal = similarValues(cells, same).groups.map(withSameNumbers);
    const close = { method: 'similarity', threshold: SUGGESTED_SIMILARITY } as const;
    const distinct = new Set(cells).size;
    const isClustered = distinct <= CLUSTERED_VALUES_MAX && distinct * ROWS_PER_VALUE_MIN <= cells.length;
    const misspelt = isClustered ? similarValues(cells.filter(isWord), close).groups.map(withMisspelt) : [];
    return [...mapSuggestion(name, equal, same), ...mapSuggestion(name, misspelt, close)];
  });
}

/** Values with different digits, such as house numbers, are different things. */
function withSameNumbers(values: SimilarValues): SimilarValues {
  const digits = (text: string): string => (text.match(/\d+/g) ?? []).join(' ');
  return values.filter(({ text }) => digits(text) === digits(values[0]!.text));
}

/** Values with digits are probably codes or addresses, and short words that differ in one letter are different words. */
function isWord(text: string | null): boolean {
  return text !== null && /^\P{N}{6,}$/u.test(text);
}

/** The most frequent value and its rare variants, without those with the same fingerprint, which another suggestion has. */
function withMisspelt(values: SimilarValues): SimilarValues {
  const [first, ...others] = values;
  const key = fingerprintOf(first!.text);
  const rare = others.filter(
    ({ text, count }) => count * MISSPELT_SHARE <= first!.count && fingerprintOf(text) !== key,
  );
  return [first!, ...rare];
}

function mapSuggestion(
  name: string,
  found: readonly SimilarValues[],
  similarity: SimilarityMethod,
): readonly Suggestion[] {
  const groups = found.filter((values) => values.length > 1);
  if (groups.length === 0) return [];
  const replaced = groups.flatMap(([first, ...others]) => others.map((value) => ({ ...value, by: first!.text })));
  const map = Object.fromEntries(replaced.map(({ text, by }) => [text, by]));
  const how =
    similarity.method === 'fingerprint'
      ? 'that differ only in case, accents, punctuation, spaces or the order of words'
      : `with a similarity of at least ${similarity.threshold}, of which one is at least ${MISSPELT_SHARE} times as frequent as each other`;
  const evidence = `${counted(groups.length, 'group')} of values ${how}; ${counted(rowsOf(replaced), 'cell')} would change`;
  return [{ operation: 'map_values', parameters: { columns: name, map }, evidence, similarity }];
}
