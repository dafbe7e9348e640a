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
  /** One of them may be gone the next time though nothing in the folder changes. */
  isPassing = false;
  #more = 0;

  add(file: string, pointer: string, message: string, line: number | null = null, column: number | null = null): void {
    if (this.problems.length < CATALOG_PROBLEMS_MAX) this.problems.push({ file, pointer, line, column, message });
    else this.#more += 1;
  }

  addAll({ problems, more, isPassing }: ProblemList): void {
    this.isPassing ||= isPassing;
    for (const { file, pointer, message, line, column } of problems) this.add(file, pointer, message, line, column);
    this.#more += more;
  }

  get empty(): boolean {
    return this.problems.length === 0;
  }

  /** Of all problems, also those that are not listed. */
  get count(): number {
    return this.problems.length + this.#more;
  }

  /** Whether further problems are counted only: what would be said of them need not be made. */
  get full(): boolean {
    return this.problems.length === CATALOG_PROBLEMS_MAX;
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
