// A Template after its check, and the names of the values above and below a file's table.

import type { ColumnType } from '../batch/schema.ts';
import { STRING, type Type } from '../expression/check/type.ts';
import type { ColumnPatterns } from './column-pattern.ts';
import type { ColumnSet } from './scope.ts';

// A Template after its check: normalised, with every default filled in. Only check.ts makes it.

export type HeaderMatch = 'exact' | 'normal' | 'loose';

/** A way to find a declared column in a file. */
export type ColumnMatch = string | { readonly pattern: string } | { readonly position: number };

export interface DeclaredColumn {
  readonly name: string;
  readonly match: readonly ColumnMatch[];
  readonly required: boolean;
}

/** A column that is looked up in a file. */
export interface FileColumn {
  readonly name: string;
  readonly match: readonly ColumnMatch[];
  /** `fail`: TEMPLATE_COLUMNS_MISSING. `null`: a column of nulls. `skip`: the column does not exist. */
  readonly ifMissing: IfMissing;
  readonly declared: boolean;
}

/**
 * A label, `auto` for the most likely encoding, or labels that are tried in order; null = byte order mark, else
 * UTF-8.
 */
export type EncodingSetting = string | readonly string[] | null;

/** A column at a fixed position in each line. */
export interface FixedColumn {
  readonly name: string;
  /** First character, starting at 1. */
  readonly start: number;
  /** Number of characters. */
  readonly length: number;
}

export interface FixedInput {
  readonly columns: readonly FixedColumn[];
  /** Number of characters of a record in a file without line ends; null = each line is a record. */
  readonly recordLength: number | null;
}

export interface CsvInput {
  /** One character or several; null = detect. */
  readonly delimiter: string | null;
  /** null = detect, 'none' = the file has no header: columns are column_1... */
  readonly headerRow: number | 'none' | null;
  /** Number of header lines, of which `headerRow` is the last; null = detect, or one line if `headerRow` is given. */
  readonly headerRows: number | null;
  /** Number of columns of a file without a header; null = detect. Null if the file has a header. */
  readonly columns: number | null;
  /** Lines that start with this text are not records; null = no comments. */
  readonly comment: string | null;
  readonly encoding: EncodingSetting;
  /** null = detect, '' = no quote character. */
  readonly quote: string | null;
  /**
   * Escape character, always a backslash: the next character is part of the cell. null = detect, '' = no escape
   * character.
   */
  readonly escape: '\\' | '' | null;
  /** Treatment of rows with too few or too many fields. `reject_long` rejects only rows that would lose cells. */
  readonly ragged: 'pad' | 'reject_long' | 'reject' | 'fail';
  readonly strayQuotes: 'keep' | 'fail';
  readonly nulBytes: 'fail' | 'drop';
  /** Text that ends a record; null = detect it, usually line breaks. */
  readonly recordSeparator: string | null;
}

export interface JsonInput {
  /**
   * JSON pointer to the list of records; null = search for it (recordsMember in workers/input/json/find-records.ts).
   */
  readonly records: string | null;
  /**
   * Separator between the names of nested objects and their keys, which become columns; null = an object is a cell.
   */
  readonly flatten: string | null;
  /** Whether NaN and Infinity refuse the file or are null. */
  readonly nan: 'fail' | 'blank';
}

/** A value above or below the table. Expressions refer to it as `run.meta.<name>`. */
export interface MetaValue {
  readonly name: string;
  /**
   * Number of the record, starting at 0 from the start of the file, or from its end upwards; null = any record that
   * the pattern matches.
   */
  readonly record: number | null;
  /** Number of the field in the record, starting at 1; null = the whole record. */
  readonly field: number | null;
  /** RE2 pattern. The value is its first group or, without groups, the whole match. Null = the value is the field. */
  readonly pattern: string | null;
  /** If true, a file without the value is refused. */
  readonly required: boolean;
}

export interface TemplateInput {
  readonly headerMatch: HeaderMatch;
  readonly duplicateHeaders: 'suffix' | 'first' | 'last' | 'fail';
  readonly otherColumns: 'keep' | 'drop';
  /** Texts that mean "missing". */
  readonly nullValues: readonly string[];
  /** `fixed` requires the setting `fixed`, `lines` excludes it. */
  readonly format: 'auto' | 'lines' | 'fixed';
  readonly csv: CsvInput;
  readonly json: JsonInput;
  /** Representation of Parquet columns of bytes without a type. */
  readonly parquetBytes: 'text' | 'hex' | 'base64';
  /** Name of a file in a ZIP archive, in which `*` is any text; null = the only file. */
  readonly archiveFile: string | null;
  /** Same for all files that match, which are read one after the other; null = only one file is read. */
  readonly archiveFiles: string | null;
  /**
   * Sheets of a workbook, by name or number starting at 1; '*' = all visible sheets with cells, null = the first of
   * these.
   */
  readonly sheet: string | number | readonly (string | number)[] | null;
  /** Column for the name of a workbook's sheet. It is also in `columns`. */
  readonly sheetInto: string | null;
  /** Name of a table in a workbook; only its range is read. */
  readonly table: string | null;
  readonly merged: 'first' | 'fill';
  readonly hidden: 'keep' | 'skip';
  /** The file consists of lines with these columns; null = other formats. */
  readonly fixed: FixedInput | null;
  /** Values above and below the table. */
  readonly preamble: readonly MetaValue[];
  readonly footer: readonly MetaValue[];
  readonly columns: readonly DeclaredColumn[];
}

/** Behaviour of an operation if the file lacks a column that it reads. */
export type IfMissing = 'fail' | 'null' | 'skip';

export type OnError = 'fail' | 'drop_row' | 'reject' | 'blank' | 'keep' | 'flag';

export interface TemplateDefaults {
  readonly onError: OnError;
  readonly flagColumn: string;
  readonly maxErrors: number | null;
  readonly maxErrorRatio: number | null;
}

/** One step: its position in the Template, the operation's name, the common parameters, and its own parameters. */
export interface TemplateOperation {
  /** Number among the enabled operations, starting at 1, and line in the file; null if it is not in the file. */
  readonly place: { readonly number: number; readonly line: number } | null;
  /** JSON pointer in the Template, such as "/operations/3". */
  readonly pointer: string;
  readonly name: string;
  readonly id: string | null;
  readonly enabled: boolean;
  /** Source of an expression, or null. */
  readonly where: string | null;
  readonly ifMissing: IfMissing;
  readonly onError: OnError;
  /** Valid according to the operation's schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface TemplateOutput {
  /** Name of the format. */
  readonly format: string;
  /** Columns of the output in order; null = all columns in their current order. */
  readonly columns: ColumnSet | null;
  /** Settings of the format, converted from its section (workers/output/format.ts). */
  readonly settings: unknown;
  readonly formulaGuard: 'auto' | 'strict' | 'off' | 'fail';
  /** Name of the output, with {template} and {run}. */
  readonly name: string;
  /** Columns whose cells choose the file of a row; empty if the output is one file. */
  readonly splitBy: readonly string[];
  /** Name of these files, with the columns in braces; null = the cells, joined. */
  readonly fileName: string | null;
}

export interface TableReference {
  /** Name of the table in the catalog. */
  readonly ref: string;
  /** Types of columns by their names. Columns without a type are texts. */
  readonly columns?: Readonly<Record<string, ColumnType>>;
}

export interface Template {
  readonly format: 1;
  readonly name: string | null;
  readonly description: string | null;
  readonly input: TemplateInput;
  /** Reference tables by the name that operations use. */
  readonly tables: Readonly<Record<string, TableReference>>;
  /** True if the Template declares at least one reference table. */
  readonly usesTables: boolean;
  readonly defaults: TemplateDefaults;
  /**
   * The columns that are looked up in a file: the declared columns in order, then the names that operations read,
   * each with the behaviour if the file lacks the column.
   */
  readonly fileColumns: readonly FileColumn[];
  /** True if other columns of the file are part of the Run, too. */
  readonly takesOthers: boolean;
  /** Name of the flag column if an operation flags rows, otherwise null. It is the last column at every step. */
  readonly flagColumn: string | null;
  /** Operations after expansion of fragments, without disabled operations and comments. */
  readonly operations: readonly TemplateOperation[];
  /** Patterns of column sets, `match` and `rename`. */
  readonly patterns: ColumnPatterns;
  readonly output: TemplateOutput;
  /** Tests as written in the file. `template test` runs them. */
  readonly tests: readonly unknown[];
}

/** One mistake in a Template, and what to write instead. `line` and `column` start at 1. */
export interface Problem {
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly message: string;
}

/** Reports a mistake at a JSON pointer. */
export type ReportProblem = (pointer: string, code: string, message: string) => void;

// Names of the values above and below a file's table in expressions.

/** Prefix of the name that the Template gives to the value. */
export const META_PREFIX = 'run.meta.';

/** The name of the input file. */
export const FILE_NAME = 'run.file';

const ONLY_FILE_NAME: ReadonlyMap<string, Type> = new Map([[FILE_NAME, STRING]]);

/**
 * The variables of expressions: the name of the file, and the values that `input.preamble` and `input.footer` declare.
 * All are texts.
 */
export function metaVariables({ preamble, footer }: TemplateInput): ReadonlyMap<string, Type> {
  if (preamble.length + footer.length === 0) return ONLY_FILE_NAME;
  const declared = [...preamble, ...footer].map(({ name }) => [META_PREFIX + name, STRING] as const);
  return new Map([...ONLY_FILE_NAME, ...declared]);
}
