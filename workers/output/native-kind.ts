// How a writer asks for the native kind of a cell. A column of type text whose schema says `hasKinds` may bring a byte per
// cell; all other columns are what their type says. A writer that never asks sees texts, which are canonical.
import type { ColumnData } from '../batch/batch.ts';
import { KIND_JSON, KIND_TEXT } from '../kernel/layout/native-kinds.ts';
import type { Heap } from '../memory/heap.ts';

/** KIND_TEXT (kernel/layout/native-kinds.ts) where the column has no kinds. That of a null means nothing: look for it first. */
export function nativeKind(heap: Heap, column: ColumnData, physicalRow: number): number {
  if (column.kind !== 'views' || column.kinds === undefined) return KIND_TEXT;
  return heap.u8[column.kinds + physicalRow]!;
}

/** A number, boolean, date or time: what no spreadsheet takes for a formula, and what is no text where texts are quoted. */
export function isNativeValue(kind: number): boolean {
  return kind !== KIND_TEXT && kind !== KIND_JSON;
}
