// Merges several files of rows, each sorted in the same way, into one order. If there are too many files, they are
// first merged into fewer files.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { SpillFile, type SpillFolder } from '../../memory/spill-file.ts';
import { DONE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import { RowCodec, type RowTarget, targetBatch } from './row-codec.ts';
import { MERGE_READER_SIZE, SpillReader, SpillWriter } from './row-files.ts';

/** Number of files read at once: 1 MiB of buffers. 256 runs need two passes. */
const MERGE_WAYS = 16;

/** Number of rows in an output batch. */
const MERGED_ROWS = 2048;

/** A file that is being read, and the current row. Comparators read rows of the batch. */
export interface MergeInput {
  readonly reader: SpillReader;
  batch: Batch;
  row: number;
  rows: number;
}

/** Negative if the current row of `a` comes before that of `b`. Never 0 for two rows. */
export type MergeOrder = (a: MergeInput, b: MergeInput) => number;

/** Compares by the order numbers with which rows were written (f64). */
export function byOrder(arena: Arena): MergeOrder {
  const order = ({ reader, row }: MergeInput): number => arena.heap.f64[(reader.orders >>> 3) + row]!;
  return (a, b) => order(a) - order(b);
}

/** Compares by the bytes of the first column, then by the order numbers. */
export function byKey(arena: Arena): MergeOrder {
  const then = byOrder(arena);
  return (a, b) => {
    const { u8, u32 } = arena.heap;
    const [left, right] = [keyView(a), keyView(b)];
    const [leftLength, rightLength] = [u32[left + 1]!, u32[right + 1]!];
    const [x, y] = [u32[left]!, u32[right]!];
    const most = Math.min(leftLength, rightLength);
    for (let at = 0; at < most; at++) {
      const difference = u8[x + at]! - u8[y + at]!;
      if (difference !== 0) return difference;
    }
    return leftLength - rightLength || then(a, b);
  };
}

/** Index (in u32 words) of the view of the first column's cell. */
function keyView({ batch, row }: MergeInput): number {
  const column = batch.columns[0]!;
  if (column.kind !== 'views') throw new Error('the first column is not a key');
  return (column.at + row * VIEW_BYTES) >>> 2;
}

export interface MergeTools {
  readonly arena: Arena;
  readonly kernel: Kernel;
  readonly spill: SpillFolder;
  readonly types: readonly StoredType[];
}

/**
 * Emits the merged rows in batches that are valid until the generator continues, with their order numbers (f64 per
 * row), and yields after each. Drops the files.
 */
export function* mergeFiles(
  tools: MergeTools,
  files: readonly SpillFile[],
  before: MergeOrder,
  next: (batch: Batch, orders: number) => Slices,
): Steps {
  const codec = new RowCodec(tools.arena.heap, tools.kernel, tools.types);
  const ways = Math.min(MERGE_WAYS, files.length);
  const readers = Array.from({ length: ways }, () => new SpillReader(tools.arena, codec, MERGE_READER_SIZE));
  const out = new MergedRows(tools.arena, codec, tools.types);
  let left = [...files];
  let writer: SpillWriter | null = null;
  while (left.length > MERGE_WAYS) {
    const joined = new SpillFile(tools.spill);
    if (writer === null) writer = new SpillWriter(tools.arena.heap, codec, joined);
    else writer.turnTo(joined);
    const target = writer;
    const some = left.slice(0, MERGE_WAYS);
    yield* mergeOnce(readers, some, before, out, (batch, orders) => {
      target.write(batch, { rows: batch.selection, count: batch.live, orders });
      return DONE;
    });
    writer.flush();
    left = [...left.slice(MERGE_WAYS), joined];
  }
  yield* mergeOnce(readers, left, before, out, next);
}

function* mergeOnce(
  readers: readonly SpillReader[],
  files: readonly SpillFile[],
  before: MergeOrder,
  out: MergedRows,
  next: (batch: Batch, orders: number) => Slices,
): Steps {
  const inputs: MergeInput[] = [];
  for (const [index, file] of files.entries()) {
    const reader = readers[index]!;
    reader.open(file);
    const rows = reader.advance();
    if (rows > 0) inputs.push({ reader, batch: reader.batch(), row: 0, rows });
  }
  // Sorted so that the input with the first row is the last one, which is cheap to remove from an array.
  inputs.sort((a, b) => before(b, a));
  while (inputs.length > 0) {
    const first = inputs[inputs.length - 1]!;
    out.add(first);
    first.row++;
    if (first.row === first.rows || out.full) {
      yield* out.emit(next);
      yield;
      out.clear();
    }
    if (first.row === first.rows) {
      first.rows = first.reader.advance();
      first.row = 0;
      if (first.rows > 0) first.batch = first.reader.batch();
      else inputs.pop();
    }
    sink(inputs, before);
  }
  for (const file of files) file.drop();
}

/** Moves the last input to its place among the other, sorted inputs. */
function sink(inputs: MergeInput[], before: MergeOrder): void {
  const moved = inputs.pop();
  if (moved === undefined) return;
  let low = 0;
  let high = inputs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(inputs[middle]!, moved) < 0) high = middle;
    else low = middle + 1;
  }
  inputs.splice(low, 0, moved);
}

/** Rows picked one by one from several inputs, as one batch. The text cells stay in the memory of the inputs. */
class MergedRows {
  readonly #arena: Arena;
  readonly #codec: RowCodec;
  readonly #target: RowTarget;
  readonly #selection: number;
  readonly #bigs: (Map<number, { readonly unscaled: bigint; readonly scale: number }> | null)[];
  #rows = 0;

  constructor(arena: Arena, codec: RowCodec, types: readonly StoredType[]) {
    this.#arena = arena;
    this.#codec = codec;
    const rowsMax = codec.rowsWithin(MERGED_ROWS);
    this.#target = codec.target(rowsMax);
    this.#selection = arena.heap.allocate(rowsMax * 4);
    for (let row = 0; row < rowsMax; row++) arena.heap.u32[(this.#selection >>> 2) + row] = row;
    this.#bigs = types.map(() => null);
  }

  get full(): boolean {
    return this.#rows === this.#target.rowsMax;
  }

  clear(): void {
    this.#rows = 0;
    this.#bigs.fill(null);
  }

  add({ reader, batch, row }: MergeInput): void {
    const { u8, u32, f64 } = this.#arena.heap;
    const to = this.#rows++;
    for (const [index, column] of batch.columns.entries()) {
      const { at, meta, kinds } = this.#target.columns[index]!;
      if (column.kind === 'raw') throw new Error('rows that were read back have no raw columns');
      const [target, source] = [(at + to * VIEW_BYTES) >>> 2, (column.at + row * VIEW_BYTES) >>> 2];
      u32[target] = u32[source]!;
      u32[target + 1] = u32[source + 1]!;
      if (column.kind !== 'typed') {
        if (kinds !== 0) u8[kinds + to] = u8[column.kinds! + row]!;
        continue;
      }
      u8[meta + to] = u8[column.meta + row]!;
      const big = column.big?.get(row);
      if (big === undefined) continue;
      this.#bigs[index] ??= new Map();
      this.#bigs[index].set(to, big);
    }
    f64[(this.#target.orders >>> 3) + to] = f64[(reader.orders >>> 3) + row]!;
    f64[(this.#target.sources >>> 3) + to] = batch.sourceRow(row);
  }

  /** Releases what the receiver has written to the arena. */
  *emit(next: (batch: Batch, orders: number) => Slices): Slices {
    const mark = this.#arena.next;
    yield* next(this.#batch(), this.#target.orders);
    this.#arena.release(mark);
  }

  #batch(): Batch {
    const columns = this.#codec.columns(this.#target, 0).map((column, index): ColumnData => {
      return column.kind === 'typed' ? { ...column, big: this.#bigs[index]! } : column;
    });
    return targetBatch({
      arena: this.#arena,
      columns,
      rows: this.#rows,
      selection: this.#selection,
      sources: this.#target.sources,
    });
  }
}
