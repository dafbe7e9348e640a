// Passes rows through the functions of `window`: sorted by group and order, forward and then backward. Totals of whole
// groups need no sorting.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import { columnTypeOf, type StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { META_BIG } from '../../kernel/layout/cells.ts';
import type { Arena } from '../../memory/arena.ts';
import { GrowingBlocks } from '../../memory/growing-blocks.ts';
import { PAUSE, type Sliced, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, Operator, OperatorContext } from '../../template/operation.ts';
import { groupOrder } from '../aggregate/group-order.ts';
import { GroupTotals, type TotalColumn } from '../aggregate/group-totals.ts';
import { setCell } from '../cells/value-cells.ts';
import { NumberedRows } from '../keys/numbered-rows.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import type { SortTerm } from '../sort/sort-keys.ts';
import { byPlace, placeColumn, placesOf, SortedGroups, viewsOf } from '../sort/top-of-groups.ts';
import { targetBatch } from '../spill/row-codec.ts';
import { RowStore, rowsBetween } from '../spill/row-store.ts';
import { percentOfSum, type WindowColumn, type WindowTotal } from './window-functions.ts';

// Calls the functions of `window` in one direction, row by row, and builds columns from the results.

class WindowDirection {
  readonly #context: OperatorContext;
  readonly #columns: readonly WindowColumn[];
  readonly #direction: 'forward' | 'backward';
  readonly #readers: readonly (CellReader | null)[];

  constructor(context: OperatorContext, columns: readonly WindowColumn[], direction: 'forward' | 'backward') {
    this.#context = context;
    this.#columns = columns;
    this.#direction = direction;
    this.#readers = columns.map(({ column, columnType }) => (column < 0 ? null : new CellReader(columnType, column)));
  }

  /** @param hidden index of the first column from the other direction, or -1 */
  *columns(batch: Batch, starts: Uint8Array, ties: Uint8Array, hidden: number): Sliced<ColumnData[]> {
    const made: ColumnData[] = [];
    for (const index of this.#columns.keys()) {
      made.push(this.#column(index, batch, { starts, ties, hidden }));
      if (this.#context.clock.isDue()) yield PAUSE;
    }
    return made;
  }

  #column(
    index: number,
    batch: Batch,
    { starts, ties, hidden }: { readonly starts: Uint8Array; readonly ties: Uint8Array; readonly hidden: number },
  ): ColumnData {
    const column = this.#columns[index]!;
    const { type, hiddenType } = column.function;
    const step = column.function[this.#direction];
    const made = this.#direction === 'forward' ? (hiddenType ?? type) : type;
    if (step === null && this.#direction === 'backward') return batch.columns[hidden + index]!;
    if (step === null) return this.#build(batch, made, []);
    const before = hidden < 0 || hiddenType === null ? null : new CellReader(hiddenType, hidden + index);
    before?.bind(batch);
    const reader = this.#readers[index] ?? null;
    reader?.bind(batch);
    const conditions = column.condition < 0 ? -1 : conditionAt(batch, column.condition);
    const values: unknown[] = [];
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      if (starts[position] === 1) step.begin();
      const counts = conditions < 0 || batch.heap.u8[conditions + row] === 1;
      // A function without a column counts rows.
      const value = !counts ? null : reader === null ? true : reader.read(row);
      values.push(step.next(value, before?.read(row) ?? null, ties[position] === 1));
    }
    return this.#build(batch, made, values);
  }

  /** Builds a column from values by position. */
  #build(batch: Batch, type: StoredType, values: readonly unknown[]): ColumnData {
    const { arena } = this.#context;
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      let isFull = !builder.begin(batch.rows);
      for (let position = 0; position < values.length && !isFull; position++) {
        isFull = !setCell(builder, batch.physicalRow(position), values[position]);
      }
      if (!isFull) return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  }
}

/** Address of the booleans of a condition, by physical row. */
function conditionAt(batch: Batch, index: number): number {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') throw new Error('conditions are booleans');
  return column.meta;
}

// New cells for waiting rows, each written at the position of its row among all rows: rows arrive in any order, and no
// sorting is needed to restore it. Used only while the budget has memory for all rows and texts at once.

/** Size of a value, or of the view of a text, in bytes. */
const VALUE_BYTES = 8;

/** Maximum number of decimals beyond 64 bits in all columns. They are outside the Run's memory. */
const BIG_CELLS_MAX = 4096;

/** Maximum size of the texts of a batch, in bytes. Larger batches are rare, and sorting their rows can spill the texts. */
const BATCH_TEXT_BYTES_MAX = 1024 * 1024;

/** Number of rows per batch when the rows are passed to the sorter instead. */
const ROWS_AT_ONCE = 2048;

type BigCells = NonNullable<TypedColumn['big']>;

interface PlacedColumn {
  readonly type: StoredType;
  readonly at: number;
  readonly meta: number;
  readonly big: BigCells;
}

/** Cells as the kernel copies them. */
interface MovedCells {
  readonly at: number;
  readonly meta: number;
  readonly big: TypedColumn['big'];
}

class PlacedCells {
  readonly #context: OperatorContext;
  readonly #rows: number;
  readonly #columns: readonly PlacedColumn[];
  readonly #region: { readonly at: number; readonly bytes: number };
  /** Address of one byte per row: 1 once the row has arrived. */
  readonly #arrived: number;
  /** The texts, or null if no column has texts. */
  readonly #texts: GrowingBlocks | null;
  #bigCells = 0;

  private constructor(context: OperatorContext, types: readonly StoredType[], rows: number, at: number) {
    const { heap } = context.arena;
    this.#context = context;
    this.#rows = rows;
    this.#region = { at, bytes: regionBytes(types, rows) };
    const metas = at + rows * VALUE_BYTES * types.length;
    this.#columns = types.map((type, index) => {
      return { type, at: at + index * rows * VALUE_BYTES, meta: metas + index * rows, big: new Map() };
    });
    this.#arrived = metas + rows * types.length;
    this.#texts = types.every(isFixed) ? null : new GrowingBlocks(heap);
    heap.u8.fill(0, this.#arrived, this.#arrived + rows);
  }

  /**
   * Returns null if the budget refuses the memory.
   * @param rows number of rows
   */
  static of(context: OperatorContext, types: readonly StoredType[], rows: number): PlacedCells | null {
    const at = context.arena.heap.tryAllocate(regionBytes(types, rows));
    return at === 0 ? null : new PlacedCells(context, types, rows, at);
  }

  /**
   * Writes the cells of a batch. Returns false, without any effect, if there are too many decimals beyond 64 bits or
   * no memory for the texts.
   * @param batch columns of the types, followed by the positions of the rows
   */
  put(batch: Batch): boolean {
    const { arena, kernel } = this.#context;
    const mark = arena.next;
    const made = this.#moved(batch);
    const bigCells = made?.reduce((sum, { big }) => sum + (big?.size ?? 0), this.#bigCells) ?? 0;
    if (made !== null && bigCells <= BIG_CELLS_MAX) {
      this.#bigCells = bigCells;
      const { putCells } = kernel.exports;
      const { selection, live } = batch;
      const places = viewsOf(batch.columns.at(-1)!);
      for (const [index, { at, meta, big }] of made.entries()) {
        const to = this.#columns[index]!;
        putCells(at, meta, places, selection, live, to.at, to.meta);
        if (big !== null && big.size > 0) putBigCells(batch, big, to.big);
      }
      putCells(0, 0, places, selection, live, 0, this.#arrived);
    }
    arena.release(mark);
    return made !== null && bigCells <= BIG_CELLS_MAX;
  }

  /** Returns the cells of consecutive rows, by physical row from 0 on. Valid until `drop`. */
  columns(from: number, rows: number): ColumnData[] {
    return this.#columns.map(({ type, at, meta, big }): ColumnData => {
      const cells = { at: at + from * VALUE_BYTES, meta: meta + from };
      if (type === 'text_with_kind') return { kind: 'views', at: cells.at, kinds: cells.meta };
      if (!isFixed(type)) return { kind: 'views', at: cells.at };
      return { kind: 'typed', type, ...cells, big: this.#bigAmong(big, cells.meta, from, rows) };
    });
  }

  /** Returns the rows that have arrived, in their order, so that the sorter can continue. */
  *batches(arena: Arena): Generator<Batch, void, undefined> {
    for (let from = 0; from < this.#rows; from += ROWS_AT_ONCE) {
      const rows = Math.min(ROWS_AT_ONCE, this.#rows - from);
      const mark = arena.next;
      const selection = arena.take(rows * 4);
      const sources = arena.take(rows * VALUE_BYTES);
      const { u8, u32 } = arena.heap;
      for (let row = 0; row < rows; row++) u32[(selection >>> 2) + row] = row;
      const all = targetBatch({ arena, columns: this.columns(from, rows), rows, selection, sources });
      const placed = all.withColumns([...all.columns, placeColumn(arena, all, from, false)]);
      let live = 0;
      for (let row = 0; row < rows; row++) {
        if (u8[this.#arrived + from + row] === 1) u32[(selection >>> 2) + live++] = row;
      }
      if (live > 0) yield placed.withSelection(selection, live);
      arena.release(mark);
    }
  }

  /** Releases its memory. */
  drop(): void {
    this.#context.arena.heap.release(this.#region.at, this.#region.bytes);
    this.#texts?.release();
  }

  /** Copies the texts of a batch, because the batch releases them. Returns null if there is no memory for the copies. */
  #moved(batch: Batch): readonly MovedCells[] | null {
    const moved: MovedCells[] = [];
    for (const [index, { type }] of this.#columns.entries()) {
      const column = batch.columns[index]!;
      if (column.kind === 'typed') moved.push(column);
      else {
        const at = this.#movedTexts(batch, viewsOf(column));
        const kinds = column.kind === 'views' ? column.kinds : undefined;
        if (at === 0 || (type === 'text_with_kind' && kinds === undefined)) return null;
        moved.push({ at, meta: kinds ?? this.#context.arena.take(batch.rows), big: null });
      }
    }
    return moved;
  }

  /** Returns the address of views of the copies, or 0 if there is no memory for them. */
  #movedTexts(batch: Batch, views: number): number {
    const { arena, heap } = batch;
    const made = arena.take(batch.rows * VALUE_BYTES) >>> 2;
    let bytes = 0;
    for (let position = 0; position < batch.live; position++) {
      const view = (views >>> 2) + batch.physicalRow(position) * 2;
      if (heap.u32[view] !== 0) bytes += heap.u32[view + 1]!;
    }
    let next = bytes > BATCH_TEXT_BYTES_MAX ? 0 : this.#texts!.take(bytes);
    if (next === 0) return 0;
    const { u8, u32 } = heap;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position) * 2;
      const [start, length] = [u32[(views >>> 2) + row]!, u32[(views >>> 2) + row + 1]!];
      u32[made + row] = start === 0 ? 0 : next;
      u32[made + row + 1] = start === 0 ? 0 : length;
      if (start === 0) continue;
      u8.copyWithin(next, start, start + length);
      next += length;
    }
    return made << 2;
  }

  #bigAmong(big: BigCells, meta: number, from: number, rows: number): BigCells | null {
    if (big.size === 0) return null;
    const found: BigCells = new Map();
    const { u8 } = this.#context.arena.heap;
    for (let row = 0; row < rows; row++) {
      if (u8[meta + row] === META_BIG && big.has(from + row)) found.set(row, big.get(from + row)!);
    }
    return found.size === 0 ? null : found;
  }
}

/** Copies decimals beyond 64 bits to the positions of their rows. */
function putBigCells(batch: Batch, from: BigCells, to: BigCells): void {
  const places = placesOf(batch, batch.columns.at(-1)!);
  for (let position = 0; position < batch.live; position++) {
    const value = from.get(batch.physicalRow(position));
    if (value !== undefined) to.set(places[position]!, value);
  }
}

function isFixed(type: StoredType): type is TypedColumn['type'] {
  return type !== 'text' && type !== 'json' && type !== 'text_with_kind';
}

/** Size of the region: a value and its meta byte per column, and one byte for the arrival of the row. */
function regionBytes(types: readonly StoredType[], rows: number): number {
  return rows * ((VALUE_BYTES + 1) * types.length + 1);
}

// Passes rows through the functions of `window`, sorted by group and order: forward, and then backward if a function
// depends on later rows. The backward pass takes a batch of whole groups at once; all other rows are first sorted in
// reverse. Sorts only if necessary, and only the columns that the order and the functions read. Whole rows are stored,
// and at the end they are combined with the new cells, which are written at their positions or sorted by them.

interface WindowPlan {
  readonly groups: readonly number[];
  readonly terms: readonly SortTerm[];
  readonly columns: readonly WindowColumn[];
  /** Column types of the incoming rows: those of the input, then of the conditions. */
  readonly types: readonly StoredType[];
  /** Receives rows with the new columns after those of the input and the conditions. */
  readonly next: Next;
}

/**
 * A batch in the backward pass has the columns that are read, one column per function, a mark for rows that begin a
 * group, and the position of the row.
 */
class WindowPass implements Operator {
  readonly #context: OperatorContext;
  readonly #plan: WindowPlan;
  readonly #types: readonly StoredType[];
  /** Indexes of the input and condition columns that are sorted. All columns if nothing is sorted. */
  readonly #reads: readonly number[];
  readonly #marks: SortedGroups;
  readonly #width: number;
  readonly #forward: WindowDirection;
  readonly #backward: WindowDirection | null;
  readonly #sorter: RowSorter | null;
  readonly #reversed: RowSorter | null;
  readonly #madeTypes: readonly StoredType[];
  /** Whole rows, stored while their cells are computed. null if rows are emitted immediately. */
  readonly #rows: RowStore | null;
  /** Holds the new cells until they are combined with their rows. Only one of the two is used. */
  #placed: PlacedCells | null = null;
  #back: RowSorter | null = null;
  #taken = 0;
  #seen = 0;

  constructor(context: OperatorContext, plan: WindowPlan) {
    const { groups, terms, columns, types: input } = plan;
    this.#context = context;
    this.#plan = plan;
    this.#marks = new SortedGroups(context, groups.length);
    const isSorted = groups.length + terms.length > 0;
    const looksAhead = columns.some(({ function: made }) => made.backward !== null);
    const isMoved = isSorted || looksAhead;
    this.#reads = isMoved ? readsOf(plan) : input.map((_, index) => index);
    this.#rows = isMoved ? new RowStore(context, input) : null;
    const reads = this.#reads.map((index) => input[index]!);
    const place = (index: number): number => (index < 0 ? -1 : this.#reads.indexOf(index));
    const carried = columns.map((made) => ({ ...made, column: place(made.column), condition: place(made.condition) }));
    this.#width = reads.length;
    const hidden = columns.map(({ function: made }) => made.hiddenType ?? made.type);
    this.#types = [...reads, ...hidden, 'boolean', 'text'];
    this.#forward = new WindowDirection(context, carried, 'forward');
    this.#backward = looksAhead ? new WindowDirection(context, carried, 'backward') : null;
    const byGroup = groups.map(place);
    const byTerm = terms.map((term) => ({ ...term, index: place(term.index) }));
    this.#sorter = isSorted ? new RowSorter(context, [...reads, 'text'], groupOrder(context, byGroup, byTerm)) : null;
    const turned = this.#types.length;
    this.#reversed = looksAhead ? new RowSorter(context, [...this.#types, 'text'], byPlace(turned, false)) : null;
    this.#madeTypes = columns.map(({ function: { type } }) => type);
  }

  *push(batch: Batch): Slices {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    this.#taken += batch.live;
    this.#rows?.add(batch);
    const placed = batch.withColumns([...this.#reads.map((index) => batch.columns[index]!), places]);
    if (this.#sorter !== null) {
      yield* this.#sorter.editLong(placed);
      this.#sorter.add(placed);
    } else {
      const starts = new Uint8Array(batch.live);
      if (this.#seen === 0) starts[0] = 1;
      yield* this.#goForward(placed, starts, new Uint8Array(batch.live));
    }
    arena.release(mark);
  }

  *finish(): Steps {
    if (this.#rows === null) return;
    this.#placed = PlacedCells.of(this.#context, this.#madeTypes, this.#taken);
    if (this.#placed === null) this.#back = this.#sorterBack();
    if (this.#sorter !== null) {
      const forward = (batch: Batch): Slices => {
        const { starts, ties } = this.#marks.mark(batch);
        return this.#goForward(batch.withColumns(batch.columns.slice(1)), starts, ties);
      };
      yield* this.#sorter.finish(forward, undefined, (batch, isLast) => this.#cut(batch, isLast));
    }
    if (this.#reversed !== null) yield* this.#reversed.finish((batch) => this.#goBackward(batch));
    this.#rows.begin();
    if (this.#back === null) yield* this.#meetPlaced(this.#rows, this.#placed!);
    else {
      const rows = this.#rows;
      yield* this.#back.finish((batch) => this.#meet(rows, batch.withColumns(batch.columns.slice(1, -1))));
    }
    this.#rows.drop();
  }

  /** Cuts a batch after its last whole group, so that the backward pass can follow at once. */
  #cut(batch: Batch, isLast: boolean): number {
    if (this.#reversed === null) return batch.live;
    const end = isLast ? batch.live : this.#marks.lastStart(batch);
    this.#endsGroup = end > 0;
    return end > 0 ? end : batch.live;
  }

  #sorterBack(): RowSorter {
    const types = [...this.#madeTypes, 'text' as const];
    return new RowSorter(this.#context, types, byPlace(types.length - 1, false));
  }

  /** @param made new cells of rows, followed by the positions of the rows */
  #keep(made: Batch): void {
    if (this.#placed !== null) {
      if (this.#placed.put(made)) return;
      this.#back = this.#sorterBack();
      for (const batch of this.#placed.batches(this.#context.arena)) this.#back.add(batch);
      this.#placed.drop();
      this.#placed = null;
    }
    this.#back!.add(made);
  }

  *#meetPlaced(rows: RowStore, placed: PlacedCells): Steps {
    const { arena } = this.#context;
    for (let from = 0; from < this.#taken; ) {
      const mark = arena.next;
      const some = rows.next(this.#taken - from);
      yield* this.#plan.next(some.withColumns([...some.columns, ...placed.columns(from, some.live)]));
      arena.release(mark);
      from += some.live;
      yield;
    }
    placed.drop();
  }

  /** Appends new cells, which are in row order again, to the stored rows. */
  *#meet(rows: RowStore, made: Batch): Slices {
    const { arena } = this.#context;
    for (let from = 0; from < made.live; ) {
      const mark = arena.next;
      const some = rows.next(made.live - from);
      const cells = rowsBetween(made, from, from + some.live);
      yield* this.#plan.next(some.withColumns([...some.columns, ...cells.columns]));
      arena.release(mark);
      from += some.live;
    }
  }

  /** Processes a batch of input columns and positions. */
  *#goForward(batch: Batch, starts: Uint8Array, ties: Uint8Array): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const input = batch.columns.slice(0, this.#width);
    const place = batch.columns[this.#width]!;
    const made = yield* this.#forward.columns(batch, starts, ties, -1);
    if (this.#reversed === null) {
      if (this.#rows === null) yield* this.#plan.next(batch.withColumns([...input, ...made]));
      else this.#keep(batch.withColumns([...made, place]));
    } else if (this.#endsGroup && starts[0] === 1) {
      yield* this.#goBackAtOnce(batch.withColumns([...input, ...made, place]), starts);
    } else {
      const turned = placeColumn(arena, batch, this.#seen, true);
      const marks = startColumn(batch, starts);
      this.#reversed.add(batch.withColumns([...input, ...made, marks, place, turned]));
    }
    this.#seen += batch.live;
    arena.release(mark);
  }

  /** The backward pass of whole groups. The batch has a place after the cells of the forward pass. */
  *#goBackAtOnce(batch: Batch, starts: Uint8Array): Slices {
    const { live, heap } = batch;
    const selection = this.#context.arena.take(live * 4);
    const ends = new Uint8Array(live);
    for (let position = 0; position < live; position++) {
      const turned = live - 1 - position;
      heap.u32[(selection >>> 2) + turned] = batch.physicalRow(position);
      if (turned === 0 || starts[position + 1] === 1) ends[turned] = 1;
    }
    const rows = batch.withSelection(selection, live);
    const made = yield* this.#backward!.columns(rows, ends, new Uint8Array(live), this.#width);
    this.#keep(rows.withColumns([...made, batch.columns.at(-1)!]));
  }

  /** Receives the last rows of the last group first. */
  *#goBackward(batch: Batch): Slices {
    const rows = batch.withColumns(batch.columns.slice(1, -1));
    const marks = rows.columns[this.#types.length - 2]!;
    if (marks.kind !== 'typed') throw new Error('marks are booleans');
    const starts = new Uint8Array(batch.live);
    for (let position = 0; position < batch.live; position++) {
      if (this.#groupEnds) starts[position] = 1;
      this.#groupEnds = batch.heap.u8[marks.meta + batch.physicalRow(position)] === 1;
    }
    const made = yield* this.#backward!.columns(rows, starts, new Uint8Array(batch.live), this.#width);
    const place = rows.columns.at(-1)!;
    this.#keep(rows.withColumns([...made, place]));
  }

  /** True if the current batch ends with the last row of a group. */
  #endsGroup = false;

  /** In the backward pass: true if the previous row was the first one of its group. */
  #groupEnds = true;
}

/** Returns the columns that the order and the functions read. */
function readsOf({ groups, terms, columns }: WindowPlan): number[] {
  const read = columns.flatMap(({ column, condition }) => [column, condition]).filter((index) => index >= 0);
  return [...new Set([...groups, ...terms.map(({ index }) => index), ...read])].sort((a, b) => a - b);
}

function startColumn(batch: Batch, starts: Uint8Array): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  for (let position = 0; position < batch.live; position++) {
    batch.heap.u8[meta + batch.physicalRow(position)] = starts[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

// Columns of `window` that are aggregates of a whole group, whatever its order: the same as in `aggregate`, but on each
// row.

/**
 * Returns null if the column depends on the order or on single rows.
 * @param frame frame of a function that supports one
 */
export function windowTotal(fn: string, frame: string | undefined, hasColumn: boolean): WindowTotal | null {
  if (frame === 'up_to_here') return null;
  switch (fn) {
    case 'group_size':
      return { fn: 'count', shares: false };
    case 'count':
      return { fn: hasColumn ? 'count_values' : 'count', shares: false };
    case 'sum':
    case 'mean':
    case 'min':
    case 'max':
      return { fn, shares: false };
    case 'percent_of_total':
      return { fn: 'sum', shares: true };
    default:
      return null;
  }
}

function totalColumn({ fn, shares }: WindowTotal, column: WindowColumn): TotalColumn {
  const { function: made, column: place, columnType, condition } = column;
  const type = place < 0 ? null : columnTypeOf(columnType);
  // A sum of integers that is only used for percentages may exceed the range of integers.
  const sums: StoredType = type === 'number' ? 'number' : 'decimal';
  const metric = {
    fn,
    type,
    reads: place < 0 ? null : columnType,
    makes: shares ? sums : made.type,
    place,
    condition,
    separator: '',
    percent: 0,
  };
  const share = { type: made.type, column: place, columnType, value: percentOfSum(type ?? 'decimal') };
  return { metric, share: shares ? share : null };
}

// Chooses the operator for `window`: if all columns are totals of whole groups, a hash table of groups; otherwise, or
// if memory is exhausted, sorting.

export function windowRows(context: OperatorContext, plan: WindowPlan): Operator {
  const { groups, columns, types, next } = plan;
  const totals = columns.flatMap((column) => (column.total === null ? [] : [totalColumn(column.total, column)]));
  if (totals.length < columns.length) return new WindowPass(context, plan);
  return new NumberedRows(context, {
    types,
    key: groups,
    keys: new RowKeys(context, [...groups.keys()], 'exact'),
    isExact: true,
    facts: new GroupTotals(context, totals, next),
    other: () => new WindowPass(context, plan),
  });
}
