// What a Template is checked against beside the rules of this folder: the operations and formats that there are. They are
// given by who puts the language together (workers/plan/template-language.ts).
import type { OperationDefinition } from '../operations/operation.ts';
import type { OutputFormatTable } from '../output/format.ts';

/** By their names. */
export type OperationTable = ReadonlyMap<string, OperationDefinition>;

/** The names of encodings in which a file can be read. */
export interface EncodingLabels {
  /** The encoding that a label means; null for a label that is none. */
  readonly nameOf: (label: string) => string | null;
  /** For "Did you mean ...?". */
  readonly suggested: readonly string[];
  /** Stands in the place of a label for the most likely encoding. */
  readonly auto: string;
}

export interface TemplateLanguage {
  readonly operations: OperationTable;
  readonly outputFormats: OutputFormatTable;
  readonly encodings: EncodingLabels;
}
