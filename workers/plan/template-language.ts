// The Template language of this version: its operations and formats, for the checker, the schema and the plans.
import { AUTO, encodingName, SUGGESTED_NAMES } from '../input/encoding/encoding.ts';
import { operationTable } from '../operations/index.ts';
import { outputFormats } from '../output/index.ts';
import type { TemplateLanguage } from '../template/language.ts';

export const templateLanguage: TemplateLanguage = {
  operations: operationTable,
  outputFormats,
  encodings: { nameOf: encodingName, suggested: SUGGESTED_NAMES, auto: AUTO },
};
