// The columns at one step of a Template, as an operation's `effect` sees and changes them. One implementation serves the
// check (open set: unknown names become required columns) and the Run (closed set: the file's own columns).
import type { Column, ColumnType } from '../batch/schema.ts';
import type { Type } from '../expression/check/type.ts';
import type { CompiledPattern } from './column-pattern.ts';

/** `"a"`, `["a","b"]`, `{pattern}`, `{type}`, `{except: [...]}`, `"*"`. */
export type ColumnSet =
  | string
  | readonly string[]
  | { readonly pattern: string }
  | { readonly type: ColumnType }
  | { readonly except: readonly string[] };

/** Beside which column a new one stands. */
export interface ColumnPosition {
  readonly column: Column;
  readonly side: 'before' | 'behind';
}

/**
 * `run_row`: the row's number, so that what becomes of a row depends on where in the file it stands. `started_at`: when the
 * Run started, so that the result depends on the day.
 */
export type RunFact = 'run_row' | 'started_at';

export interface Scope {
  /** The columns known at this step, in order. */
  readonly columns: readonly Column[];
  /** Columns of the reference tables that the Template declares; null where nobody has looked into the table yet. */
  readonly tables: ReadonlyMap<string, readonly string[] | null>;
  /** False when the file may bring more columns than are known (only while checking). */
  readonly closed: boolean;
  /**
   * A column that the operation reads. Unknown: in an open set it becomes required (as text); in a closed one it is a
   * problem with a suggestion. Null when it is missing and `if_missing` is skip, or after a problem; with `if_missing`
   * null a missing column is there as a column of nulls.
   * `pointer`: JSON pointer inside the operation, such as "/columns/0".
   */
  read(name: string, pointer: string): Column | null;
  /** What expressions may name beside columns: the file's values above and below its table (`run.meta.<name>`). */
  readonly variables: ReadonlyMap<string, Type>;
  /** What operations read besides their columns. */
  readonly uses: Set<RunFact>;
  /** A column that is known at this step; asking does not read it. */
  known(name: string): Column | null;
  /**
   * The columns of a set in the order written (a pattern, type, except or "*": in their own order), none twice. Listed
   * names are read as by `read`; the others range over the known columns without the flag column.
   */
  resolve(set: ColumnSet, pointer: string): readonly Column[];
  /** False for a column of nulls in place of one that the file lacks. */
  isPresent(column: Column): boolean;
  /**
   * A new column at the end, or in the place of another (beside it, if that stays). Problem when the name is taken.
   * `hasKinds`: of the column whose very cells it has.
   */
  add(name: string, type: ColumnType, pointer: string, place?: ColumnPosition, hasKinds?: true): Column;
  /** An edit in place that changes the type, or (`hasKinds`) makes texts that know their kinds. */
  retype(column: Column, type: ColumnType, hasKinds?: true): void;
  remove(column: Column): void;
  /** Simultaneous; a collision is a problem. */
  rename(names: ReadonlyMap<Column, string>, pointer: string): void;
  /** Columns that are not known yet change their names too (rename by pattern or style): later names are not the file's. */
  renameUnknown(): void;
  /** Columns whose names are not known yet are added: later unknown names may be theirs. */
  addUnknown(): void;
  /**
   * Names of columns that only rows name, and that the operation is to add: in the order of these rows, as an earlier try of
   * the Run found them (Operator.rowNames). Null while nobody knows them; the operation must be the last one.
   */
  columnsOfRows(): readonly string[] | null;
  /**
   * The columns from now on, in this order; closes the set (select, aggregate, pivot), unless the operation resolved a
   * pattern or "*", by which unknown columns may pass. With `rest`, others follow. The flag column stays, last.
   */
  arrange(columns: readonly Column[], options: { readonly rest: boolean }): void;
  /** Makes the set closed: after this an unknown name is an error of the Template itself. */
  close(): void;
  /** An RE2 pattern over names, or a sentence that says what to write instead. Compiled once for a Template. */
  compilePattern(source: string): CompiledPattern;
  /** What is no mistake but may not be meant: told to who checks the Template. */
  note(pointer: string, message: string): void;
  /** A sentence with the known name that was probably meant, or nothing: for some of a Template's mistakes, not for thousands. */
  suggest(name: string, known: () => Iterable<string>): string;
  /** A mistake in the Template at this place: what to write instead. */
  problem(pointer: string, code: string, message: string): void;
}
