// Interface of an output format: its name, its settings in a Template, its capabilities, and its writers. To add a
// format, add a folder next to this file and an entry to the table in index.ts.
import type { Column, Schema } from '../batch/schema.ts';
import type { Static, TSchema } from '../bundled/type-box.ts';
import type { Sliced } from '../scheduling/time-slices.ts';
import type { ReportProblem, TemplateOutput } from '../template/template.ts';
import type { RowWriter, WriterTools } from './writer.ts';

/** Settings of a format in a Template, under `output.<name>`. Similar formats share a section. */
export interface OutputSection<Written extends TSchema = TSchema, Settings = unknown> {
  readonly name: string;
  /** Schema of the written settings. A property with a default is optional. */
  readonly schema: Written;
  /**
   * Converts written settings to the form that the format uses.
   *
   * @param written accepted by the schema, with defaults filled in
   * @param format name of the output's format, which may belong to another section
   */
  settings(written: Static<Written>, format: string): Settings;
  /**
   * Reports problems that the schema cannot express. Pointers are relative to the section, such as "/delimiter".
   * Parameters as above.
   *
   * @param metaNames names of the values that `input.preamble` and `input.footer` declare
   */
  check(settings: Settings, format: string, report: ReportProblem, metaNames: ReadonlySet<string>): void;
  /**
   * Like `check`, for the output columns that are known from the Template alone. Called only if the output's format
   * belongs to this section.
   */
  checkColumns?(settings: Settings, columns: readonly Column[], report: ReportProblem): void;
}

/** The file of an output. */
export interface OutputFile {
  readonly mimeType: string;
  /** File name ending, without the dot. */
  readonly extension: string;
  /** Other file name endings for the same content. */
  readonly otherExtensions?: readonly string[];
  /**
   * True if several threads can write parts of the file. The first part also contains everything before the rows.
   * Nothing may be between the rows of two parts or after the last row, so that the file is the concatenation of the
   * parts.
   */
  readonly splittable: boolean;
  /** Absent if the format has no limits. */
  readonly limits?: OutputLimits;
}

/**
 * Limits of a format's files. The output stage enforces them (run/output-stage.ts), so that writers never receive
 * more.
 */
export interface OutputLimits {
  /** Maximum number of data rows; later rows are dropped, and the Run is `truncated`. Null = no limit. */
  readonly rowsMax: number | null;
  /** Maximum length of a text, in UTF-16 units. A longer text is a row error, TOO_LONG. */
  readonly cellUnitsMax: number;
}

/** Creates a writer of one output. */
export type CreateWriter = (tools: WriterTools) => RowWriter;

/** Properties of one Template's output that are independent of the input file. */
export interface OutputForm<Settings = unknown> {
  readonly settings: Settings;
  readonly formulaGuard: TemplateOutput['formulaGuard'];
  /** Columns of the batches that the writers receive, in output order. */
  readonly schema: Schema;
  /** `input.null_values` of the Template. Raw cells are compared with these texts when they are written. */
  readonly nullValues: readonly string[];
}

export interface OutputFormat<Written extends TSchema = TSchema, Settings = unknown> {
  /** Name in a Template. */
  readonly name: string;
  readonly section: OutputSection<Written, Settings>;
  /**
   * True if the writers accept raw cells that no operation has changed, and copy their bytes if possible. If false,
   * the writers receive clean texts instead.
   */
  readonly keepsBytes: boolean;
  /**
   * True if the writers distinguish numbers, dates and booleans from texts. If false, they receive all cells as
   * texts, with ISO dates and a decimal point.
   */
  readonly needsTypes: boolean;
  file(settings: Settings): OutputFile;
  /**
   * Does the work that all writers of an output share, because it costs more than writing a small file. Returns a
   * promise if it first loads a library, which other outputs must not pay for. May be a generator, because a file may
   * have thousands of long names.
   *
   * @throws Failed TEMPLATE_CHECK_FAILED for column names that are unknown when the Template is checked
   */
  prepare(form: OutputForm<Settings>): CreateWriter | Promise<CreateWriter> | Sliced<CreateWriter>;
}

/** Formats by name. */
export type OutputFormatTable = ReadonlyMap<string, OutputFormat>;

/** Checks the types of a format before it goes into the table, whose element type is general. */
export function defineOutputFormat<Written extends TSchema, Settings>(
  format: OutputFormat<Written, Settings>,
): OutputFormat<Written, Settings> {
  return format;
}

/** Checks the types of a section that several formats share. */
export function defineOutputSection<Written extends TSchema, Settings>(
  section: OutputSection<Written, Settings>,
): OutputSection<Written, Settings> {
  return section;
}
