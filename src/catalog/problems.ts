// Problems found while loading a catalog, and the limits of its files.

// Limits of a catalog's files. They prevent a mistake (a database dump copied into the folder, a link to a device)
// from filling the memory of a node, which reads the whole folder again after each change.

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const GIBIBYTE = 1024 * MEBIBYTE;

/** A plan takes a few hundred bytes. */
export const PLANS_FILE_BYTES_MAX = MEBIBYTE;

/** A key takes about 250 bytes, so this is enough for thousands. */
export const ACCOUNT_FILE_BYTES_MAX = 2 * MEBIBYTE;

/**
 * Templates are written by hand, and even those with large inline maps are smaller. Larger maps belong in a table.
 */
export const TEMPLATE_FILE_BYTES_MAX = MEBIBYTE;

/** Tables are read by the engine; the catalog only computes their digests. */
export const TABLE_FILE_BYTES_MAX = 4 * GIBIBYTE;

/** Test files are small; they are in memory while the tests run. */
export const TEST_FILE_BYTES_MAX = 16 * MEBIBYTE;

/** A key for HMAC-SHA-256, for which 32 bytes are enough. */
export const SECRET_FILE_BYTES_MAX = 4 * KIBIBYTE;

/** Maximum number of files in one folder. */
export const FOLDER_FILES_MAX = 50_000;

/** Maximum number of problems reported at once. */
const CATALOG_PROBLEMS_MAX = 200;

// Problems found while loading a catalog, each with file, position and suggested fix. Never contains secrets, keys or
// cell values.

export interface CatalogProblem {
  /** Path relative to the catalog's folder, with slashes. */
  readonly file: string;
  /** JSON pointer inside the file; '' means the whole file. */
  readonly pointer: string;
  /** Counted from 1; null if unknown. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
}

export class ProblemList {
  readonly problems: CatalogProblem[] = [];
  /** True if a problem is temporary and may disappear without any change in the folder. */
  isTemporary = false;
  #more = 0;

  add(file: string, pointer: string, message: string, line: number | null = null, column: number | null = null): void {
    if (this.problems.length < CATALOG_PROBLEMS_MAX) this.problems.push({ file, pointer, line, column, message });
    else this.#more += 1;
  }

  addAll({ problems, more, isTemporary }: ProblemList): void {
    this.isTemporary ||= isTemporary;
    for (const { file, pointer, message, line, column } of problems) this.add(file, pointer, message, line, column);
    this.#more += more;
  }

  get empty(): boolean {
    return this.problems.length === 0;
  }

  /** Number of all problems, listed or not. */
  get count(): number {
    return this.problems.length + this.#more;
  }

  /** True if further problems are only counted, so that callers need not build their messages. */
  get full(): boolean {
    return this.problems.length === CATALOG_PROBLEMS_MAX;
  }

  /** Number of problems that are not listed. */
  get more(): number {
    return this.#more;
  }
}

/** One line for a terminal or a log: `accounts/acme.json /keys/0/sha256: ...`. */
export function problemText(problem: CatalogProblem): string {
  const place = problem.line === null ? '' : `:${problem.line}${problem.column === null ? '' : `:${problem.column}`}`;
  return `${problem.file}${place}${problem.pointer === '' ? '' : ` ${problem.pointer}`}: ${problem.message}`;
}
