// The columns at one step of a Template, as an operation's `effect` reads and changes them. The same implementation
// is used for the check (open set: unknown names become required columns) and for the Run (closed set: the file's own
// columns).
import type { Column, ColumnType } from '../batch/schema.ts';
import type { Type } from '../expression/check/type.ts';
import type { Slices } from '../scheduling/time-slices.ts';
import type { CompiledPattern } from './column-pattern.ts';

/** `"a"`, `["a","b"]`, `{pattern}`, `{type}`, `{except: [...]}`, `"*"`. */
export type ColumnSet =
  | string
  | readonly string[]
  | { readonly pattern: string }
  | { readonly type: ColumnType }
  | { readonly except: readonly string[] };

/**
 * Whether a set may match no column although all columns are known. `some`: only with `if_missing: skip`. `one`: never,
 * because all rows or cells would be lost. `any`: always, because the operation then has nothing to do.
 */
export type SetNeed = 'some' | 'one' | 'any';

/** Declared types of columns, by the Template's name of the reference table. */
export type TableTypes = Readonly<Record<string, { readonly columns?: Readonly<Record<string, ColumnType>> }>>;

/** Position of a new column, relative to an existing one. */
export interface ColumnPosition {
  readonly column: Column;
  readonly side: 'before' | 'after';
}

/**
 * `run_row`: the number of the row, so that the result for a row depends on its position in the file. `started_at`:
 * the start time of the Run, so that the result depends on the day.
 */
export type RunFact = 'run_row' | 'started_at';

export interface Scope {
  /** The columns known at this step, in order. */
  readonly columns: readonly Column[];
  /** Columns of the reference tables that the Template declares; null if the table has not been read yet. */
  readonly tables: ReadonlyMap<string, readonly string[] | null>;
  /** Types of the columns of reference tables, by the names of the tables. Columns without a type are texts. */
  readonly tableTypes: TableTypes;
  /** False if the file may have more columns than are known (only during the check). */
  readonly closed: boolean;
  /**
   * Returns a column that the operation reads. In an open set, an unknown name becomes a required text column; in a
   * closed set it is a problem, with a suggestion. Returns null after a problem, or if the column is missing and
   * `if_missing` is skip. With `if_missing: null`, a missing column is a column of nulls.
   * @param pointer JSON pointer inside the operation, such as "/columns/0"
   */
  read(name: string, pointer: string): Column | null;
  /** Variables of expressions other than columns: the values above and below the file's table (`run.meta.<name>`). */
  readonly variables: ReadonlyMap<string, Type>;
  /** Facts about the Run that operations read in addition to their columns. */
  readonly uses: Set<RunFact>;
  /** Returns a column known at this step, without marking it as read. */
  known(name: string): Column | null;
  /**
   * Returns the columns of a set without duplicates, in the order written; for a pattern, type, except or "*", in
   * column order. Listed names are read as by `read`; the other forms select from the known columns without the flag
   * column. A set that matches no column is a problem, see SetNeed.
   */
  resolve(set: ColumnSet, pointer: string, need?: SetNeed): readonly Column[];
  /**
   * Reports that the operation can use none of the columns that a set matches. The problem is the same as for a set
   * that matches no column.
   */
  noneFits(set: ColumnSet, pointer: string): void;
  /** Returns false for a column of nulls that replaces a column missing from the file. */
  isPresent(column: Column): boolean;
  /**
   * Adds a new column at the end, or next to another column. Reports a problem if the name is in use.
   * @param hasKinds set if the column copies the cells of a column that has kinds
   */
  add(name: string, type: ColumnType, pointer: string, place?: ColumnPosition, hasKinds?: true): Column;
  /** Changes the type of a column that is edited in place; `hasKinds` marks texts that have kinds. */
  retype(column: Column, type: ColumnType, hasKinds?: true): void;
  /** Sets Column.clock of a datetime column; undefined = UTC. */
  setClock(column: Column, clock: string | undefined): void;
  remove(column: Column): void;
  /** Renames all columns simultaneously. A collision of names is a problem. Must be driven to its end. */
  rename(names: ReadonlyMap<Column, string>, pointer: string): Slices;
  /**
   * Declares that columns which are not known yet are renamed too (by a pattern or style). Names read later are then
   * not names of the file.
   */
  renameUnknown(): void;
  /** Declares that columns with unknown names are added. Unknown names read later may refer to them. */
  addUnknown(): void;
  /**
   * Names of columns that only the rows determine and that the operation adds, in the order of these rows. An earlier
   * attempt of the Run has found them (Operator.rowNames). Null if they are not known yet; the operation must then be
   * the last one.
   */
  columnsOfRows(): readonly string[] | null;
  /**
   * Sets the columns from now on, in this order. Closes the set (select, aggregate, pivot), unless the operation has
   * resolved a pattern or "*", which may select unknown columns. With `rest`, the other columns follow. The flag
   * column stays at the end.
   */
  arrange(columns: readonly Column[], options: { readonly rest: boolean }): void;
  /** Closes the set: from now on, an unknown name is a mistake in the Template. */
  close(): void;
  /**
   * Compiles an RE2 pattern for names, once per Template. Returns a sentence about what to write instead if the
   * pattern is invalid.
   */
  compilePattern(source: string): CompiledPattern;
  /**
   * Adds a hint about something that is allowed but may be unintended. It is shown to the person who checks the
   * Template.
   */
  note(pointer: string, message: string): void;
  /**
   * A sentence with the known name that was probably meant, or ''. Limited to some of a Template's mistakes, because
   * thousands would take too long.
   */
  suggest(name: string, known: () => Iterable<string>): string;
  /** Reports a mistake in the Template at this position. The message says what to write instead. */
  problem(pointer: string, code: string, message: string): void;
}
