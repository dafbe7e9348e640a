// The contract of an output format: what it is called, what a Template may set of it, what it can do, and its writers. The
// table is index.ts; a format is one folder beside this file and one line there.
import type { Column, Schema } from '../batch/schema.ts';
import type { Static, TSchema } from '../bundled/type-box.ts';
import type { ReportProblem, TemplateOutput } from '../template/template.ts';
import type { RowWriter, WriterTools } from './writer.ts';

/** What a Template sets of a format, under `output.<name>`. Formats that differ little share one. */
export interface OutputSection<Written extends TSchema = TSchema, Settings = unknown> {
  readonly name: string;
  /** What may be written; a property with a default may be left out. */
  readonly schema: Written;
  /**
   * What the format works by.
   *
   * @param written has passed the schema, defaults are filled in
   * @param format name of the output's format, which need not be one of this section's
   */
  settings(written: Static<Written>, format: string): Settings;
  /**
   * Reports what the schema cannot say. Pointers begin in the section, such as "/delimiter". Parameters as above.
   *
   * @param metaNames of the values that `input.preamble` and `input.footer` declare
   */
  check(settings: Settings, format: string, report: ReportProblem, metaNames: ReadonlySet<string>): void;
  /** As `check`, of the output's columns as far as the Template alone tells them; only for a format of this section. */
  checkColumns?(settings: Settings, columns: readonly Column[], report: ReportProblem): void;
}

/** The file that an output becomes. */
export interface OutputFile {
  readonly mimeType: string;
  /** Of its name, without the dot. */
  readonly extension: string;
  /** Others that say as well what it holds. */
  readonly otherExtensions?: readonly string[];
  /**
   * Parts of it can be written by several threads: the first writes what stands before the rows, nothing stands between
   * rows of two parts or behind the last row, and the bytes of the parts in their order are the file.
   */
  readonly splittable: boolean;
  /** Absent: it holds whatever there is. */
  readonly limits?: OutputLimits;
}

/** What a file of a format can hold. The output stage keeps it (run/output-stage.ts), so that writers get no more. */
export interface OutputLimits {
  /** Rows of data; those behind them are left out, and the Run is `truncated`. Null = none. */
  readonly rowsMax: number | null;
  /** UTF-16 units of a text; a longer one is an error of its row, TOO_LONG. */
  readonly cellUnitsMax: number;
}

/** Makes the writers of one output. */
export type CreateWriter = (tools: WriterTools) => RowWriter;

/** One output of one Template, whatever the file that it is made of. */
export interface OutputForm<Settings = unknown> {
  readonly settings: Settings;
  readonly formulaGuard: TemplateOutput['formulaGuard'];
  /** Columns of the batches that its writers get, in the order of the output. */
  readonly schema: Schema;
  /** `input.null_values` of the Template: raw cells are compared with them when they are written. */
  readonly nullValues: readonly string[];
}

export interface OutputFormat<Written extends TSchema = TSchema, Settings = unknown> {
  /** As a Template writes it. */
  readonly name: string;
  readonly section: OutputSection<Written, Settings>;
  /**
   * Its writers take cells that nobody has touched as the reader left them, and copy their bytes where they can. False:
   * they get clean text in their place.
   */
  readonly keepsBytes: boolean;
  /** Its writers tell numbers, dates and booleans from texts. False: they get the text of each, ISO dates and a point. */
  readonly needsTypes: boolean;
  file(settings: Settings): OutputFile;
  /**
   * Does what is the same for all writers of an output, once: a small file costs less than that. With a promise where a
   * library is loaded first, which no other output shall pay for.
   *
   * @throws Failed TEMPLATE_CHECK_FAILED for column names that the Template could not know
   */
  prepare(form: OutputForm<Settings>): CreateWriter | Promise<CreateWriter>;
}

/** By their names. */
export type OutputFormatTable = ReadonlyMap<string, OutputFormat>;

/** Fixes the types of a format for the table, which holds formats of all kinds. */
export function defineOutputFormat<Written extends TSchema, Settings>(
  format: OutputFormat<Written, Settings>,
): OutputFormat<Written, Settings> {
  return format;
}

/** Fixes the types of one section for the formats that share it. */
export function defineOutputSection<Written extends TSchema, Settings>(
  section: OutputSection<Written, Settings>,
): OutputSection<Written, Settings> {
  return section;
}
