// What a workload is: one job in the words of every system that takes part, and how their answers are held together.
import type { InputName } from '../inputs/index.ts';
import type { JavaScriptProgram } from './javascript-program.ts';
import type { PolarsLibrary, PolarsRows } from './polars-names.ts';

/** The systems; each but the first may run with several numbers of threads. */
export type System = 'template-run' | 'duckdb' | 'polars' | 'miller' | 'csv-parse' | 'papaparse' | 'udsv';

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly input: InputName;
  /** The output's file name ending, which is its format. */
  readonly ending: 'csv' | 'ndjson';
  readonly template: Readonly<Record<string, unknown>>;
  /** A query over the view `input`, whose columns are all text. */
  readonly duckdb: string;
  /** Over rows whose columns are all text. */
  polars(rows: PolarsRows, library: PolarsLibrary): PolarsRows;
  /** Main flags (`-S`: all cells are text), then verbs joined by `then`. */
  readonly miller: { readonly flags: readonly string[]; readonly verbs: readonly string[] };
  readonly javascript: JavaScriptProgram;
  readonly answer: Answer;
  /** What no program can avoid, in turn: reading the input once, copying it once in memory, writing the output. */
  readonly limit: readonly PhysicalStep[];
}

export type PhysicalStep = 'scan' | 'memcpy' | 'write';

export interface Answer {
  /** Columns of the output that are compared by value: `1.5` is `1.50`. */
  readonly numbers: readonly string[];
  /** Systems that are let off the order, or off the choice among equal rows, since keeping them would cost them time. */
  readonly lenient: Readonly<Partial<Record<System, readonly Agreement[]>>>;
}

/** What has to be equal: the cells of some columns, row by row or as a set. */
export interface Agreement {
  readonly as: 'sequence' | 'set';
  readonly columns: readonly string[] | 'all';
}

export const SAME_SET: Agreement = { as: 'set', columns: 'all' };
