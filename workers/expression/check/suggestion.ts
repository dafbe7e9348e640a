// Owns "did you mean": the nearest of the known names.

/** The known name nearest to a misspelt one, or null when none is near. Case and spaces count little. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const wanted = fold(name);
  // A third of the letters may be wrong: beyond that a suggestion misleads.
  let best = Math.floor(wanted.length / 3) + 1;
  let nearest: string | null = null;
  for (const candidate of known) {
    if (candidate.length > NAME_LENGTH_MAX) continue;
    const distance = editDistance(wanted, fold(candidate), best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** `Did you mean "amount"?` with a space before it, or nothing. */
export function suggestionText(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === null ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
}

/** Names longer than this are not compared: the cost grows with the product of the lengths. */
const NAME_LENGTH_MAX = 100;

function fold(name: string): string {
  return name
    .slice(0, NAME_LENGTH_MAX)
    .toLowerCase()
    .replace(/[\s_-]+/g, '');
}

/** Optimal string alignment: insert, delete, replace, swap neighbours; stops at `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column++) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + cost);
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        best = Math.min(best, before[column - 2]! + 1);
      }
      current.push(best);
      least = Math.min(least, best);
    }
    if (least >= limit) return limit;
    before = previous;
    previous = current;
  }
  return previous[right.length]!;
}
