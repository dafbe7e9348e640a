// Finds the name that was probably meant: the nearest known name by edit distance, for "Did you mean ...?".

/** Maximum number of suggestions in one list of problems: as many as the problems of a Template that are reported. */
const SUGGESTIONS_MAX = 50;

/** Maximum number of names compared: a suggestion must not take long for a file with 16,384 columns. */
const CANDIDATES_MAX = 2_000;

/** Longer names are not compared. In UTF-16 units. */
const LENGTH_MAX = 100;

/** A sentence to append, such as ` Did you mean "amount"?`, or ''. */
export function suggestion(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}

/** Limits the number of suggestions: comparing thousands of names with thousands would take minutes. */
export function limitedSuggestions(): (name: string, known: () => Iterable<string>) => string {
  let left = SUGGESTIONS_MAX;
  return (name, known) => (--left < 0 ? '' : suggestion(name, known()));
}

/**
 * The nearest known name if it is close enough to be meant; among equally close names, the first. Ignores case,
 * spaces, hyphens and underscores.
 */
export function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length > LENGTH_MAX) return null;
  const wanted = folded(name);
  // A third of the letters may differ: "amout" matches "amount", but "date" does not match "rate_net".
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

/** Damerau-Levenshtein distance in its restricted form (a swap of neighbours counts as one edit). Stops at `limit`. */
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
