// Messages between a command and the thread in which it watches Runs, in both directions. Plain values only.
import type { ColumnType } from '../batch/schema.ts';
import type { Failure } from '../protocol/failure.ts';
import type { FaultText } from '../protocol/fault-text.ts';
import type { TaskTable } from '../protocol/messages.ts';
import type { CodeCounts } from '../protocol/report.ts';
import type { TemplateText } from '../template/template-text.ts';
import type { Profile } from './column-profile.ts';
import type { KeptRow } from './kept-rows.ts';

export interface WatchThreadStart {
  readonly kernels: WebAssembly.Module;
  /** See MemoryBudget. */
  readonly budget: SharedArrayBuffer;
  /** One Int32: the number of the current Run. All other Runs end. */
  readonly wanted: SharedArrayBuffer;
  /** Folder used only by this thread. */
  readonly folder: string;
  readonly secretsDirectory: string | null;
}

export interface WatchRequest {
  readonly kind: 'watch';
  readonly template: TemplateText;
  readonly path: string;
  /** File name ending, without the dot. */
  readonly ending: string;
  /** Number of operations after which the columns are profiled. */
  readonly profiledStep: number;
  /** Maximum number of rows read; null: all rows. */
  readonly rowsMax: number | null;
  /** Source rows to process, ascending; null: all rows. */
  readonly pickedRows: readonly number[] | null;
  /** By name. */
  readonly tables: Readonly<Record<string, TaskTable>>;
  /** RFC 3339. */
  readonly startedAt: string;
}

export type RowFilter = 'all' | 'changed' | 'errors';

/** A value of a column, of which only the rows are shown. */
export interface CellFilter {
  /** Index of the column in the rows. */
  readonly column: number;
  /** Null: blank cells, unless there is a range. */
  readonly text: string | null;
  readonly range: ValueRange | null;
}

/** Numbers or dates from `from` on and before `to`, as texts; null: no limit. */
export interface ValueRange {
  readonly from: string | null;
  readonly to: string | null;
}

export interface RowsRequest {
  readonly kind: 'rows';
  /** Number of operations before the requested rows. */
  readonly step: number;
  readonly filter: RowFilter;
  /** Default: all values. */
  readonly cell?: CellFilter | null;
  /** Index of the first row among those that match the filter. */
  readonly from: number;
  readonly count: number;
}

/** Requests the history of a cell through all operations. */
export interface TraceRequest {
  readonly kind: 'trace';
  readonly sourceRow: number;
  readonly repeat: number;
  readonly columnId: number;
}

/** Requests cells of the file's own rows, for a test. */
export interface SourceRowsRequest {
  readonly kind: 'source_rows';
  readonly rows: readonly number[];
}

/** Requests the rows of a file that have cells of new shapes. The Template is used only to read the file. */
export interface ShapesRequest {
  readonly kind: 'shapes';
  readonly template: TemplateText;
  readonly path: string;
  readonly ending: string;
  /** Number of first rows that are already shown. */
  readonly firstRows: number;
  readonly tables: Readonly<Record<string, TaskTable>>;
  readonly startedAt: string;
}

export type WatchThreadRequest = ShapesRequest | WatchRequest | RowsRequest | TraceRequest | SourceRowsRequest;

export interface WatchedColumn {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
}

/** State after a number of operations; the first entry is the input. */
export interface WatchedStep {
  /** Name of the operation; null for the input. */
  readonly operation: string | null;
  readonly id: string | null;
  /** JSON pointer in the Template. */
  readonly pointer: string | null;
  /** Line in the Template, starting at 1. */
  readonly line: number | null;
  /**
   * False for operations of memory classes O, K, B and E, whose result depends on more than one row: it is
   * approximate if the file was not read to its end.
   */
  readonly isExact: boolean;
  readonly columns: readonly WatchedColumn[];
  readonly rows: number;
  /** Number over all rows. */
  readonly cellsChanged: number;
  /** Number of kept rows with changed cells, from anywhere in the file. */
  readonly changedRows: number;
  /** True if more rows may have changed. */
  readonly hasMoreChanged: boolean;
  readonly keptRows: number;
  readonly errors: CodeCounts;
}

export interface Watched {
  /** Null if the Run did not fail. */
  readonly failure: Failure | null;
  readonly steps: readonly WatchedStep[];
  readonly profiledStep: number;
  readonly profiles: readonly Profile[];
  /** True if not all rows were read. */
  readonly isPartial: boolean;
  /** Source rows with errors, ascending, limited in number. */
  readonly rowsWithErrors: readonly number[];
  readonly rowsRead: number;
  readonly rowsWritten: number | null;
  readonly headers: readonly string[];
  /** Record of the first row below the header, from 0. Null: not a file of records, such as a workbook. */
  readonly firstRecord: number | null;
  /** 0-based rows in the sheet of the first data rows, in the order of the file. Null: not a workbook. */
  readonly sheetRows: readonly number[] | null;
  readonly milliseconds: number;
}

export interface WatchedError {
  readonly column: string | null;
  readonly code: string;
}

export interface WatchedRow extends KeptRow {
  /** Number of the row in the file; null for a row that an operation added. */
  readonly fileRow: number | null;
  readonly errors: readonly WatchedError[];
}

export interface WatchedRows {
  /** Number of rows that match the filter. */
  readonly count: number;
  readonly from: number;
  readonly rows: readonly WatchedRow[];
}

export interface TracedCell {
  readonly operation: string | null;
  /** Name of the column at this step; null if the column does not exist there. */
  readonly column: string | null;
  /** False if the row is not among the rows kept at this step. */
  readonly isThere: boolean;
  readonly text: string | null;
  readonly isChanged: boolean;
  readonly errors: readonly WatchedError[];
}

export interface SourceRows {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

export type ToWatchThread = { readonly number: number; readonly request: WatchThreadRequest };

export type FromWatchThread =
  | { readonly kind: 'progress'; readonly number: number; readonly rowsRead: number }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: unknown }
  | { readonly kind: 'cancelled'; readonly number: number }
  | ({ readonly kind: 'fault'; readonly number: number } & FaultText);
