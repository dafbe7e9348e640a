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

/** A label, `auto` for the most likely one, or labels tried in their order; null = byte order mark, else UTF-8. */
export type EncodingSetting = string | readonly string[] | null;

/** A column that stands at the same place of each line. */
export interface FixedColumn {
  readonly name: string;
  /** First character, from 1. */
  readonly start: number;
  /** Characters. */
  readonly length: number;
}

export interface CsvInput {
  /** null = detect. */
  readonly delimiter: string | null;
  /** null = detect, 'none' = the file has no header: columns are column_1... */
  readonly headerRow: number | 'none' | null;
  /** Lines of the header, of which `headerRow` is the last; null = detect, one where `headerRow` is given. */
  readonly headerRows: number | null;
  /** Lines that begin with it are no records; null = none. */
  readonly comment: string | null;
  readonly encoding: EncodingSetting;
  /** null = detect, '' = none. */
  readonly quote: string | null;
  readonly ragged: 'pad' | 'fail';
  readonly strayQuotes: 'keep' | 'fail';
}

export interface JsonInput {
  /** JSON pointer to the list of records; null = the only list of objects in the file's object. */
  readonly records: string | null;
  /** Stands between the names of nested objects and their keys, which are columns then; null = an object is a cell. */
  readonly flatten: string | null;
}

/** A value that stands above or below the table: `run.meta.<name>` in expressions. */
export interface MetaValue {
  readonly name: string;
  /** Record from 0: of the file, or from its end upwards; null: any that the pattern is found in. */
  readonly record: number | null;
  /** Field of the record from 1; null: the whole record. */
  readonly field: number | null;
  /** RE2; its first group is the value, without groups what it matches. Null: the field is. */
  readonly pattern: string | null;
  /** A file without the value is refused. */
  readonly required: boolean;
}

export interface TemplateInput {
  readonly headerMatch: HeaderMatch;
  readonly duplicateHeaders: 'suffix' | 'first' | 'last' | 'fail';
  readonly otherColumns: 'keep' | 'drop';
  /** Texts that mean "missing". */
  readonly nullValues: readonly string[];
  /** `fixed` has `fixed` beside it, `lines` has not. */
  readonly format: 'auto' | 'lines' | 'fixed';
  readonly csv: CsvInput;
  readonly json: JsonInput;
  /** Of a workbook, by name or number from 1; '*' = all visible ones with cells, null = the first of these. */
  readonly sheet: string | number | readonly (string | number)[] | null;
  /** Column for the name of a workbook's sheet; it is among `columns`. */
  readonly sheetInto: string | null;
  /** Of a workbook, by name: its range alone is read. */
  readonly table: string | null;
  readonly merged: 'first' | 'fill';
  readonly hidden: 'keep' | 'skip';
  /** The file is lines of these columns; null = it is not. */
  readonly fixed: { readonly columns: readonly FixedColumn[] } | null;
  /** Values above the table, and below it. */
  readonly preamble: readonly MetaValue[];
  readonly footer: readonly MetaValue[];
  readonly columns: readonly DeclaredColumn[];
}

/** What an operation does when the file lacks a column that it reads. */
export type IfMissing = 'fail' | 'null' | 'skip';

export type OnError = 'fail' | 'drop_row' | 'reject' | 'blank' | 'keep' | 'flag';

export interface TemplateDefaults {
  readonly onError: OnError;
  readonly flagColumn: string;
  readonly maxErrors: number | null;
  readonly maxErrorRatio: number | null;
}

/** One step: its place in the Template, its operation's name, the common parameters, and its own. */
export interface TemplateOperation {
  /** Where it stands: its number from 1 among those that run, and its line in the file; null: it stands nowhere. */
  readonly place: { readonly number: number; readonly line: number } | null;
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

export interface TemplateOutput {
  /** Name of the format. */
  readonly format: string;
  /** Columns of the output in order, null = all as they stand. */
  readonly columns: ColumnSet | null;
  /** What the format works by, made of its section (workers/output/format.ts). */
  readonly settings: unknown;
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
  /** It declares at least one of them. */
  readonly usesTables: boolean;
  readonly defaults: TemplateDefaults;
  /**
   * The columns looked for in a file: the declared ones in their order, then the names that operations read of it, each
   * with what happens when the file lacks it.
   */
  readonly fileColumns: readonly FileColumn[];
  /** Whether columns of the file beside these have a part in the Run. */
  readonly takesOthers: boolean;
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

/** Takes a mistake at a JSON pointer. */
export type ReportProblem = (pointer: string, code: string, message: string) => void;
