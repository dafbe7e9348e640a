// What is wrong with a catalog: collected whole, each with its file, place and what to write instead. It never holds
// a secret, a key or a table's cell.
import { CATALOG_PROBLEMS_MAX } from './catalog-limits.ts';

export interface CatalogProblem {
  /** Relative to the catalog's folder, with slashes. */
  readonly file: string;
  /** JSON pointer inside the file, '' = the whole file. */
  readonly pointer: string;
  /** 1-based where they are known, else null. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export class ProblemList {
  readonly problems: CatalogProblem[] = [];
  #more = 0;

  add(file: string, pointer: string, message: string, line: number | null = null, column: number | null = null): void {
    if (this.problems.length < CATALOG_PROBLEMS_MAX) this.problems.push({ file, pointer, line, column, message });
    else this.#more += 1;
  }

  get empty(): boolean {
    return this.problems.length === 0;
  }

  /** Problems beyond those that are listed. */
  get more(): number {
    return this.#more;
  }
}

/** One line for a terminal or a log: `accounts/acme.json /keys/0/sha256: ...`. */
export function problemText(problem: CatalogProblem): string {
  const place = problem.line === null ? '' : `:${problem.line}${problem.column === null ? '' : `:${problem.column}`}`;
  return `${problem.file}${place}${problem.pointer === '' ? '' : ` ${problem.pointer}`}: ${problem.message}`;
}

/** ` Did you mean "x"?` for the candidate that is nearest to what was written, or '' when none is near. */
export function suggestion(written: string, candidates: Iterable<string>): string {
  let best = '';
  let bestDistance = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best === '' ? '' : ` Did you mean ${JSON.stringify(best)}?`;
}

/** Levenshtein's distance with neighbours swapped counted as one; `limit` when it is at least that. */
function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let cost = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, before[column - 2]! + 1);
      current.push(cost);
    }
    [before, above] = [above, current];
  }
  return Math.min(above[other.length]!, limit);
}
