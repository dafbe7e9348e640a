// The content of one cell as the plain twins of the output kernels read it.
import type { Batch, RawTable } from '../batch/batch.ts';
import { VIEW_BYTES } from '../kernel/layout/cells.ts';
import { rawContent } from '../kernel/plain/emit-csv.ts';
import type { Heap } from '../memory/heap.ts';
import { type TypedFormat, typedText } from './typed-text.ts';

/** Where a column's cells lie in this batch. */
export type CellSource =
  | { readonly kind: 'field'; readonly field: number }
  | { readonly kind: 'views'; readonly at: number }
  | {
      readonly kind: 'integer' | 'decimal' | 'date' | 'datetime' | 'boolean';
      readonly at: number;
      readonly meta: number;
    };

export interface NullRules {
  readonly nullValues: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
}

/** A cell's text by the place that its column has in this batch, or null. */
export function cellContent(
  batch: Batch,
  column: number,
  source: CellSource,
  row: number,
  format: TypedFormat,
  nulls: NullRules,
): Uint8Array | null {
  if (source.kind === 'views') return viewContent(batch.heap, source.at, row);
  if (source.kind === 'field') return fieldContent(batch.heap, batch.raw!, source.field, row, nulls);
  const data = batch.columns[column]!;
  if (data.kind !== 'typed') throw new Error('a typed step of an untyped column');
  const text = typedText(batch.heap, data, row, format);
  return text === null ? null : Buffer.from(text);
}

function viewContent(heap: Heap, at: number, row: number): Uint8Array | null {
  const view = (at + row * VIEW_BYTES) >>> 2;
  const start = heap.u32[view]!;
  return start === 0 ? null : heap.u8.subarray(start, start + heap.u32[view + 1]!);
}

function fieldContent(heap: Heap, raw: RawTable, field: number, row: number, nulls: NullRules): Uint8Array | null {
  const entry = (raw.at >>> 2) + row * raw.stride + field;
  const start = heap.u32[entry]! + 1;
  const content = rawContent(heap.u8.subarray(start, Math.max(start, heap.u32[entry + 1]!)), raw.quote);
  if (content.length === 0) return nulls.emptyIsNull ? null : content;
  return nulls.nullValues.some((text) => Buffer.compare(text, content) === 0) ? null : content;
}
