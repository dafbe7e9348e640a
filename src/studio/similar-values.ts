// Values that differ only in case, accents, punctuation, spaces or the order of their words.
import { normalise } from '../../workers/values/normalise.ts';
import type { SimilarValues } from './studio-answers.ts';

/** Groups of similar values that a person reviews at once. */
const GROUPS_MAX = 100;

/** Longer texts are documents, not values. In characters. */
const VALUE_CHARACTERS_MAX = 200;

/** The groups with several values, those with the most rows first. The most frequent value of a group is its first. */
export function similarValues(cells: readonly (string | null)[]): readonly SimilarValues[] {
  const groups = new Map<string, Map<string, number>>();
  for (const text of cells) {
    if (text === null || text.trim() === '' || text.length > VALUE_CHARACTERS_MAX) continue;
    const key = fingerprint(text);
    const counts = groups.get(key) ?? new Map<string, number>();
    counts.set(text, (counts.get(text) ?? 0) + 1);
    groups.set(key, counts);
  }
  return [...groups.values()]
    .filter((counts) => counts.size > 1)
    .map((counts) => [...counts].map(([text, count]) => ({ text, count })).sort((a, b) => b.count - a.count))
    .sort((one, other) => rowsOf(other) - rowsOf(one))
    .slice(0, GROUPS_MAX);
}

function rowsOf(values: SimilarValues): number {
  return values.reduce((sum, { count }) => sum + count, 0);
}

/** The words of a text without case, accents and punctuation, in order. A text without words is its own group. */
function fingerprint(text: string): string {
  const plain = normalise(text, 'NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return words.length === 0 ? text : [...new Set(words)].sort().join(' ');
}
