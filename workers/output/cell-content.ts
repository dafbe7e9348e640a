// Reads the content of one cell for the scalar reference implementations of the output kernels, and writes typed cells
// as texts.
import type { Batch, ColumnData, RawTable, TypedColumn } from '../batch/batch.ts';
import { KIND_JSON, KIND_TEXT, META_BIG, META_NULL, VIEW_BYTES } from '../kernel/layout/cells.ts';
import { rawContent } from '../kernel/plain/emit-csv.ts';
import type { Heap } from '../memory/heap.ts';
import { dateText, Timestamp, timestampText } from '../values/timestamp.ts';

// The native kind of a cell, for writers. A text column whose schema has `hasKinds` may contain a kind for each cell;
// in other columns, the column's type determines the kind. A writer that ignores kinds sees canonical texts.

/**
 * Returns KIND_TEXT (kernel/layout/cells.ts) if the column has no kinds. The kind of a null is undefined:
 * check for null first.
 */
export function nativeKind(heap: Heap, column: ColumnData, physicalRow: number): number {
  if (column.kind !== 'views' || column.kinds === undefined) return KIND_TEXT;
  return heap.u8[column.kinds + physicalRow]!;
}

/**
 * True for numbers, booleans, dates and times. Spreadsheets never treat them as formulas, and they are not quoted
 * like texts.
 */
export function isNativeValue(kind: number): boolean {
  return kind !== KIND_TEXT && kind !== KIND_JSON;
}

// Scalar reference implementation of the texts of typed cells in outputs. Used for values that kernels do not support
// (doubles, decimals beyond 64 bits, date patterns), and for rows too large for the kernels.

export interface TypedFormat {
  /** Decimal mark of decimals and numbers. */
  readonly decimalMark: string;
  /** Formats a day number; null = ISO 8601. */
  readonly formatDate: ((days: number) => string) | null;
  /** Text of NaN and the infinities: their names, or null if they are not valid values. */
  readonly nonFinite: 'name' | 'null';
  /** Texts for true and false. */
  readonly boolean: readonly [string, string];
}

/** ISO dates, and a point as the decimal mark, as in JSON. */
export const PLAIN_FORMAT: TypedFormat = {
  decimalMark: '.',
  formatDate: null,
  nonFinite: 'null',
  boolean: ['true', 'false'],
};

const MICROSECONDS_PER_SECOND = 1_000_000n;

/** The text of a typed cell, or null. */
export function typedText(heap: Heap, column: TypedColumn, physicalRow: number, format: TypedFormat): string | null {
  const meta = heap.u8[column.meta + physicalRow]!;
  if (meta === META_NULL) return null;
  const slot = (column.at >>> 3) + physicalRow;
  switch (column.type) {
    case 'boolean':
      return meta === 1 ? format.boolean[0] : format.boolean[1];
    case 'number': {
      const value = heap.f64[slot]!;
      if (format.nonFinite === 'null' && !Number.isFinite(value)) return null;
      // Shortest text that is read back as the same double. Zero has no sign.
      return withMark(String(value), format.decimalMark);
    }
    case 'integer':
      return String(heap.i64[slot]!);
    case 'decimal': {
      const big = meta === META_BIG ? column.big?.get(physicalRow) : { unscaled: heap.i64[slot]!, scale: meta };
      if (big === undefined) throw new Error('a big decimal is missing');
      return withMark(decimalText(big.unscaled, big.scale), format.decimalMark);
    }
    case 'date': {
      const days = Number(heap.i64[slot]!);
      return format.formatDate === null ? dateText(days) : format.formatDate(days);
    }
    case 'datetime':
      return datetimeText(heap.i64[slot]!);
  }
}

/** True if the kernels cannot write this column of this batch. */
export function needsText(column: TypedColumn, format: TypedFormat): boolean {
  if (column.type === 'number') return true;
  if (column.type === 'date') return format.formatDate !== null;
  return column.type === 'decimal' && ((column.big !== null && column.big.size > 0) || !isByte(format.decimalMark));
}

/** Creates texts of the live rows as views in the batch's arena. Returns the address of the views. */
export function typedViews(batch: Batch, column: TypedColumn, format: TypedFormat): number {
  const { arena, heap } = batch;
  const at = arena.take(batch.rows * VIEW_BYTES);
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const text = typedText(heap, column, row, format);
    const length = text === null ? 0 : arena.write(text);
    const view = (at + row * VIEW_BYTES) >>> 2;
    heap.u32[view] = text === null ? 0 : arena.next - length;
    heap.u32[view + 1] = length;
  }
  return at;
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function datetimeText(microseconds: bigint): string {
  const rest = ((microseconds % MICROSECONDS_PER_SECOND) + MICROSECONDS_PER_SECOND) % MICROSECONDS_PER_SECOND;
  const seconds = (microseconds - rest) / MICROSECONDS_PER_SECOND;
  return timestampText(new Timestamp(Number(seconds), Number(rest) * 1000));
}

function withMark(text: string, mark: string): string {
  return mark === '.' ? text : text.replace('.', mark);
}

function isByte(mark: string): boolean {
  return mark.length === 1 && mark.charCodeAt(0) < 0x80;
}

// Reads the content of one cell, for the scalar reference implementations of the output kernels.

/** Location of a column's cells in a batch. */
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

/** Text of a cell, or null, according to the location of its column in the batch. */
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
