// What every engine is asked for: one job from a file to a file, and how the answers are held together.
import type { InputName } from '../inputs/index.ts';
import type { TableName } from '../operations/tables.ts';
import type { PolarsLibrary, PolarsRows } from './polars-names.ts';

/** The engines: they are told a job in their own language. */
export type Engine = 'template-run' | 'duckdb' | 'polars';

/** All systems; each but the first may run with several numbers of threads. */
export type System = Engine | 'miller' | 'csv-parse' | 'papaparse' | 'udsv';

export interface Job {
  readonly name: string;
  readonly title: string;
  readonly input: InputName;
  /** The output's file name ending, which is its format. */
  readonly ending: 'csv' | 'ndjson';
  readonly template: Readonly<Record<string, unknown>>;
  /** A query over the view `input`, whose columns are all text. */
  readonly duckdb: string;
  /** Over rows whose columns are all text; null where it cannot be said. */
  readonly polars: ((rows: PolarsRows, library: PolarsLibrary) => PolarsRows) | null;
  /** Reference tables that it reads. */
  readonly tables?: readonly TableName[];
  readonly answer: Answer;
}

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
