// What crosses between a command and the thread in which it watches Runs, both ways. Plain values only.
import type { ColumnType } from '../batch/schema.ts';
import type { Failure } from '../protocol/failure.ts';
import type { TaskTable } from '../protocol/messages.ts';
import type { CodeCounts } from '../run/report.ts';
import type { TemplateText } from '../template/template-text.ts';
import type { Profile } from './column-profile.ts';
import type { KeptRow } from './kept-rows.ts';

export interface WatchThreadStart {
  readonly kernels: WebAssembly.Module;
  /** See MemoryBudget. */
  readonly budget: SharedArrayBuffer;
  /** One Int32: the number of the Run that is wanted; others end. */
  readonly wanted: SharedArrayBuffer;
  /** A folder of the thread's own. */
  readonly folder: string;
  readonly tables: Readonly<Record<string, TaskTable>>;
  readonly secretsDirectory: string | null;
}

export interface WatchRequest {
  readonly kind: 'watch';
  readonly template: TemplateText;
  readonly path: string;
  /** Of the file's name, without the dot. */
  readonly ending: string;
  /** Operations behind which the columns are profiled. */
  readonly profiledStep: number;
  /** Rows that are read at most; null: all. */
  readonly rowsMax: number | null;
  /** Source rows, ascending, that are run alone; null: all. */
  readonly pickedRows: readonly number[] | null;
  /** RFC 3339. */
  readonly startedAt: string;
}

export type RowFilter = 'all' | 'changed' | 'errors';

export interface RowsRequest {
  readonly kind: 'rows';
  /** Behind so many operations. */
  readonly step: number;
  readonly filter: RowFilter;
  /** Index of the first row among those that the filter lets through. */
  readonly from: number;
  readonly count: number;
}

/** The way of a cell through all operations. */
export interface TraceRequest {
  readonly kind: 'trace';
  readonly sourceRow: number;
  readonly repeat: number;
  readonly columnId: number;
}

/** The cells of the file's own rows, for a test. */
export interface SourceRowsRequest {
  readonly kind: 'source_rows';
  readonly rows: readonly number[];
}

/** Where in a file cells of new shapes stand. The Template reads the file and does no more. */
export interface ShapesRequest {
  readonly kind: 'shapes';
  readonly template: TemplateText;
  readonly path: string;
  readonly ending: string;
  /** The first rows, of which it is known that they are shown. */
  readonly firstRows: number;
  readonly startedAt: string;
}

export type WatchThreadRequest = ShapesRequest | WatchRequest | RowsRequest | TraceRequest | SourceRowsRequest;

export interface WatchedColumn {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
}

/** What stands behind so many operations: the first is the input. */
export interface WatchedStep {
  /** The operation's name; null for the input. */
  readonly operation: string | null;
  readonly id: string | null;
  /** JSON pointer in the Template. */
  readonly pointer: string | null;
  /** In the Template, from 1. */
  readonly line: number | null;
  /** O, K, B and E depend on more than one row: approximate where the file was not read to its end. */
  readonly isExact: boolean;
  readonly columns: readonly WatchedColumn[];
  readonly rows: number;
  /** Of all rows. */
  readonly cellsChanged: number;
  /** Rows with changed cells that are kept, wherever they stand in the file. */
  readonly changedRows: number;
  /** There may be more of them. */
  readonly hasMoreChanged: boolean;
  readonly keptRows: number;
  readonly errors: CodeCounts;
}

export interface Watched {
  /** Null: it was cancelled for a later one. */
  readonly failure: Failure | null;
  readonly steps: readonly WatchedStep[];
  readonly profiledStep: number;
  readonly profiles: readonly Profile[];
  /** Not all rows were read. */
  readonly isPartial: boolean;
  /** Source rows in trouble, ascending, up to a ceiling. */
  readonly troubledRows: readonly number[];
  readonly rowsRead: number;
  readonly rowsWritten: number | null;
  readonly headers: readonly string[];
  readonly milliseconds: number;
}

export interface WatchedTrouble {
  readonly column: string | null;
  readonly code: string;
}

export interface WatchedRow extends KeptRow {
  readonly troubles: readonly WatchedTrouble[];
}

export interface WatchedRows {
  /** That the filter lets through. */
  readonly count: number;
  readonly from: number;
  readonly rows: readonly WatchedRow[];
}

export interface TracedCell {
  readonly operation: string | null;
  /** Name of the column there; null: there is none. */
  readonly column: string | null;
  /** False: the row is not among those that are kept there. */
  readonly isThere: boolean;
  readonly text: string | null;
  readonly isChanged: boolean;
  readonly troubles: readonly WatchedTrouble[];
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
  | { readonly kind: 'fault'; readonly number: number; readonly message: string; readonly stack: string };
