// The name that was probably meant: the nearest known one by edit distance, for "Did you mean ...?".
import { PROBLEMS_MAX } from './source-node.ts';

/** Names compared at most: a suggestion is a courtesy and must not cost time on a file of 16,384 columns. */
const CANDIDATES_MAX = 2_000;

/** Longer names are not compared. */
const LENGTH_MAX = 100;

/** A sentence to append, such as ` Did you mean "amount"?`, or nothing. */
export function suggestion(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}

/** Suggestions for as many names as there are problems reported: thousands of names against thousands would take minutes. */
export function limitedSuggestions(): (name: string, known: () => Iterable<string>) => string {
  let left = PROBLEMS_MAX;
  return (name, known) => (--left < 0 ? '' : suggestion(name, known()));
}

/**
 * The nearest of the known names, when it is near enough to be meant; the first of equally near ones. Case, spaces,
 * hyphens and underlines do not count.
 */
export function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length > LENGTH_MAX) return null;
  const wanted = folded(name);
  // A third of the letters may differ: "amout" for "amount", not "date" for "rate_net".
  let best = wanted.length === 1 ? 1 : Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let nearest: string | null = null;
  let compared = 0;
  for (const candidate of known) {
    if (++compared > CANDIDATES_MAX) break;
    if (candidate.length > LENGTH_MAX) continue;
    const distance = editDistance(wanted, folded(candidate), best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

/** Damerau-Levenshtein in its restricted form (a swap of neighbours counts one); gives up at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
