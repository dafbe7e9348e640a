// The content of one cell as the plain twin of the sheet kernel writes it.
import type { Batch, TypedColumn } from '../../batch/batch.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  booleanContent,
  dateContent,
  datetimeContent,
  decimalContent,
  doubleContent,
  integerContent,
  nativeContent,
  type SheetContent,
} from '../../kernel/plain/emit-sheet.ts';
import { typedText } from '../typed-text.ts';
import { SHEET_FORMAT, type SheetSource } from './sheet-program.ts';

/** Null is no cell. */
export function sheetContent(batch: Batch, column: number, source: SheetSource, row: number): SheetContent | null {
  const data = batch.columns[column]!;
  if (data.kind === 'typed') return typedContent(batch, data, row);
  const { u8, u32 } = batch.heap;
  const view = (source.at + row * VIEW_BYTES) >>> 2;
  const start = u32[view]!;
  if (start === 0) return null;
  const text = Buffer.from(u8.buffer, start, u32[view + 1]!).toString();
  return source.beside === 0 ? { form: 'text', text } : nativeContent(u8[source.beside + row]!, text);
}

function typedContent({ heap }: Batch, data: TypedColumn, row: number): SheetContent | null {
  if (heap.u8[data.meta + row] === META_NULL) return null;
  const value = (): bigint => heap.i64[(data.at >>> 3) + row]!;
  switch (data.type) {
    case 'boolean':
      return booleanContent(heap.u8[data.meta + row] === 1);
    case 'integer':
      return integerContent(value());
    case 'date':
      return dateContent(Number(value()));
    case 'datetime':
      return datetimeContent(value());
    default: {
      const text = typedText(heap, data, row, SHEET_FORMAT)!;
      return data.type === 'decimal' ? decimalContent(text) : doubleContent(text);
    }
  }
}
