// The part of nodejs-polars that the workloads use: the library is not installed when the project is built.

export interface PolarsRows {
  select(...columns: (PolarsExpression | string)[]): PolarsRows;
  filter(condition: PolarsExpression): PolarsRows;
  withColumns(...columns: PolarsExpression[]): PolarsRows;
  withColumnRenamed(from: string, to: string): PolarsRows;
  unique(options: { subset: readonly string[]; keep: string; maintainOrder: boolean }): PolarsRows;
  groupBy(
    columns: readonly string[],
    options?: { maintainOrder: boolean },
  ): {
    agg(...metrics: PolarsExpression[]): PolarsRows;
  };
  sort(options: { by: readonly string[]; descending: boolean; maintainOrder?: boolean }): PolarsRows;
  sinkCSV(path: string): { collect(): Promise<unknown> };
  sinkNdJson(path: string): { collect(): Promise<unknown> };
}

export interface PolarsExpression {
  alias(name: string): PolarsExpression;
  and(other: PolarsExpression): PolarsExpression;
  cast(type: unknown, strict?: boolean): PolarsExpression;
  eq(other: unknown): PolarsExpression;
  neq(other: unknown): PolarsExpression;
  gt(other: unknown): PolarsExpression;
  lt(other: unknown): PolarsExpression;
  mul(other: unknown): PolarsExpression;
  or(other: PolarsExpression): PolarsExpression;
  not(): PolarsExpression;
  sum(): PolarsExpression;
  median(): PolarsExpression;
  count(): PolarsExpression;
  isNull(): PolarsExpression;
  isNotNull(): PolarsExpression;
  fillNull(other: unknown): PolarsExpression;
  readonly str: {
    strip(): PolarsExpression;
    toUpperCase(): PolarsExpression;
    replaceAll(pattern: string | RegExp, value: string): PolarsExpression;
    replace(pattern: string | RegExp, value: string): PolarsExpression;
    extract(pattern: string | RegExp, group: number): PolarsExpression;
    contains(pattern: string | RegExp): PolarsExpression;
    strptime(type: unknown, format: string): PolarsExpression;
  };
  readonly dt: { strftime(format: string): PolarsExpression };
}

export interface PolarsLibrary {
  scanCSV(path: string, options: Record<string, unknown>): PolarsRows;
  /** Reads NDJSON. */
  scanJson(path: string): PolarsRows;
  scanParquet(path: string): PolarsRows;
  col(name: string): PolarsExpression;
  lit(value: unknown): PolarsExpression;
  when(condition: PolarsExpression): {
    then(value: PolarsExpression): { otherwise(value: PolarsExpression): PolarsExpression };
  };
  len(): PolarsExpression;
  readonly Float64: unknown;
  readonly Int64: unknown;
  readonly Date: unknown;
}
