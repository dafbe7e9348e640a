// Cells as JSON: texts that must be some, and cells that a file knows for what they are.
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import { jsonKind } from '../../values/json-parts.ts';
import { CellFault } from './value-cells.ts';

/** The JSON that a text is, null for that of null, or a CellFault. */
export function readJson(value: unknown): unknown {
  const kind = jsonKind(value as string);
  if (kind === 'none') return new CellFault('BAD_JSON');
  return kind === 'null' ? null : (value as string).trim();
}

/** The JSON of a native cell: numbers, booleans and JSON as they stand there, dates and times as strings. */
export function nativeJson(text: string, kind: number): string {
  return kind === KIND_NUMBER || kind === KIND_BOOLEAN || kind === KIND_JSON ? text : JSON.stringify(text);
}
