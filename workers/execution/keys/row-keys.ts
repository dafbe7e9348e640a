// Keys of rows: the bytes by which rows count as equal, as views by physical row, made from one or several columns.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { META_SCALE_MAX, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { DECIMAL_KEY_BYTES, KEY_BOOLEAN, KEY_DECIMAL, KEY_DOUBLE, KEY_WORD } from '../../kernel/layout/keys.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { chainScratchBytes, runTextChain, type TextStep } from '../cells/text-chain.ts';
import { type MatchLevel, matchSteps } from './match-level.ts';

const NULL_KEY_FIRST_BYTE = 0xff;

/** How the kernel typedKeys makes the key of a type. */
const KEY_KINDS = {
  integer: KEY_WORD,
  date: KEY_WORD,
  datetime: KEY_WORD,
  number: KEY_DOUBLE,
  boolean: KEY_BOOLEAN,
  decimal: KEY_DECIMAL,
} as const;

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
    const levels = columns.map((_, at) => (typeof level === 'string' ? level : level[at]!));
    // Each step holds a table of its own: one for each of thousands of columns is seconds of work.
    const steps = new Map([...new Set(levels)].map((each) => [each, matchSteps(heap, each)]));
    this.#steps = levels.map((each) => steps.get(each)!);
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

  /** Equal values have the same bytes: kernel/assembly/typed-keys.ts tells which. */
  #typedViews(batch: Batch, column: TypedColumn, rows: number, count: number): number {
    const { arena, kernel } = this.#context;
    const views = arena.tryTake(batch.rows * VIEW_BYTES);
    const todo = arena.tryTake((count + 1) * 4);
    if (views === 0 || todo === 0) return 0;
    const { at, meta, type } = column;
    const { next, limit } = arena;
    const end = kernel.exports.typedKeys(at, meta, rows, count, KEY_KINDS[type], views, next, limit, todo) >>> 0;
    if (end === 0) return 0;
    arena.next = end;
    const { u8, u32 } = arena.heap;
    for (let i = 1; i <= u32[todo >>> 2]!; i++) {
      const row = u32[(todo >>> 2) + i]!;
      const key = bigKey(column.big!.get(row)!);
      if (arena.freeBytes < key.length) return 0;
      u8.set(key, arena.next);
      u32.set([arena.next, key.length], (views + row * VIEW_BYTES) >>> 2);
      arena.next += key.length;
    }
    return views;
  }
}

/** As the kernel's where the value fits without its zeros at the end, else a text that is longer than those. */
function bigKey(value: { readonly unscaled: bigint; readonly scale: number }): Uint8Array {
  let { unscaled, scale } = value;
  while (scale > 0 && unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale--;
  }
  if (scale > META_SCALE_MAX || BigInt.asIntN(64, unscaled) !== unscaled)
    return Buffer.from(`decimal ${unscaled}e${scale}`);
  const key = Buffer.alloc(DECIMAL_KEY_BYTES);
  key.writeBigInt64LE(unscaled, 0);
  key[DECIMAL_KEY_BYTES - 1] = scale;
  return key;
}
