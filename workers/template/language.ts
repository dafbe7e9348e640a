// The parts of the Template language that are defined outside this folder: operations, formats and encodings.
// workers/plan/plan.ts combines them.

import type { OutputFormatTable } from '../output/format.ts';
import type { OperationDefinition } from './operation.ts';

/** Operations by name. */
export type OperationTable = ReadonlyMap<string, OperationDefinition>;

/** The names of encodings in which a file can be read. */
export interface EncodingLabels {
  /** The encoding for a label; null for an unknown label. */
  readonly nameOf: (label: string) => string | null;
  /** Names for "Did you mean ...?". */
  readonly suggested: readonly string[];
  /** The setting that requests the most likely encoding instead of a label. */
  readonly auto: string;
}

export interface TemplateLanguage {
  readonly operations: OperationTable;
  readonly outputFormats: OutputFormatTable;
  readonly encodings: EncodingLabels;
}
