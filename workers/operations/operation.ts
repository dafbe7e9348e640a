// The contract of an operation: what a Template says of it (parameters), what it does to the columns before the first
// row (effect), and what it does to batches (start). The conveyor (workers/run/run.ts) drives it, the table is index.ts.
import type { Batch } from '../batch/batch.ts';
import type { Column, ColumnType, Schema } from '../batch/schema.ts';
import type { Static, TSchema } from '../bundled/type-box.ts';
import type { SpillFolder } from '../execution/spill/spill-folder.ts';
import type { Tables } from '../execution/tables/table-cache.ts';
import type { MetaValues } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { RowsAhead } from '../output/writer.ts';
import type { CodeCounts, OperationReport, RowErrorCode } from '../run/report.ts';
import type { Pauses } from '../run/slice-clock.ts';
import type { Sliced, Slices, Steps } from '../run/time-slices.ts';
import type { Scope } from '../template/scope.ts';
import type { OnError } from '../template/template.ts';

/** R row-local, O in order with constant state, K keyed state that spills, B needs all rows, E check at the end. */
export type MemoryClass = 'R' | 'O' | 'K' | 'B' | 'E';

export const MEMORY_CLASSES: Readonly<Record<MemoryClass, string>> = {
  R: 'row by row',
  O: 'in order, constant state',
  K: 'state by key, spills to disk',
  B: 'needs all rows, sorts on disk',
  E: 'checked at the end',
};

/** Documentation and test in one: run with batches of 1, 2 and 1,000 rows. Cells are texts or null. */
export interface OperationExample {
  readonly title: string;
  /** The operation as it stands in a Template (name and parameters). */
  readonly operation: Readonly<Record<string, unknown>>;
  readonly input: {
    readonly columns: readonly string[];
    /** Types of the columns where they are not all text; cells are then the texts of such values. */
    readonly types?: readonly ColumnType[];
    readonly rows: readonly (readonly (string | null)[])[];
  };
  /** Reference tables as CSV, by the name that the operation uses. */
  readonly tables?: Readonly<Record<string, string>>;
  readonly output: { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] };
}

/**
 * Receives batches. Nothing may be done yet when it returns: whoever hands a batch on drives the slices that it is given
 * to their end, or returns them as its last act. So long, and no longer, the batch is valid.
 */
export type Next = (batch: Batch) => Slices;

/** What a running operation has around it. Everything here belongs to one Run. */
export interface OperatorContext {
  /** Columns before this operation, and after it. */
  readonly input: Schema;
  readonly output: Schema;
  /** Index of a column in `input`, -1 for one that is not there. */
  readonly indexOf: (column: Column) => number;
  /** For each output column its index in `input`, or -1 for a new column (see `arrange` in arrange.ts). */
  readonly layout: readonly number[];
  /** The file's header texts as they stand, by the id of the column that came from there; blank where there is none. */
  readonly headers: ReadonlyMap<number, string>;
  readonly next: Next;
  /**
   * For the last operation, where the output allows it: it may hold rows as the bytes that they become, and hands those on
   * instead of batches. Else null.
   */
  readonly ahead: RowsAhead | null;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  /** The reference tables that the Template declares, by its names for them. */
  readonly tables: Tables;
  readonly report: OperationReport;
  readonly errors: RowErrors;
  /** The common parameter `where` of an operation on cells; null: it works on all rows. The frame of cells obeys it. */
  readonly where: RowChoice | null;
  /** The same, where it asks each cell (`value`): by the id of the column that is edited. Others go by `where`. */
  readonly cellWhere: ReadonlyMap<number, RowChoice>;
  /**
   * Does work before the first row, such as the reading of a table, that yields so that other Runs of the thread can go on.
   * Only for `start`: the work of all operators is done in the order in which they asked, the arena is empty at each step.
   */
  readonly beforeRows: (work: () => Steps) => void;
  /** For work that goes through many columns or rows, or hands several batches on: when it has to pause. */
  readonly clock: Pauses;
  /** RFC 3339 time at which the Run started (`run.started_at`). */
  readonly startedAt: string;
  /** The file's values above and below its table, by the Template's names for them (`run.meta.<name>`). */
  readonly meta: MetaValues;
  /** Folder with a file for each secret of the account, by its name; null = it has none. */
  readonly secretsDirectory: string | null;
}

/**
 * Keeps those of `count` rows (u32 physical rows at `rows`, compacted in place) for which a condition is true; gives how
 * many. `fail` hears of the rows for which nobody can say. It may allocate, and make views of columns of the batch.
 */
export type RowChoice = (
  batch: Batch,
  rows: number,
  count: number,
  fail: (physicalRow: number, code: RowErrorCode) => void,
) => Sliced<number>;

/** What became of a row in trouble, by the operation's `on_error`. */
export type RowErrorAction = 'drop_row' | 'blank' | 'keep';

/** A rule of an operation that says itself what becomes of a row; null: as the operation does. */
export interface RowErrorRule {
  readonly onError: OnError | null;
  /** The Template's own words, for the message of a Run that ends. */
  readonly message: string | null;
}

/** The one way in which an operation reports a row in trouble. */
export interface RowErrors {
  /**
   * Counts the error and says what to do with the row; with `flag` it has noted the code in the batch's flag column and
   * gives 'blank'. With `fail` the Run ends TEMPLATE_ROW_ERROR naming the lowest such row; the row then counts as dropped.
   * `rule`: the part of the operation that found it.
   */
  report(
    batch: Batch,
    physicalRow: number,
    column: string | null,
    code: RowErrorCode,
    rule?: RowErrorRule,
  ): RowErrorAction;
  /** A check on all rows that did not hold: the Run ends TEMPLATE_CHECK_FAILED, unless a row ends it. */
  failCheck(message: string): void;
  readonly counts: CodeCounts;
}

export interface Operator {
  /** Takes a batch, hands none, one or several on to `context.next`. As `Next`, it may do all of that later. */
  push(batch: Batch): Slices;
  /** End of the input: hands on what is left, yielding between batches so that other Runs of the thread can go on. */
  finish?(): Steps;
  /**
   * How many more input rows this operator takes for sure before it has had enough (Infinity: never has). The conveyor
   * makes batches no larger, so that rows behind the end never reach earlier operations; 0 means it is satisfied.
   */
  rowsWanted?(): number;
  /**
   * Beside `rowsWanted`: the source row of the last row it took, once it has had enough, else null. With it the conveyor
   * may hand on more rows than are wanted: what lies behind must be ignored.
   */
  lastRow?(): number | null;
  /**
   * Beside `rowsWanted`: behind which of a batch's rows it may have had enough (so many rows in, rising), from the cells of
   * `columns` (indexes in its input) alone. Asking changes nothing: errors are reported when the rows come.
   */
  readonly endsAhead?: { readonly columns: readonly number[]; of(batch: Batch): Sliced<readonly number[]> };
  /**
   * After `finish`, of the last operation whose columns rows name (Scope.columnsOfRows): their names. The Run then begins
   * again and knows them. Null where a check has failed.
   */
  rowNames?(): readonly string[] | null;
  /** How many rows may come of one at most, for an operator that makes more of them; 1 unless given. */
  readonly rowsMost?: number;
}

/** Names that mean the same. */
export interface ForeignName {
  /** In lower case, with spaces between them. */
  readonly names: string;
  /** The parameters as they are then written most often; null: the operation's name says enough. */
  readonly form: string | null;
}

export interface OperationDefinition<P extends TSchema = TSchema, Plan = unknown> {
  readonly name: string;
  /** One sentence for the reference. */
  readonly summary: string;
  /** What it is called in other languages (SQL, pandas, spreadsheets): for hints in messages, never a meaning. */
  readonly knownAs?: readonly ForeignName[];
  /**
   * By what other languages call a parameter, where that does not stand for one other parameter: what to write instead.
   * `*`: for whatever else is no parameter.
   */
  readonly parametersKnownAs?: Readonly<Record<string, string>>;
  /** What to write for a parameter that is missing, where its name alone does not tell why it is needed. */
  readonly missingParameters?: Readonly<Record<string, string>>;
  /** Parameters beside the common ones (id, note, enabled, where, if_missing, on_error), which the schema adds. */
  readonly parameters: P;
  /** True for operations on cells: `where` and `on_error` apply to them. */
  readonly cells: boolean;
  readonly memory: MemoryClass | ((parameters: Static<P>) => MemoryClass);
  /** For class K: true when it hands on nothing before it has seen the last row (B never does). */
  readonly handsOnAtEnd?: (parameters: Static<P>) => boolean;
  /** Whether its parameters ask for the file of rejected rows beside the common `on_error`. */
  rejects?(parameters: Static<P>): boolean;
  /** Whether its parameters ask for the flag column beside the common `on_error`. */
  flags?(parameters: Static<P>): boolean;
  /**
   * Names of the columns whose cells it edits, which `value` in `where` is. Without it they are those of its parameter
   * `columns` or `column`. Null: a condition cannot ask for one cell.
   */
  editedColumns?(parameters: Static<P>): readonly string[] | null;
  /**
   * Ids of the columns whose cells it changes in place; those that it makes may be among them. Only where what becomes of
   * a row is handed on in the call in which it came, or not at all, or at the end; without it anything may be changed.
   */
  edits?(plan: Plan): readonly number[];
  /** Secrets of the account that its parameters name, with where they stand in the operation. */
  secrets?(parameters: Static<P>): readonly { readonly name: string; readonly pointer: string }[];
  readonly examples: readonly OperationExample[];
  /**
   * Runs the operation over names and types alone. Called when a Template is checked (the set of columns may be open:
   * an unknown name becomes a required column) and again with the file's own columns before its first row. What it
   * returns is handed to `start`.
   */
  effect(parameters: Static<P>, scope: Scope): Plan;
  start(plan: Plan, context: OperatorContext): Operator;
}

/** Fixes the types of one operation's definition for the table, which holds operations of all kinds. */
export function defineOperation<P extends TSchema, Plan>(
  definition: OperationDefinition<P, Plan>,
): OperationDefinition<P, Plan> {
  return definition;
}
