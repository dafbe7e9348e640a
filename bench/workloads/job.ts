// A job for engines, from file to file, and the rules for comparing outputs.
import type { InputName } from '../inputs/index.ts';
import type { TableName } from '../operations/tables.ts';
import type { PolarsLibrary, PolarsRows } from './polars-names.ts';

const ENGINES = ['template-run', 'duckdb', 'polars'] as const;

/** Engines, which receive a job in their own language. */
export type Engine = (typeof ENGINES)[number];

/** All systems. Each except the first may run with several numbers of threads. */
export type System = Engine | 'miller' | 'csv-parse' | 'papaparse' | 'udsv';

export function isEngine(system: System): system is Engine {
  return ENGINES.some((engine) => engine === system);
}

export interface Job {
  readonly name: string;
  readonly title: string;
  readonly input: InputName;
  /** File name extension of the output, which is its format. */
  readonly ending: 'csv' | 'ndjson' | 'parquet';
  readonly template: Readonly<Record<string, unknown>>;
  /** A query over the view `input`, whose columns are all text. */
  readonly duckdb: string;
  /** A program over rows whose columns are all text, or null if the job cannot be expressed. */
  readonly polars: ((rows: PolarsRows, library: PolarsLibrary) => PolarsRows) | null;
  /** Reference tables that it reads. */
  readonly tables?: readonly TableName[];
  readonly answer: Answer;
}

export interface Answer {
  /** Columns of the output that are compared by value: `1.5` equals `1.50`. */
  readonly numbers: readonly string[];
  /** Systems that need not keep the order, or the choice among equal rows, because it would cost them time. */
  readonly lenient: Readonly<Partial<Record<System, readonly Agreement[]>>>;
}

/** Required equality: the cells of some columns, row by row or as a set. */
export interface Agreement {
  readonly as: 'sequence' | 'set';
  readonly columns: readonly string[] | 'all';
}

export const SAME_SET: Agreement = { as: 'set', columns: 'all' };
