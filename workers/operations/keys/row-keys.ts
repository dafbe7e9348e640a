// Keys of rows: the bytes by which rows count as equal, as views by physical row, made from one or several columns.
import { type Batch, type ColumnData, META_BIG, META_NULL, VIEW_BYTES } from '../../batch.ts';
import { chainScratchBytes, runTextChain, type TextStep } from '../cells/text-chain.ts';
import type { OperatorContext } from '../operation.ts';
import { type MatchLevel, matchSteps } from './match-level.ts';

const NULL_KEY_FIRST_BYTE = 0xff;

export class RowKeys {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #columns: readonly number[];
  /** For each column what is done to its texts before they are compared. */
  readonly #steps: readonly (readonly TextStep[])[];
  readonly #addresses: number;
  readonly #nullsDistinct: boolean;
  #nullKeys = 0;

  /**
   * @param columns indexes in the batch; texts are compared at the level (of all columns, or of each), other types by
   * their value
   * @param nullsDistinct gives each row with a null in its key a key of its own
   */
  constructor(
    context: Pick<OperatorContext, 'arena' | 'kernel'>,
    columns: readonly number[],
    level: MatchLevel | readonly MatchLevel[],
    nullsDistinct = false,
  ) {
    this.#context = context;
    this.#nullsDistinct = nullsDistinct;
    this.#columns = columns;
    const { heap } = context.arena;
    this.#steps = columns.map((_, at) => matchSteps(heap, typeof level === 'string' ? level : level[at]!));
    this.#addresses = context.arena.heap.allocate(columns.length * 4);
  }

  /** Makes what outlives a slice of the batch: call it before `inSlices`. */
  prepare(batch: Batch): void {
    for (const index of this.#columns) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
  }

  /** As `make`, of all live rows, and none of the keys null: one column is composed too. */
  makeFilled(batch: Batch): number {
    const views: number[] = [];
    for (const [at, index] of this.#columns.entries()) {
      const made = this.#columnViews(batch, batch.columns[index]!, this.#steps[at]!, batch.selection, batch.live);
      if (made === 0) return 0;
      views.push(made);
    }
    const { selection, live } = batch;
    const keys = this.#compose(batch, views, selection, live);
    return keys !== 0 && this.#nullsDistinct ? this.#separateNulls(batch, views, keys, selection, live) : keys;
  }

  /** Address of the views of the keys of a row list, by physical row; 0 when the arena is full. */
  make(batch: Batch, rows: number, count: number): number {
    const views: number[] = [];
    for (const [at, index] of this.#columns.entries()) {
      const made = this.#columnViews(batch, batch.columns[index]!, this.#steps[at]!, rows, count);
      if (made === 0) return 0;
      views.push(made);
    }
    const keys = views.length === 1 ? views[0]! : this.#compose(batch, views, rows, count);
    return keys !== 0 && this.#nullsDistinct ? this.#separateNulls(batch, views, keys, rows, count) : keys;
  }

  /** No other key is nine bytes that begin with a byte that UTF-8 does not have. */
  #separateNulls(batch: Batch, views: readonly number[], keys: number, rows: number, count: number): number {
    const { arena } = this.#context;
    const { u8, u32, f64 } = arena.heap;
    const made = arena.tryTake(batch.rows * VIEW_BYTES);
    if (made === 0) return 0;
    u8.copyWithin(made, keys, keys + batch.rows * VIEW_BYTES);
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      if (views.every((at) => u32[(at >>> 2) + row * 2] !== 0)) continue;
      const key = arena.tryTake(16);
      if (key === 0) return 0;
      u8[key + 7] = NULL_KEY_FIRST_BYTE;
      f64[(key + 8) >>> 3] = this.#nullKeys++;
      u32[(made >>> 2) + row * 2] = key + 7;
      u32[(made >>> 2) + row * 2 + 1] = 9;
    }
    return made;
  }

  #compose(batch: Batch, views: readonly number[], rows: number, count: number): number {
    const { arena, kernel } = this.#context;
    const keys = arena.tryTake(batch.rows * VIEW_BYTES);
    if (keys === 0) return 0;
    arena.heap.u32.set(views, this.#addresses >>> 2);
    const next = kernel.exports.composeKeys(this.#addresses, views.length, rows, count, keys, arena.next, arena.limit);
    if (next === 0) return 0;
    arena.next = next >>> 0;
    return keys;
  }

  #columnViews(batch: Batch, column: ColumnData, steps: readonly TextStep[], rows: number, count: number): number {
    if (column.kind === 'typed') return this.#typedViews(batch, column, rows, count);
    if (column.kind === 'raw') throw new Error('prepare makes views of key columns');
    if (steps.length === 0) return column.at;
    const { arena, kernel } = this.#context;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    const list = arena.tryTake(chainScratchBytes(count));
    if (views === 0 || list === 0) return 0;
    arena.heap.u8.copyWithin(views, column.at, column.at + batch.rows * VIEW_BYTES);
    arena.heap.u8.copyWithin(list, rows, rows + count * 4);
    return runTextChain(steps, kernel, arena, { views, rows: list, count }) ? views : 0;
  }

  /** Typed values are their own bytes; decimals and doubles first take one form for equal values. */
  #typedViews(batch: Batch, column: Extract<ColumnData, { kind: 'typed' }>, rows: number, count: number): number {
    const { arena } = this.#context;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    if (views === 0) return 0;
    for (let i = 0; i < count; i++) {
      const { u8, u32, f64 } = arena.heap;
      const row = u32[(rows >>> 2) + i]!;
      const at = (views + row * VIEW_BYTES) >>> 2;
      const meta = u8[column.meta + row]!;
      if (meta === META_NULL) {
        u32[at] = 0;
        u32[at + 1] = 0;
      } else if (column.type === 'decimal') {
        const text = canonicalDecimal(batch, column, row, meta);
        if (arena.freeBytes < text.length * 3) return 0;
        u32[at] = arena.next;
        u32[at + 1] = arena.write(text);
      } else {
        const value = column.at + row * 8;
        if (column.type === 'number' && f64[value >>> 3] === 0) f64[value >>> 3] = 0;
        u32[at] = column.type === 'boolean' ? column.meta + row : value;
        u32[at + 1] = column.type === 'boolean' ? 1 : 8;
      }
    }
    return views;
  }
}

/** One text for equal decimals: 1.0 and 1.00 are the same key. */
function canonicalDecimal(
  batch: Batch,
  column: Extract<ColumnData, { kind: 'typed' }>,
  row: number,
  meta: number,
): string {
  const big = meta === META_BIG ? column.big!.get(row)! : null;
  let unscaled = big === null ? batch.heap.i64[(column.at >>> 3) + row]! : big.unscaled;
  let scale = big === null ? meta : big.scale;
  while (scale > 0 && unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale--;
  }
  return `${unscaled}e${scale}`;
}
