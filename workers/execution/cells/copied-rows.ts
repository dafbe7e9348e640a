// Makes several rows from one: copies of rows, and one row per value of a cell.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type Column, type ColumnType, storedType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';
import * as words from '../../kernel/layout/cells.ts';
import { KIND_TEXT, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { PAUSE, type Slices } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext } from '../../template/operation.ts';
import { jsonItems, jsonKind } from '../../values/json-text.ts';
import { trimWhiteSpace } from '../../values/text-edits.ts';
import { splitText } from '../../values/text-search.ts';
import { targetBatch } from '../spill/row-codec.ts';
import { columnIndex } from './cell-operator.ts';
import { jsonState } from './json.ts';
import { type PlacedText, placeText } from './text-chain.ts';

// Reorders the columns of a batch to match an operation's output.

/**
 * @param layout for each output column, its index in the batch, or -1
 * @param made data of the new columns (-1 in the layout), in order
 */
export function arrange(batch: Batch, layout: readonly number[], made: readonly ColumnData[] = []): Batch {
  let nextMade = 0;
  const columns = layout.map((index) => {
    const column = index < 0 ? made[nextMade++] : batch.columns[index];
    if (column === undefined) throw new Error('layout and columns disagree');
    return column;
  });
  return batch.withColumns(columns);
}

// Creates a batch of copies of rows of another batch, any number of times and in any order. The texts stay in the
// memory of the other batch.

/**
 * Maximum number of rows that an operation that multiplies rows emits at once, and maximum number of cells for wide
 * rows: half a MiB of views.
 */
const COPIED_ROWS_MAX = 2048;
const COPIED_CELLS_MAX = 65_536;

/** Maximum number of rows with this many columns that are copied at once. */
export function copiedRowsMax(columns: number): number {
  return Math.max(1, Math.min(COPIED_ROWS_MAX, Math.floor(COPIED_CELLS_MAX / columns)));
}

/** List of physical rows (u32 each), one per copy. */
export interface RowList {
  readonly at: number;
  readonly count: number;
}

/** Writes a list of numbers into the arena (u32 each). */
export function placeNumbers(arena: Arena, numbers: readonly number[]): number {
  const at = arena.take(numbers.length * 4);
  arena.heap.u32.set(numbers, at >>> 2);
  return at;
}

/**
 * @param rows physical rows of `from`, in the order of the copies
 * @param columns indexes of the columns to copy; text columns must be views
 */
export function copyRows(
  { arena, kernel }: Pick<OperatorContext, 'arena' | 'kernel'>,
  from: Batch,
  rows: RowList,
  columns: readonly number[],
): Batch {
  const { at: list, count } = rows;
  const made = columns.map((index): ColumnData => {
    const column = from.columns[index]!;
    if (column.kind === 'raw') throw new Error('rows to copy have views');
    const { at, meta } = copyCells(arena, kernel, column, list, count);
    if (column.kind === 'views')
      return column.kinds === undefined ? { kind: 'views', at } : { kind: 'views', at, kinds: meta };
    const big = column.big === null ? null : copiedBigs(column.big, from, rows);
    return { kind: 'typed', type: column.type, at, meta, big };
  });
  const selection = arena.take(count * 4);
  const sources = arena.take(count * 8);
  const { sourceRows } = from;
  kernel.exports.numberRows(list, count, 'at' in sourceRows ? 0 : sourceRows.first, selection, sources);
  if ('at' in sourceRows) kernel.exports.copyCells(sourceRows.at, 0, list, count, sources, 0);
  return targetBatch({ arena, columns: made, rows: count, selection, sources });
}

type Big = { readonly unscaled: bigint; readonly scale: number };

/** For columns with kinds, `meta` contains the kinds. */
function copyCells(
  arena: Arena,
  kernel: Kernel,
  column: Exclude<ColumnData, { readonly kind: 'raw' }>,
  list: number,
  count: number,
): { readonly at: number; readonly meta: number } {
  const from = column.kind === 'typed' ? column.meta : (column.kinds ?? 0);
  const at = arena.take(count * VIEW_BYTES);
  const meta = from === 0 ? 0 : arena.take(count);
  kernel.exports.copyCells(column.at, from, list, count, at, meta);
  return { at, meta };
}

function copiedBigs(big: ReadonlyMap<number, Big>, { heap }: Batch, { at, count }: RowList): Map<number, Big> {
  const copied = new Map<number, Big>();
  for (let to = 0; to < count; to++) {
    const value = big.get(heap.u32[(at >>> 2) + to]!);
    if (value !== undefined) copied.set(to, value);
  }
  return copied;
}

// Creates one row per value in a cell. Kernels split the cells and list the copies. Errors, such as a cell with too
// many values or invalid JSON, are handled here, as well as cells that no kernel supports.

export interface ExplodePlan {
  readonly column: Column;
  /** null if the cells are JSON arrays. */
  readonly separator: string | null;
  readonly trim: boolean;
  readonly hasIndex: boolean;
  readonly itemsMax: number;
}

/** Maximum length of a separator for the kernel. Its search time grows with both lengths. */
const SEPARATOR_BYTES_MAX = 32;

/** Value of a copied row in the exploded column. */
type Value = string | null | typeof WHOLE;

/** Means that the cell is unchanged. */
const WHOLE = Symbol('whole');

export class ExplodedRows implements Operator {
  readonly rowsMost: number;
  readonly #context: OperatorContext;
  readonly #plan: ExplodePlan;
  readonly #index: number;
  readonly #reader: CellReader;
  readonly #all: readonly number[];
  /** null if no kernel supports the separator. */
  readonly #separator: PlacedText | null;
  readonly #json: number;
  readonly #state: number;

  constructor(planned: ExplodePlan, context: OperatorContext) {
    const { heap } = context.arena;
    const { separator, column } = planned;
    this.#context = context;
    this.#plan = planned;
    this.rowsMost = planned.itemsMax;
    this.#index = columnIndex(context.input, column);
    this.#reader = new CellReader(storedType(column), this.#index);
    this.#all = context.input.map((_, index) => index);
    this.#separator = separator !== null && isForKernel(separator) ? placeText(heap, separator) : null;
    this.#json = separator === null ? jsonState(heap) : 0;
    this.#state = heap.allocate(words.STATE_BYTES);
  }

  *push(batch: Batch): Slices {
    const { arena, clock } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    this.#placeLists(batch);
    const mark = arena.next;
    for (;;) {
      this.#put(words.NEXT_FREE, arena.next);
      this.#put(words.FREE_END, arena.limit);
      const why = this.#run(batch);
      arena.next = this.#word(words.NEXT_FREE);
      if (why === words.STOPPED_AT_CELL) {
        yield* this.#byHand(batch, mark);
        this.#put(words.POSITION, this.#word(words.POSITION) + 1);
      } else {
        if (why === words.STOPPED_NO_SPACE && this.#word(words.COPIES) === 0) arena.enlarge(arena.capacityBytes * 2);
        yield* this.#emit(batch, mark);
      }
      if (why === words.STOPPED_AT_END) return;
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** Allocates the lists for the copies, and sets the words that stay the same for the whole batch. */
  #placeLists(batch: Batch): void {
    const { arena } = this.#context;
    const { column, hasIndex, itemsMax } = this.#plan;
    const most = copiedRowsMax(batch.columns.length);
    const data = batch.columns[this.#index]!;
    const hasKinds = storedType(column) === 'text_with_kind';
    arena.heap.u32.fill(0, this.#state >>> 2, (this.#state + words.STATE_BYTES) >>> 2);
    this.#put(words.COPIES_MAX, most);
    this.#put(words.ITEMS_MAX, itemsMax);
    this.#put(words.LIST_ROWS, arena.take(most * 4));
    this.#put(words.LIST_VIEWS, arena.take(most * VIEW_BYTES));
    this.#put(words.LIST_KINDS, hasKinds ? arena.take(most) : 0);
    this.#put(words.CELL_KINDS, data.kind === 'views' ? (data.kinds ?? 0) : 0);
    this.#put(words.LIST_NUMBERS, hasIndex ? arena.take(most * 8) : 0);
    this.#put(words.LIST_META, hasIndex ? arena.take(most) : 0);
  }

  /** Lists copies until something else must be done, and returns what. */
  #run({ columns, selection, live }: Batch): number {
    const { explodeLists, explodeTexts } = this.#context.kernel.exports;
    const { column, separator, trim } = this.#plan;
    const data = columns[this.#index]!;
    if (data.kind === 'raw') throw new Error('views of the columns are made before');
    // A column of nulls may be stored differently than its type suggests. It is handled here, like all cells that no
    // kernel splits.
    if (data.kind === 'views' && separator === null) {
      return explodeLists(this.#state, this.#json, data.at, selection, live, column.type === 'text' ? 1 : 0);
    }
    if (data.kind === 'views' && this.#separator !== null) {
      const { at, bytes } = this.#separator;
      return explodeTexts(this.#state, data.at, selection, live, at, bytes, trim ? 1 : 0);
    }
    return this.#word(words.POSITION) === live ? words.STOPPED_AT_END : words.STOPPED_AT_CELL;
  }

  /** Lists the copies of one row. */
  *#byHand(batch: Batch, mark: number): Slices {
    const row = batch.physicalRow(this.#word(words.POSITION));
    this.#reader.bind(batch);
    const values = this.#values(batch, row);
    for (const [index, value] of (values ?? []).entries()) {
      while (!this.#add(batch, row, value, index + 1)) {
        if (this.#word(words.COPIES) === 0) this.#context.arena.enlarge(this.#context.arena.capacityBytes * 2);
        yield* this.#emit(batch, mark);
      }
    }
    if (values !== null && values.length === 0 && !this.#add(batch, row, null, 0)) {
      yield* this.#emit(batch, mark);
      this.#add(batch, row, null, 0);
    }
  }

  /** Returns false if there is no space. */
  #add(batch: Batch, row: number, value: Value, number: number): boolean {
    const { arena } = this.#context;
    const copy = this.#word(words.COPIES);
    if (copy === this.#word(words.COPIES_MAX)) return false;
    if (typeof value === 'string' && !arena.hasSpaceFor(value)) return false;
    const { u8, u32, i64 } = arena.heap;
    const view = (this.#word(words.LIST_VIEWS) >>> 2) + copy * 2;
    const data = batch.columns[this.#index]!;
    const cell = value === WHOLE && data.kind === 'views' ? (data.at >>> 2) + row * 2 : 0;
    const [at, bytes] = cell === 0 ? [0, 0] : [u32[cell]!, u32[cell + 1]!];
    const start = typeof value === 'string' ? arena.next : at;
    u32[view] = start;
    u32[view + 1] = typeof value === 'string' ? arena.write(value) : bytes;
    u32[(this.#word(words.LIST_ROWS) >>> 2) + copy] = row;
    const kinds = this.#word(words.LIST_KINDS);
    if (kinds !== 0) u8[kinds + copy] = cell === 0 ? KIND_TEXT : this.#reader.kind(row);
    const numbers = this.#word(words.LIST_NUMBERS);
    if (numbers !== 0) {
      i64[(numbers >>> 3) + copy] = BigInt(number);
      u8[this.#word(words.LIST_META) + copy] = number === 0 ? META_NULL : 0;
    }
    this.#put(words.COPIES, copy + 1);
    return true;
  }

  /** Returns the values of a row's cell. An empty list keeps the row once; null drops it. */
  #values(batch: Batch, row: number): readonly Value[] | null {
    const { column, separator, trim, itemsMax } = this.#plan;
    const text = this.#reader.text(row);
    if (text === null || text === '') return [];
    const items =
      separator === null ? arrayItems(text, column.type, itemsMax) : textItems(text, separator, trim, itemsMax);
    const code: RowErrorCode | null = items === null ? 'BAD_JSON' : items.length > itemsMax ? 'SPLIT_COUNT' : null;
    // A cell that is its own only value stays unchanged.
    if (items !== null && code === null) return items.length === 1 && items[0] === text ? [WHOLE] : items;
    const action = this.#context.errors.report(batch, row, column.name, code!);
    if (action === 'drop_row') return null;
    return action === 'keep' ? [WHOLE] : [];
  }

  /** Emits the listed copies and resets the arena to the mark. */
  *#emit(batch: Batch, mark: number): Slices {
    const { arena, layout, next } = this.#context;
    const count = this.#word(words.COPIES);
    if (count > 0) {
      const copied = copyRows(this.#context, batch, { at: this.#word(words.LIST_ROWS), count }, this.#all);
      copied.columns[this.#index] = this.#cells();
      yield* next(arrange(copied, layout, this.#numbers()));
    }
    this.#put(words.COPIES, 0);
    arena.release(mark);
  }

  #cells(): ColumnData {
    const at = this.#word(words.LIST_VIEWS);
    const kinds = this.#word(words.LIST_KINDS);
    return kinds === 0 ? { kind: 'views', at } : { kind: 'views', at, kinds };
  }

  #numbers(): readonly ColumnData[] {
    if (!this.#plan.hasIndex) return [];
    const at = this.#word(words.LIST_NUMBERS);
    return [{ kind: 'typed', type: 'integer', at, meta: this.#word(words.LIST_META), big: null }];
  }

  #word(word: number): number {
    return this.#context.arena.heap.u32[(this.#state + word) >>> 2]!;
  }

  #put(word: number, value: number): void {
    this.#context.arena.heap.u32[(this.#state + word) >>> 2] = value;
  }
}

/** A lone surrogate has no UTF-8 form, so the kernel cannot search for it. */
function isForKernel(separator: string): boolean {
  const bytes = Buffer.from(separator);
  return bytes.length <= SEPARATOR_BYTES_MAX && bytes.toString() === separator;
}

/** Splits into at most one part more than allowed, which is enough to detect the excess. */
function textItems(text: string, separator: string, trim: boolean, itemsMax: number): (string | null)[] {
  return splitText(text, separator, itemsMax + 1).map((part) => {
    const item = trim ? trimWhiteSpace(part) : part;
    return item === '' ? null : item;
  });
}

/**
 * Returns null if the text is not an array. Returns at most one item more than allowed, which is enough to detect the
 * excess.
 */
function arrayItems(text: string, type: ColumnType, itemsMax: number): (string | null)[] | null {
  if (jsonKind(text) !== 'array') return null;
  const items: (string | null)[] = [];
  for (const item of jsonItems(text)) {
    if (item === 'null' || item === '""') items.push(null);
    else items.push(type === 'text' && item.startsWith('"') ? (JSON.parse(item) as string) : item);
    if (items.length > itemsMax) break;
  }
  return items;
}
