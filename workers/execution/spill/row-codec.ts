// Encodes rows of any columns as records in memory, and decodes them (the layout is described in
// kernel/assembly/rows.ts). A decimal column is followed by a hidden text column for values beyond 64 bits, and a
// column of texts with kinds by a hidden column of bytes.
import { Batch, type ColumnData } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import { META_BIG, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import {
  COLUMN_AT,
  COLUMN_BYTES,
  COLUMN_KIND,
  COLUMN_META,
  KIND_BYTES,
  KIND_TYPED,
  KIND_VIEWS,
} from '../../kernel/layout/records.ts';
import type { Heap } from '../../memory/heap.ts';

type Big = { readonly unscaled: bigint; readonly scale: number };

/** Maximum number of columns with which a target can hold all requested rows: with 2,048 rows, 2 MiB of views. */
const COLUMNS_READ = 128;

/** Columns into which records are decoded, with space for `rowsMax` rows. */
export interface RowTarget {
  readonly description: number;
  readonly columns: readonly Readonly<{ at: number; meta: number; bigAt: number; kinds: number }>[];
  readonly rowsMax: number;
  /** One f64 per row. */
  readonly orders: number;
  readonly sources: number;
}

export class RowCodec {
  readonly #heap: Heap;
  readonly #kernel: Kernel;
  readonly #types: readonly StoredType[];
  readonly #width: number;
  readonly #description: number;
  readonly #reached: number;

  constructor(heap: Heap, kernel: Kernel, types: readonly StoredType[]) {
    this.#heap = heap;
    this.#kernel = kernel;
    this.#types = types;
    this.#width = types.length + types.filter(hasHidden).length;
    this.#description = heap.allocate(this.#width * COLUMN_BYTES);
    this.#reached = heap.allocate(8);
  }

  /**
   * Creates views of all text columns. Must be called before rows of the batch are encoded and before a mark is set in
   * the arena.
   */
  prepare(batch: Batch): void {
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
  }

  /**
   * Writes rows (u32 physical rows, positions `from` to `count`) with their order numbers (f64 by position) to [next,
   * limit). Returns the end of the written bytes and the position reached. Rows that do not fit are left for another
   * call.
   */
  encode(
    batch: Batch,
    list: { readonly rows: number; readonly from: number; readonly count: number; readonly orders: number },
    next: number,
    limit: number,
  ): { next: number; reached: number } {
    const mark = batch.arena.next;
    this.describe(batch);
    const reached = this.encodeDescribed(batch, list, next, limit);
    batch.arena.release(mark);
    return reached;
  }

  /** Like `encode`, for the batch with which `describe` was called last. */
  encodeDescribed(
    { sourceRows }: Batch,
    list: { readonly rows: number; readonly from: number; readonly count: number; readonly orders: number },
    next: number,
    limit: number,
  ): { next: number; reached: number } {
    const [sources, sourceFirst] = 'at' in sourceRows ? [sourceRows.at, 0] : [0, sourceRows.first];
    const end = this.#kernel.exports.encodeRows(
      this.#description,
      this.#width,
      list.rows,
      list.from,
      list.count,
      list.orders,
      sources,
      sourceFirst,
      next,
      limit,
      this.#reached,
    );
    return { next: end >>> 0, reached: this.#heap.u32[this.#reached >>> 2]! };
  }

  /**
   * Reduces a number of rows if they are wide, so that they need no more memory than rows with COLUMNS_READ columns.
   */
  rowsWithin(rows: number): number {
    return Math.max(1, Math.min(rows, Math.floor((rows * COLUMNS_READ) / this.#types.length)));
  }

  /** Allocates a target. */
  target(rowsMax: number, allocate = (bytes: number): number => this.#heap.allocate(bytes)): RowTarget {
    const columns = this.#types.map((type) => ({
      at: allocate(rowsMax * VIEW_BYTES),
      meta: isTyped(type) ? allocate(rowsMax) : 0,
      bigAt: type === 'decimal' ? allocate(rowsMax * VIEW_BYTES) : 0,
      kinds: type === 'text_with_kind' ? allocate(rowsMax) : 0,
    }));
    const description = allocate(this.#width * COLUMN_BYTES);
    let next = description;
    for (const [index, { at, meta, bigAt, kinds }] of columns.entries()) {
      next = this.#putColumn(next, cellsKind(this.#types[index]!), at, meta);
      if (!hasHidden(this.#types[index]!)) continue;
      next = bigAt === 0 ? this.#putColumn(next, KIND_BYTES, kinds, 0) : this.#putColumn(next, KIND_VIEWS, bigAt, 0);
    }
    return { description, columns, rowsMax, orders: allocate(rowsMax * 8), sources: allocate(rowsMax * 8) };
  }

  /**
   * Returns the space after the first `rows` rows of a target without decimals and kinds, for up to `rowsMax` rows.
   * Valid until the next call.
   */
  after(target: RowTarget, rows: number, rowsMax: number): RowTarget {
    const columns = target.columns.map(({ at, meta, bigAt, kinds }) => ({
      at: at + rows * VIEW_BYTES,
      meta: meta === 0 ? 0 : meta + rows,
      bigAt,
      kinds,
    }));
    let next = this.#description;
    for (const [index, { at, meta }] of columns.entries())
      next = this.#putColumn(next, cellsKind(this.#types[index]!), at, meta);
    const [orders, sources] = [target.orders + rows * 8, target.sources + rows * 8];
    return {
      description: this.#description,
      columns,
      rowsMax: Math.min(rowsMax, target.rowsMax - rows),
      orders,
      sources,
    };
  }

  /** Decodes complete records of [from, end). Text cells refer to them. */
  decode(target: RowTarget, from: number, end: number): { rows: number; reached: number } {
    const rows = this.#kernel.exports.decodeRows(
      target.description,
      this.#width,
      from,
      end,
      target.rowsMax,
      target.orders,
      target.sources,
      this.#reached,
    );
    return { rows, reached: this.#heap.u32[this.#reached >>> 2]! };
  }

  /** Decodes the records of sort entries (kernel/assembly/sort.ts). */
  decodeEntries(target: RowTarget, entries: number, count: number): void {
    const { description, orders, sources } = target;
    this.#kernel.exports.decodeEntries(description, this.#width, entries, count, orders, sources);
  }

  /** Returns the columns of a target for a batch of `rows` rows. */
  columns(target: RowTarget, rows: number): ColumnData[] {
    return target.columns.map(({ at, meta, bigAt, kinds }, index) => {
      const type = this.#types[index]!;
      if (type === 'text_with_kind') return { kind: 'views', at, kinds };
      if (type === 'text' || type === 'json') return { kind: 'views', at };
      const big = bigAt === 0 ? null : this.#bigValues(bigAt, meta, rows);
      return { kind: 'typed', type, at, meta, big };
    });
  }

  /** Writes the description of one column. Returns the address of the next description. */
  #putColumn(at: number, kind: number, address: number, meta: number): number {
    const { u32 } = this.#heap;
    u32[(at + COLUMN_KIND) >>> 2] = kind;
    u32[(at + COLUMN_AT) >>> 2] = address;
    u32[(at + COLUMN_META) >>> 2] = meta;
    return at + COLUMN_BYTES;
  }

  /** Describes the columns of a batch for `encodeDescribed`, in memory of the arena that must stay valid. */
  describe(batch: Batch): void {
    let next = this.#description;
    for (const [index, type] of this.#types.entries()) {
      const column = batch.columns[index]!;
      if (column.kind === 'raw') throw new Error('prepare makes views of text columns');
      const meta = column.kind === 'typed' ? column.meta : 0;
      next = this.#putColumn(next, column.kind === 'typed' ? KIND_TYPED : KIND_VIEWS, column.at, meta);
      if (!hasHidden(type)) continue;
      if (type === 'decimal') {
        next = this.#putColumn(next, KIND_VIEWS, bigViews(batch, column.kind === 'typed' ? column.big : null), 0);
      } else next = this.#putColumn(next, KIND_BYTES, column.kind === 'views' ? (column.kinds ?? 0) : 0, 0);
    }
  }

  #bigValues(bigAt: number, meta: number, rows: number): Map<number, Big> | null {
    let big: Map<number, Big> | null = null;
    const { u8, u32 } = this.#heap;
    for (let row = 0; row < rows; row++) {
      if (u8[meta + row] !== META_BIG) continue;
      const view = (bigAt + row * VIEW_BYTES) >>> 2;
      const text = Buffer.from(u8.buffer, u32[view]!, u32[view + 1]!).toString('latin1');
      const [unscaled, scale] = text.split('e');
      big ??= new Map();
      big.set(row, { unscaled: BigInt(unscaled!), scale: Number(scale) });
    }
    return big;
  }
}

function isTyped(type: StoredType): boolean {
  return type !== 'text' && type !== 'json' && type !== 'text_with_kind';
}

function cellsKind(type: StoredType): number {
  return isTyped(type) ? KIND_TYPED : KIND_VIEWS;
}

function hasHidden(type: StoredType): boolean {
  return type === 'decimal' || type === 'text_with_kind';
}

/** Returns values beyond 64 bits as texts, null in all other rows. */
function bigViews(batch: Batch, big: ReadonlyMap<number, Big> | null): number {
  const { arena } = batch;
  const at = arena.take(batch.rows * VIEW_BYTES);
  arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
  for (const [row, { unscaled, scale }] of big ?? []) {
    const text = `${unscaled}e${scale}`;
    if (arena.freeBytes < text.length * 3) arena.enlarge(text.length * 3);
    const start = arena.next;
    const bytes = arena.write(text);
    arena.heap.u32.set([start, bytes], (at + row * VIEW_BYTES) >>> 2);
  }
  return at;
}

/** Returns a batch over decoded rows. Valid until the target is used again. */
export function targetBatch(batch: {
  readonly arena: Batch['arena'];
  readonly columns: readonly ColumnData[];
  readonly rows: number;
  readonly selection: number;
  readonly sources: number;
}): Batch {
  return new Batch({
    arena: batch.arena,
    rows: batch.rows,
    selection: batch.selection,
    live: batch.rows,
    columns: batch.columns,
    raw: null,
    sourceRows: { at: batch.sources },
    materialise: () => {
      throw new Error('rows that were read back have no raw columns');
    },
  });
}
