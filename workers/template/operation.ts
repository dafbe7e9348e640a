// The interface of an operation: its parameters in a Template, its effect on the columns before the first row, and its
// processing of batches (start). The pipeline of a Run (workers/run/run.ts) calls it; the table of operations is
// index.ts.
import type { Batch } from '../batch/batch.ts';
import type { OrderedStep, SharedPages } from '../batch/ordered-parts.ts';
import type { Column, ColumnType, Schema } from '../batch/schema.ts';
import type { Static, TSchema } from '../bundled/type-box.ts';
import type { Tables } from '../execution/tables/run-tables.ts';
import type { MetaValues, PlacedFile } from '../input/reader.ts';
import type { Kernel } from '../kernel/bindings/kernel.ts';
import type { Arena } from '../memory/arena.ts';
import type { BudgetShare } from '../memory/budget.ts';
import type { SpillFile, SpillFolder } from '../memory/spill-file.ts';
import type { RowsAhead } from '../output/writer.ts';
import type { CodeCounts, OperationReport, RowErrorCode } from '../protocol/report.ts';
import { isSliced, type Pauses, type Sliced, type Slices, type Steps } from '../scheduling/time-slices.ts';
import type { Scope } from './scope.ts';
import type { OnError } from './template.ts';

/**
 * R: row-local. O: in order with constant state. K: keyed state that spills. B: needs all rows. E: check at the end.
 */
export type MemoryClass = 'R' | 'O' | 'K' | 'B' | 'E';

export const MEMORY_CLASSES: Readonly<Record<MemoryClass, string>> = {
  R: 'row by row',
  O: 'in order, constant state',
  K: 'state by key, spills to disk',
  B: 'needs all rows, sorts on disk',
  E: 'checked at the end',
};

/** Both documentation and test: run with batches of 1, 2 and 1,000 rows. Cells are texts or null. */
export interface OperationExample {
  readonly title: string;
  /** The operation as written in a Template (name and parameters). */
  readonly operation: Readonly<Record<string, unknown>>;
  readonly input: {
    readonly columns: readonly string[];
    /** Types of the columns if not all are text. Cells are then the texts of such values. */
    readonly types?: readonly ColumnType[];
    readonly rows: readonly (readonly (string | null)[])[];
  };
  /** Reference tables as CSV, by the name that the operation uses. */
  readonly tables?: Readonly<Record<string, string>>;
  readonly output: { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] };
}

/**
 * Receives batches. It may return before any work is done: the caller must drive the returned slices to their end, or
 * return them as its last action. The batch is valid until the slices end.
 */
export type Next = (batch: Batch) => Slices;

/** Environment of a running operation. Everything in it belongs to one Run. */
export interface OperatorContext {
  /** Columns before this operation, and after it. */
  readonly input: Schema;
  readonly output: Schema;
  /** Index of a column in `input`, or -1 if it is missing. */
  readonly indexOf: (column: Column) => number;
  /** For each output column, its index in `input`, or -1 for a new column (see `arrange` in copied-rows.ts). */
  readonly layout: readonly number[];
  /** Header texts of the file as written, by the id of the column. Blank for a column without a header. */
  readonly headers: ReadonlyMap<number, string>;
  readonly next: Next;
  /**
   * For the last operation, if the output permits: it may hold rows as encoded output bytes and emit those instead of
   * batches. Otherwise null.
   */
  readonly ahead: RowsAhead | null;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly budget: BudgetShare;
  readonly spill: SpillFolder;
  /** The reference tables that the Template declares, by their names in it. */
  readonly tables: Tables;
  readonly report: OperationReport;
  readonly errors: RowErrors;
  /** The common parameter `where` of an operation on cells; null for all rows. The cell operator applies it. */
  readonly where: RowChoice | null;
  /** Conditions that use the cell (`value`), by the id of the edited column. Other columns use `where`. */
  readonly cellWhere: ReadonlyMap<number, RowChoice>;
  /**
   * Schedules work before the first row, such as reading a table, which yields to other Runs of the thread. Only for
   * `start`: the work of all operators is done in the order of the calls, and the arena is empty at each step.
   */
  readonly beforeRows: (work: () => Steps) => void;
  /** Tells work on many columns, rows or batches when to pause. */
  readonly clock: Pauses;
  /** Must be called by an operator that runs out of memory and therefore holds rows back until the input ends. */
  readonly defersRows: () => void;
  /** Start time of the Run in RFC 3339 (`run.started_at`). */
  readonly startedAt: string;
  /** Name of the input file without folders (`run.file`); null if it has none. */
  readonly fileName: string | null;
  /** Values above and below the table of the file, by their names in the Template (`run.meta.<name>`). */
  readonly meta: MetaValues;
  /** The file of a source row, if several files are read one after the other; null for a single file. */
  readonly fileOf: ((sourceRow: number) => PlacedFile | null) | null;
  /** Folder with one file per secret of the account, named like the secret, or null. */
  readonly secretsDirectory: string | null;
  /**
   * Set for an operation whose `merges` is true, if several threads process the Run. With PartGroups, the operator writes
   * the groups of its rows to files. With MergedGroups, it receives no rows and emits the groups of all threads.
   */
  readonly groups?: PartGroups | MergedGroups | null;
  /**
   * Set for an operation with `inOrder`, if several threads process the Run: lets the parts of the file pass one after
   * the other.
   */
  readonly inOrder?: OrderedStep | null;
  /**
   * Set for the last operation if its `sortsParts` is true and several threads process the Run. With SortedParts, the
   * operator writes the sorted rows of each part to files. With SortedRanges, it receives no rows and writes one range of
   * the sorted rows after the other to the output.
   */
  readonly sorted?: SortedParts | SortedRanges | null;
}

/** Receives the sorted rows of the parts that one thread processes. */
export interface SortedParts {
  readonly kind: 'collect';
  /** Number of the current part. */
  readonly part: number;
  /** Memory for the rows that all threads use. */
  memory(budget: BudgetShare): SharedPages;
  /** The file for the rows of segments for which there is no memory. */
  rows(): SpillFile;
  /** The file to which the index of a segment is appended after its rows. */
  index(): SpillFile;
  /** Notes the size of a segment that was written. */
  wrote(sizeBytes: number): void;
  /** Closes the files and the memory. Does not remove them. */
  close(): void;
}

/** The sorted rows of all threads, divided into ranges. Several threads write the ranges. */
export interface SortedRanges {
  readonly kind: 'merge';
  /** Number of ranges. */
  readonly count: number;
  /** Number of the current range. */
  readonly range: number;
  memory(budget: BudgetShare): SharedPages;
  open(): readonly { readonly rows: SpillFile; readonly index: SpillFile }[];
  close(): void;
}

/**
 * The columns of an operation whose keys are independent of each other: the new cells of a row depend only on the rows
 * with the same key and on their order.
 */
export interface KeyedColumns {
  /** Columns that form the key. Rows with equal cells in them belong together. At least one. */
  readonly key: readonly Column[];
  /** Further columns that the operation reads. */
  readonly reads: readonly Column[];
  /** Columns that the operation compares, see withOrderCheck. */
  readonly compared: readonly Column[];
}

/** Rows that one thread groups. */
export interface RowsOfGroups {
  readonly rowCount: number;
  readonly groupCount: number;
  /** @param firstOrder order number of the first row of all; later rows have the next numbers */
  add(batch: Batch, firstOrder: number): Slices;
}

/** Receives the groups that one thread finds in its parts of a file. */
export interface PartGroups {
  readonly kind: 'collect';
  /** Number of the current part. */
  readonly part: number;
  create(): SpillFile;
  /** Adds a batch of the part. The order numbers of rows order the groups of all threads as in the file. */
  add(rows: RowsOfGroups, batch: Batch): Slices;
  /** Closes the files. Does not remove them, because another thread merges them. */
  close(): void;
}

/** The groups that all threads have found. */
export interface MergedGroups {
  readonly kind: 'merge';
  open(): readonly SpillFile[];
  /**
   * Rows are numbered within the parts of their thread. Returns the number to add to the row number of a row with this
   * order number, so that rows are numbered as in the file.
   */
  rowsBefore(order: number): number;
  close(): void;
}

/**
 * Keeps those of `count` rows (u32 physical rows at `rows`, compacted in place) for which a condition is true, and
 * returns their number. Calls `fail` for rows whose condition cannot be computed. It may allocate, and create views of
 * the batch's columns.
 */
export type RowChoice = (
  batch: Batch,
  rows: number,
  count: number,
  fail: (physicalRow: number, code: RowErrorCode) => void,
) => Sliced<number>;

/** Consequence of a row error, according to the operation's `on_error`. */
export type RowErrorAction = 'drop_row' | 'blank' | 'keep' | 'counted';

/**
 * Overrides the consequence for a part of an operation; null for the operation's own setting. `count` is for a guessed
 * value: the report counts it, and the row continues unchanged.
 */
export interface RowErrorRule {
  readonly onError: OnError | 'count' | null;
  /** Message from the Template for a Run that fails. */
  readonly message: string | null;
}

/** The only way in which an operation reports row errors. */
export interface RowErrors {
  /**
   * Counts the error and returns what to do with the row. With `flag`, it has written the code into the flag column of
   * the batch and returns 'blank'. With `fail`, the Run ends with TEMPLATE_ROW_ERROR and names the lowest such row; the
   * row then counts as dropped. `rule` is the part of the operation that found the error.
   */
  report(
    batch: Batch,
    physicalRow: number,
    column: string | null,
    code: RowErrorCode,
    rule?: RowErrorRule,
  ): RowErrorAction;
  /** Reports a failed check on all rows: the Run ends with TEMPLATE_CHECK_FAILED, unless a row error ends it. */
  failCheck(message: string): void;
  readonly counts: CodeCounts;
}

export interface Operator {
  /**
   * Processes a batch and emits any number of batches to `context.next`. Like `Next`, it may do so after it returns.
   */
  push(batch: Batch): Slices;
  /**
   * Called at the end of the input: emits the remaining rows and yields between batches, so that other Runs of the
   * thread continue.
   */
  finish?(): Steps;
  /** With SortedParts: called at the end of each part, before `finish`. */
  endPart?(): void;
  /** With SortedRanges: writes the rows of the current range to the output. */
  emitRange?(): Steps;
  /**
   * Number of further input rows that this operator certainly needs (Infinity if it always needs more). The pipeline
   * makes batches no larger, so that earlier operations never process rows after the end. 0 means that no more rows are
   * needed.
   */
  rowsWanted?(): number;
  /**
   * In addition to `rowsWanted`: the source row of the last row that was used, once no more rows are needed, otherwise
   * null. With this method, the pipeline may pass more rows than are needed; the operator must ignore rows after the
   * last one.
   */
  lastRow?(): number | null;
  /**
   * In addition to `lastRow`, for an operation with `inOrder`: waits for the parts before this one, and checks whether one
   * of them has ended the rows. Called after a batch of which no row has reached the operator.
   */
  seeEnd?(): Slices;
  /**
   * In addition to `rowsWanted`: finds the rows of a batch after which the operator may need no more rows. Returns them
   * as ascending counts of rows. Reads only the cells of `columns` (indexes in the input) and has no side effects:
   * errors are reported when the rows arrive.
   */
  readonly endsAhead?: { readonly columns: readonly number[]; of(batch: Batch): Sliced<readonly number[]> };
  /**
   * Called after `finish` for the last operation whose columns are named by rows (Scope.columnsOfRows): returns their
   * names. The Run then restarts with these names. null if a check has failed.
   */
  rowNames?(): readonly string[] | null;
  /** Maximum number of rows that the operator creates from one row; 1 by default. */
  readonly rowsMost?: number;
}

/** Names with the same meaning in other languages. */
export interface ForeignName {
  /** In lower case, separated by spaces. */
  readonly names: string;
  /** Most frequent form of the parameters for this meaning, or null if the operation's name is enough. */
  readonly form: string | null;
}

export interface OperationDefinition<P extends TSchema = TSchema, Plan = unknown> {
  readonly name: string;
  /** For the table of operations in the documents: starts with a verb in lower case, without a full stop. */
  readonly purpose: string;
  /** One or several sentences for the full reference. */
  readonly summary: string;
  /**
   * Names of the operation in other languages (SQL, pandas, spreadsheets), for hints in messages. They are never
   * accepted as names.
   */
  readonly knownAs?: readonly ForeignName[];
  /**
   * Names of parameters in other languages that do not correspond to a single parameter, with advice on what to write.
   * `*` is the advice for any other unknown parameter.
   */
  readonly parametersKnownAs?: Readonly<Record<string, string>>;
  /** Advice for missing parameters whose name alone does not explain why they are needed. */
  readonly missingParameters?: Readonly<Record<string, string>>;
  /**
   * Parameters in addition to the common ones (id, note, enabled, where, if_missing, on_error), which the schema adds.
   */
  readonly parameters: P;
  /** True for operations on cells: `where` and `on_error` apply to cells. */
  readonly cells: boolean;
  readonly memory: MemoryClass | ((parameters: Static<P>) => MemoryClass);
  /** For class K: true if it emits nothing before the last row. Class B never does. */
  readonly emitsAtEnd?: (parameters: Static<P>) => boolean;
  /**
   * For classes other than R: true if it treats each row alone as long as it does not call `defersRows`, so that several
   * threads may each process some of the rows. Decides before the file is read, from the parameters alone.
   */
  worksInParts?(parameters: Static<P>): boolean;
  /** Decides again when the types of the columns are known. Called only if `worksInParts` returned true. */
  columnsInParts?(plan: Plan): boolean;
  /** True if its parameters require the file of rejected rows, in addition to the common `on_error`. */
  rejects?(parameters: Static<P>): boolean;
  /** True if its parameters require the flag column, in addition to the common `on_error`. */
  flags?(parameters: Static<P>): boolean;
  /**
   * Names of the columns whose cells it edits, to which `value` in `where` refers. By default, those in its parameter
   * `columns` or `column`. null if a condition cannot refer to a single cell.
   */
  editedColumns?(parameters: Static<P>): readonly string[] | null;
  /**
   * Ids of the columns whose cells it changes in place; new columns may be included. Only for operations that emit each
   * row in the call in which it arrived, or never, or at the end. Without this method, anything may be changed.
   */
  edits?(plan: Plan): readonly number[];
  /**
   * True if several threads may each group some of the rows (OperatorContext.groups). Without this method, one thread
   * has to process all rows. Decides before the file is read, from the parameters alone.
   */
  merges?(parameters: Static<P>): boolean;
  /** Decides again when the types of the columns are known. Called only if `merges` returned true. */
  mergesColumns?(plan: Plan): boolean;
  /**
   * For an operation that several threads can share if the parts of the file pass it in their order
   * (OperatorContext.inOrder): 'keys' if it remembers keys, 'end' if it can end the rows. Null: one thread has to process
   * all rows.
   */
  inOrder?(parameters: Static<P>): 'keys' | 'end' | null;
  /**
   * True if several threads may process the rows by key (`byKey`). Decides before the file is read, from the parameters
   * alone.
   */
  hasKeys?(parameters: Static<P>): boolean;
  /**
   * Decides again when the columns are known. Called only if `hasKeys` returned true. Null: one thread has to process all
   * rows. Otherwise the operation is started with an input of the key columns, the other columns that it reads, and a
   * column of order numbers. Its output has the order numbers first, and then the new columns.
   */
  byKey?(plan: Plan, input: Schema): KeyedColumns | null;
  /**
   * True if several threads may each sort the rows of some parts of the file, and then write the rows in ranges
   * (OperatorContext.sorted), if it is the last operation.
   */
  readonly sortsParts?: boolean;
  /** Secrets of the account that its parameters name, with their place in the operation. */
  secrets?(parameters: Static<P>): readonly { readonly name: string; readonly pointer: string }[];
  readonly examples: readonly OperationExample[];
  /**
   * Runs the operation on names and types only. Called when a Template is checked (the columns may then be open: an
   * unknown name becomes a required column), and again with the columns of the file before its first row. The result is
   * passed to `start`. May be a generator, for work on each name of a wide file that takes more than microseconds. Use
   * `effectOf` to call it.
   */
  effect(parameters: Static<P>, scope: Scope): Plan | Sliced<Plan>;
  /** May be a generator for the same reason as `effect`. It may pause, but must not read rows. */
  start(plan: Plan, context: OperatorContext): Operator | Sliced<Operator>;
}

/** Erases the type parameters of a definition, so that the table can contain all operations. */
export function defineOperation<P extends TSchema, Plan>(
  definition: OperationDefinition<P, Plan>,
): OperationDefinition<P, Plan> {
  return definition;
}

/** Runs an operation's `effect`, with its pauses if it has any. */
export function* effectOf(
  definition: OperationDefinition,
  parameters: Parameters<OperationDefinition['effect']>[0],
  scope: Scope,
): Sliced<unknown> {
  const effect = definition.effect(parameters, scope);
  return isSliced(effect) ? yield* effect : effect;
}
