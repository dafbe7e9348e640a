// A row in the table of operations: one job as a Template, in DuckDB and, if it can be expressed, in Polars.
import type { InputName } from '../inputs/index.ts';
import { type Job, SAME_SET } from '../workloads/job.ts';
import type { TableName } from './tables.ts';

export interface OperationRow {
  /** Name in the table. */
  readonly name: string;
  /** The operation or the family that the row measures. */
  readonly covers: string;
  /** The operations of the Template. */
  readonly template: readonly Readonly<Record<string, unknown>>[];
  /** A query over the view `input`, whose columns are all text, and over views of the tables. */
  readonly sql: string;
  readonly polars?: NonNullable<Job['polars']>;
  /** The benchmark's file of orders by default. */
  readonly input?: InputName;
  readonly tables?: readonly TableName[];
  /** Format of the output; CSV by default. */
  readonly output?: 'parquet';
  /** Columns of the output that are compared by value. */
  readonly numbers?: readonly string[];
  /** 'any' if keeping the order would cost the others time: their rows are compared as a set. */
  readonly order?: 'any';
  /** Replaces both if the others may choose which of equal rows stays: what is compared. */
  readonly lenient?: Job['answer']['lenient']['duckdb'];
}

/** Converts the row to a job of the engine benchmark. */
export function jobOf({ name, template, sql, polars, input, tables = [], numbers = [], ...row }: OperationRow): Job {
  const format = row.output ?? 'csv';
  const agreements = row.lenient ?? (row.order === 'any' ? [SAME_SET] : undefined);
  return {
    name,
    title: name,
    input: input ?? 'orders',
    ending: format,
    template: {
      format: 1,
      ...(tables.length === 0 ? {} : { tables: Object.fromEntries(tables.map((table) => [table, { ref: table }])) }),
      operations: template,
      output: { format },
    },
    duckdb: sql,
    polars: polars ?? null,
    tables,
    answer: { numbers, lenient: agreements === undefined ? {} : { duckdb: agreements, polars: agreements } },
  };
}
