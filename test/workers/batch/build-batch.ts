// Makes batches by hand for tests of the writers: a raw table from well-formed CSV text, views and typed columns from values.
import { Batch, type ColumnData, type RawTable } from '../../../workers/batch/batch.ts';
import type { ColumnType, Schema } from '../../../workers/batch/schema.ts';
import { compileKernels, instantiateKernel, type Kernel } from '../../../workers/kernel/bindings/kernel.ts';
import { META_BIG, META_NULL, META_SCALE_MAX, VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import { Arena } from '../../../workers/memory/arena.ts';
import { unlimitedShare } from '../../../workers/memory/budget.ts';
import { Heap } from '../../../workers/memory/heap.ts';
import type { Pauses, Slices } from '../../../workers/scheduling/time-slices.ts';

const kernel = instantiateKernel(compileKernels());

export interface Bench {
  readonly kernel: Kernel;
  readonly heap: Heap;
  readonly arena: Arena;
  readonly clock: Pauses;
}

/** Invalidates everything that an earlier bench placed: all benches share one memory, which keeps the old bytes. */
export function newBench(): Bench {
  const heap = new Heap(kernel.memory, kernel.exports.heapStart(), unlimitedShare(), Number.MAX_SAFE_INTEGER);
  return { kernel, heap, arena: new Arena(heap), clock: { isDue: () => true } };
}

/** Runs work in time slices to its end. */
export function drive(slices: Slices): void {
  for (const _ of slices);
}

export interface RawOptions {
  readonly delimiter?: string;
  readonly quote?: string;
  /** Texts that the batch's `materialise` treats as missing. */
  readonly nullValues?: readonly string[];
  readonly plain?: boolean;
}

/** A batch over CSV text without a header; every row has the same number of fields and all are live. */
export function rawBatch(bench: Bench, text: Buffer, fields: number, options: RawOptions = {}): Batch {
  const { heap, arena } = bench;
  const delimiter = (options.delimiter ?? ',').charCodeAt(0);
  const quote = options.quote === '' ? 0 : (options.quote ?? '"').charCodeAt(0);
  const base = heap.allocate(text.length + 1) + 1;
  heap.u8.set(text, base);
  const entries = splitRows(text, delimiter, quote).flatMap((row) => row.map((end) => base + end));
  const rows = entries.length / (fields + 1);
  if (!Number.isInteger(rows)) throw new Error('the rows are not of the same length');
  const at = heap.allocate(entries.length * 4);
  heap.u32.set(entries, at >>> 2);
  const raw: RawTable = { at, stride: fields + 1, delimiter, quote, plain: options.plain ?? true };
  const nulls = options.nullValues ?? [''];
  return new Batch({
    arena,
    rows,
    ...selectionOf(
      heap,
      Array.from({ length: rows }, (_, row) => row),
    ),
    columns: Array.from({ length: fields }, (_, field) => ({ kind: 'raw', field })),
    raw,
    sourceRows: { first: 1 },
    materialise: (batch, column) => viewsColumn(bench, rawTexts(batch, column.field, nulls)),
  });
}

/** A batch without a raw table. */
export function batchOf(bench: Bench, rows: number, columns: readonly ColumnData[]): Batch {
  return new Batch({
    arena: bench.arena,
    rows,
    ...selectionOf(
      bench.heap,
      Array.from({ length: rows }, (_, row) => row),
    ),
    columns,
    raw: null,
    sourceRows: { first: 1 },
    materialise: () => {
      throw new Error('nothing raw here');
    },
  });
}

export function select(bench: Bench, batch: Batch, rows: readonly number[]): Batch {
  const { selection, live } = selectionOf(bench.heap, rows);
  return batch.withSelection(selection, live);
}

export function viewsColumn(bench: Bench, texts: readonly (string | null)[]): ColumnData & { kind: 'views' } {
  const { heap } = bench;
  const at = heap.allocate(texts.length * VIEW_BYTES);
  texts.forEach((text, row) => {
    const bytes = Buffer.from(text ?? '');
    const start = text === null ? 0 : heap.allocate(bytes.length);
    if (start !== 0) heap.u8.set(bytes, start);
    heap.u32.set([start, bytes.length], (at >>> 2) + row * 2);
  });
  return { kind: 'views', at };
}

export type TypedValue = bigint | number | boolean | { unscaled: bigint; scale: number } | null;

export function typedColumn(
  bench: Bench,
  type: Exclude<ColumnType, 'text' | 'json'>,
  values: readonly TypedValue[],
): ColumnData {
  const { heap } = bench;
  const at = heap.allocate(values.length * 8);
  const meta = heap.allocate(values.length);
  const big = new Map<number, { unscaled: bigint; scale: number }>();
  values.forEach((value, row) => {
    heap.u8[meta + row] = value === null ? META_NULL : 0;
    if (typeof value === 'bigint') heap.i64[(at >>> 3) + row] = value;
    else if (typeof value === 'number') heap.f64[(at >>> 3) + row] = value;
    else if (typeof value === 'boolean') heap.u8[meta + row] = value ? 1 : 0;
    else if (value !== null && value.scale <= META_SCALE_MAX && BigInt.asIntN(64, value.unscaled) === value.unscaled) {
      heap.i64[(at >>> 3) + row] = value.unscaled;
      heap.u8[meta + row] = value.scale;
    } else if (value !== null) {
      heap.u8[meta + row] = META_BIG;
      big.set(row, value);
    }
  });
  return { kind: 'typed', type, at, meta, big: big.size > 0 ? big : null };
}

export function schemaOf(columns: Readonly<Record<string, ColumnType>>): Schema {
  return Object.entries(columns).map(([name, type], id) => ({ id, name, type }));
}

/** For each row, the address before the row and the ends of its fields, as offsets in the text. */
function splitRows(text: Buffer, delimiter: number, quote: number): number[][] {
  const rows: number[][] = [];
  let row = [-1];
  let inside = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (byte === quote && quote !== 0) inside = !inside;
    if (inside || (byte !== delimiter && byte !== 0x0a)) continue;
    row.push(at);
    if (byte === 0x0a) {
      rows.push(row);
      row = [at];
    }
  }
  if (row.length > 1 || text.length - 1 > row[0]!) rows.push([...row, text.length]);
  return rows;
}

function rawTexts(batch: Batch, field: number, nulls: readonly string[]): (string | null)[] {
  const { heap } = batch;
  const { at, stride, quote } = batch.raw!;
  return Array.from({ length: batch.rows }, (_, row) => {
    const entry = (at >>> 2) + row * stride + field;
    let text = Buffer.from(heap.u8.subarray(heap.u32[entry]! + 1, heap.u32[entry + 1]!)).toString();
    const mark = String.fromCharCode(quote);
    if (quote !== 0 && text.startsWith(mark)) text = text.slice(1, -1).replaceAll(mark + mark, mark);
    return nulls.includes(text) ? null : text;
  });
}

function selectionOf(heap: Heap, rows: readonly number[]): { selection: number; live: number } {
  const selection = heap.allocate(rows.length * 4);
  heap.u32.set(rows, selection >>> 2);
  return { selection, live: rows.length };
}
