// A Template as it stands after its check: normalised, with every default filled in. Made by check.ts alone.
import type { ColumnPatterns } from './column-pattern.ts';
import type { ColumnSet } from './scope.ts';

export type HeaderMatch = 'exact' | 'normal' | 'loose';

/** One way in which a declared column is found in a file. */
export type ColumnMatch = string | { readonly pattern: string } | { readonly position: number };

export interface DeclaredColumn {
  readonly name: string;
  readonly match: readonly ColumnMatch[];
  readonly required: boolean;
}

/** A column looked for in a file. */
export interface FileColumn {
  readonly name: string;
  readonly match: readonly ColumnMatch[];
  /** `fail`: TEMPLATE_COLUMNS_MISSING, `null`: a column of nulls, `skip`: there is no such column. */
  readonly ifMissing: IfMissing;
  readonly declared: boolean;
}

export interface CsvInput {
  /** null = detect. */
  readonly delimiter: string | null;
  /** null = detect, 'none' = the file has no header: columns are column_1... */
  readonly headerRow: number | 'none' | null;
  readonly encoding: string | null;
  /** null = detect, '' = none. */
  readonly quote: string | null;
  readonly ragged: 'pad' | 'fail';
  readonly strayQuotes: 'keep' | 'fail';
}

export interface TemplateInput {
  readonly headerMatch: HeaderMatch;
  readonly duplicateHeaders: 'suffix' | 'first' | 'last' | 'fail';
  readonly otherColumns: 'keep' | 'drop';
  /** Texts that mean "missing". */
  readonly nullValues: readonly string[];
  readonly csv: CsvInput;
  readonly sheet: string | number | null;
  readonly columns: readonly DeclaredColumn[];
}

/** What an operation does when the file lacks a column that it reads. */
export type IfMissing = 'fail' | 'null' | 'skip';

export type OnError = 'fail' | 'drop_row' | 'blank' | 'keep' | 'flag';

export interface TemplateDefaults {
  readonly onError: OnError;
  readonly flagColumn: string;
  readonly maxErrors: number | null;
  readonly maxErrorRatio: number | null;
}

/** One step: its place in the Template, its operation's name, the common parameters, and its own. */
export interface TemplateOperation {
  /** JSON pointer in the Template, such as "/operations/3". */
  readonly pointer: string;
  readonly name: string;
  readonly id: string | null;
  readonly enabled: boolean;
  /** Expression source, or null. */
  readonly where: string | null;
  readonly ifMissing: IfMissing;
  readonly onError: OnError;
  /** Validated against the operation's schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type OutputFormat = 'csv' | 'tsv' | 'xlsx' | 'json' | 'ndjson' | 'parquet';

export interface CsvOutput {
  readonly delimiter: string;
  readonly quoting: 'minimal' | 'all' | 'text';
  readonly lineEnding: 'lf' | 'crlf';
  readonly bom: boolean;
  /** WHATWG name; utf-8 unless set. */
  readonly encoding: string;
  readonly unmappable: 'fail' | 'replace';
  readonly header: boolean;
  /** Decimal mark of numbers: "." unless set. */
  readonly decimal: string;
  /** Pattern for dates, null = ISO 8601. */
  readonly dateFormat: string | null;
  /** Texts of true and false. */
  readonly boolean: readonly [string, string];
  readonly null: string;
}

export interface JsonOutput {
  readonly layout: 'array' | 'ndjson';
  readonly decimals: 'number' | 'string';
  readonly nulls: 'include' | 'omit';
  /** Separator at which names are nested into objects, null = flat. */
  readonly nest: string | null;
}

export interface TemplateOutput {
  readonly format: OutputFormat;
  /** Columns of the output in order, null = all as they stand. */
  readonly columns: ColumnSet | null;
  readonly csv: CsvOutput;
  readonly json: JsonOutput;
  readonly formulaGuard: 'auto' | 'strict' | 'off' | 'fail';
  /** Name of the output with {template} and {run}. */
  readonly name: string;
}

export interface Template {
  readonly format: 1;
  readonly name: string | null;
  readonly description: string | null;
  readonly input: TemplateInput;
  /** Reference tables by the name that operations use, each with its catalog name. */
  readonly tables: Readonly<Record<string, { readonly ref: string }>>;
  readonly defaults: TemplateDefaults;
  /**
   * The columns looked for in a file: the declared ones in their order, then the names that operations read of it, each
   * with what happens when the file lacks it.
   */
  readonly fileColumns: readonly FileColumn[];
  /** Name of the flag column where an operation flags rows, else null. It is the last column at every step. */
  readonly flagColumn: string | null;
  /** Fragments are already put in place; disabled operations and comments are left out. */
  readonly operations: readonly TemplateOperation[];
  /** Of column sets, of `match` and of `rename`. */
  readonly patterns: ColumnPatterns;
  readonly output: TemplateOutput;
  /** As they stand in the file; `template test` runs them. */
  readonly tests: readonly unknown[];
}

/** One mistake in a Template and what to write instead. `line` and `column` are 1-based. */
export interface Problem {
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly message: string;
}
