// A row of the table of operations: one job, in the words of a Template, of DuckDB and, where it can be said, of Polars.
import type { InputName } from '../inputs/index.ts';
import { type Job, SAME_SET } from '../workloads/job.ts';
import type { TableName } from './tables.ts';

export interface OperationRow {
  /** What the table shows. */
  readonly name: string;
  /** The operation or the family that the row measures. */
  readonly covers: string;
  /** The Template's operations. */
  readonly template: readonly Readonly<Record<string, unknown>>[];
  /** A query over the view `input`, whose columns are all text, and views of the tables' names. */
  readonly sql: string;
  readonly polars?: NonNullable<Job['polars']>;
  /** The benchmark's file of orders unless said. */
  readonly input?: InputName;
  readonly tables?: readonly TableName[];
  /** Columns of the output that are compared by value. */
  readonly numbers?: readonly string[];
  /** What holds where keeping the order would cost the others time: their rows are compared as a set. */
  readonly order?: 'any';
  /** In place of both: what is compared, where which of equal rows stays is left to the others. */
  readonly lenient?: Job['answer']['lenient']['duckdb'];
}

/** The row as a job of the engine's benchmark. */
export function jobOf({ name, template, sql, polars, input, tables = [], numbers = [], ...row }: OperationRow): Job {
  const agreements = row.lenient ?? (row.order === 'any' ? [SAME_SET] : undefined);
  return {
    name,
    title: name,
    input: input ?? 'orders',
    ending: 'csv',
    template: {
      format: 1,
      ...(tables.length === 0 ? {} : { tables: Object.fromEntries(tables.map((table) => [table, { ref: table }])) }),
      operations: template,
      output: { format: 'csv' },
    },
    duckdb: sql,
    polars: polars ?? null,
    tables,
    answer: { numbers, lenient: agreements === undefined ? {} : { duckdb: agreements, polars: agreements } },
  };
}
