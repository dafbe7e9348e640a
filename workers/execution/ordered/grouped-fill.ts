// Fills empty cells from earlier rows of the same group, and brings the rows of a group together if memory is
// exhausted.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { type StoredType, storedTypes } from '../../batch/schema.ts';
import { KIND_TEXT, META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { DONE, PAUSE, type Slices, type Steps } from '../../scheduling/time-slices.ts';
import type { Next, Operator, OperatorContext } from '../../template/operation.ts';
import { HashTable, KEY_ABSENT, type KeyList } from '../keys/hash-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { byPlace, placeColumn, SortedGroups } from '../sort/top-of-groups.ts';
import {
  CarriedFill,
  copyTyped,
  copyViews,
  type FillMarks,
  type TypedData,
  typedValue,
  type ViewsData,
  writeTyped,
} from './carried-fill.ts';
import {
  type FillFrame,
  LastCells,
  type MarkedBatch,
  marksColumn,
  marksOfColumn,
  settleNewColumn,
} from './fill-frame.ts';

// Brings the rows of each group together for processing, in source order or reversed, and then restores the original
// order. Works in bounded memory by sorting twice.

export interface PassPlan {
  /** Column types of the batches that are added. */
  readonly types: readonly StoredType[];
  /** Indexes of the group columns. Empty if all rows are one group. */
  readonly groups: readonly number[];
  /** True if the rows of a group are processed last row first. */
  readonly reversed: boolean;
  /** Column types of the results. */
  readonly makes: readonly StoredType[];
}

/**
 * Processes rows that are ordered by group, and returns the same rows with the result columns. `starts` has a 1 at the
 * position of the first row of each group.
 */
export type GroupWork = (batch: Batch, starts: Uint8Array) => Batch;

export class PartitionedPass {
  readonly #context: OperatorContext;
  readonly #plan: PassPlan;
  readonly #sorter: RowSorter;
  #taken = 0;

  constructor(context: OperatorContext, plan: PassPlan) {
    this.#context = context;
    this.#plan = plan;
    const place = plan.types.length;
    const keys = new RowKeys(context, plan.reversed ? [...plan.groups, place] : plan.groups, 'exact');
    this.#sorter = new RowSorter(context, [...plan.types, 'text'], {
      prepare: (batch) => keys.prepare(batch),
      make: (batch) => keys.makeFilled(batch),
    });
  }

  add(batch: Batch): void {
    const { arena } = batch;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, this.#plan.reversed);
    this.#taken += batch.live;
    this.#sorter.add(batch.withColumns([...batch.columns, places]));
    arena.release(mark);
  }

  /** Emits the rows in their original order. A batch is valid until `next` has finished with it. */
  *finish(work: GroupWork, next: Next): Steps {
    const { makes } = this.#plan;
    const back = new RowSorter(this.#context, [...makes, 'text'], byPlace(makes.length, this.#plan.reversed));
    const groups = new SortedGroups(this.#context, this.#plan.groups.length);
    yield* this.#sorter.finish((batch) => {
      const { starts } = groups.mark(batch);
      const place = batch.columns.at(-1)!;
      const made = work(batch.withColumns(batch.columns.slice(1, -1)), starts);
      back.add(made.withColumns([...made.columns, place]));
      return DONE;
    });
    yield* back.finish((batch) => next(batch.withColumns(batch.columns.slice(1, -1))));
  }
}

// Fills empty cells from earlier rows of the same group. While the budget allows, it keeps the last values of all
// groups and emits each batch. Otherwise it defers the following rows and processes them group by group at the end.
// States: open (values are kept) → closed (rows are deferred) → finished.

/** Means that the earlier values of the group have been forgotten. */
const NO_ROW = -1;

export class GroupedFill implements Operator {
  readonly #context: OperatorContext;
  /** Its additional condition selects rows before which the values of their group are forgotten. */
  readonly #frame: FillFrame;
  readonly #groups: readonly number[];
  readonly #keys: RowKeys;
  readonly #table: HashTable;
  readonly #last: readonly LastCells[];
  /** For each target, whether its source may have native kinds. */
  readonly #withKinds: readonly boolean[];
  #pass: PartitionedPass | null = null;

  /** @param groups indexes of the columns that form the group */
  constructor(context: OperatorContext, frame: FillFrame, groups: readonly number[]) {
    const { heap } = context.arena;
    this.#context = context;
    this.#frame = frame;
    this.#groups = groups;
    this.#keys = new RowKeys(context, groups, 'exact');
    this.#table = new HashTable(heap, context.kernel);
    this.#last = LastCells.ofColumns(heap, frame.sources.length);
    this.#withKinds = frame.sources.map((index) => context.input[index]!.hasKinds === true);
  }

  *push(given: Batch): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const marked = yield* this.#frame.mark(given);
    const { batch } = marked;
    for (const index of this.#frame.sources) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const list = this.#keyList(batch);
    this.#table.hash(list);
    const reached = this.#pass === null ? this.#table.insert(list) : 0;
    if (reached > 0) yield* this.#emit({ ...marked, batch: batch.slice(0, reached) }, list.ids);
    if (this.#pass === null && (reached < list.count || this.#last[0]?.full === true)) this.#close();
    if (reached < list.count) {
      this.#table.find(list, reached);
      const [masks, extra] = [marked.masks.map((some) => some.subarray(reached)), marked.extra?.subarray(reached)];
      this.#putOff({ batch: batch.slice(reached, batch.live), masks, extra: extra ?? null }, list.ids + reached * 4);
    }
    arena.release(mark);
  }

  *finish(): Steps {
    const { arena, input, next, report } = this.#context;
    if (this.#pass === null) return;
    const { sources, inPlace, conditions } = this.#frame;
    const [seeds, resets] = [input.length, input.length + sources.length];
    const fills = sources.map((column, at) => {
      return new CarriedFill(arena, {
        column,
        inPlace: inPlace[at]!,
        hasKinds: this.#withKinds[at]!,
        seeds: seeds + at,
      });
    });
    const work = (batch: Batch, starts: Uint8Array): Batch => {
      for (const [position, isReset] of marksOfColumn(batch, resets).entries()) starts[position]! |= isReset;
      const masks = Array.from({ length: conditions }, (_, at) => marksOfColumn(batch, resets + 1 + at));
      const made = fills.map((fill, target) => {
        const { column, changed } = fill.fill(batch, { forgets: starts, chosen: this.#frame.chosen(target, masks) });
        report.cells_changed += changed;
        return column;
      });
      return this.#frame.put(batch, made);
    };
    yield* this.#pass.finish(work, next);
  }

  /**
   * Columns of a deferred row: those of the input, the previous value of its group for each source, whether that value
   * is forgotten, and the results of `where`.
   */
  #close(): void {
    const { input, output } = this.#context;
    const { sources, conditions } = this.#frame;
    const types = storedTypes(input);
    const marks = Array.from({ length: 1 + conditions }, () => 'boolean' as const);
    const plan = {
      types: [...types, ...sources.map((index) => types[index]!), ...marks],
      groups: this.#groups,
      reversed: false,
      makes: storedTypes(output),
    };
    this.#pass = new PartitionedPass(this.#context, plan);
    this.#context.defersRows();
  }

  #keyList(batch: Batch): KeyList {
    const { arena } = this.#context;
    this.#keys.prepare(batch);
    const hashes = arena.take(batch.live * 8);
    const ids = arena.take(batch.live * 4);
    let views = this.#keys.make(batch, batch.selection, batch.live);
    for (; views === 0; views = this.#keys.make(batch, batch.selection, batch.live))
      arena.enlarge(arena.capacityBytes * 2);
    return { views, rows: batch.selection, count: batch.live, hashes, ids };
  }

  *#emit({ batch, masks, extra: forgets }: MarkedBatch, ids: number): Slices {
    const { next, report, clock } = this.#context;
    const { sources, inPlace } = this.#frame;
    const kept: (() => void)[] = [];
    const columns: ColumnData[] = [];
    for (const [target, index] of sources.entries()) {
      if (clock.isDue()) yield PAUSE;
      const column = batch.columns[index]!;
      const last = this.#last[target]!;
      const marks = { forgets, chosen: this.#frame.chosen(target, masks) };
      let made: ColumnData;
      let filled: number;
      if (column.kind === 'typed') {
        made = copyTyped(batch, column);
        filled = fillTyped(batch, made, last, ids, marks);
      } else {
        const copy = copyViews(batch, index, this.#withKinds[target]!);
        const views = batch.views(index);
        const touched = new Map<number, number>();
        made = copy;
        filled = fillViews(batch, views, copy, last, ids, marks, touched);
        kept.push(() => keepTexts(batch, index, this.#withKinds[target]!, last, touched));
      }
      report.cells_changed += inPlace[target] ? filled : settleNewColumn(batch, made, marks.chosen);
      columns.push(made);
    }
    yield* next(this.#frame.put(batch, columns));
    // Done last, because cells of this batch still refer to the values kept before.
    for (const keep of kept) {
      keep();
      if (clock.isDue()) yield PAUSE;
    }
  }

  /** The first row of each known group carries the kept values, from which the later rows of the group are filled. */
  #putOff({ batch, masks, extra }: MarkedBatch, ids: number): void {
    const seeds = this.#frame.sources.map((index, target) => {
      const column = batch.columns[index]!;
      const last = this.#last[target]!;
      const hasKinds = this.#withKinds[target]!;
      const made = column.kind === 'typed' ? nullTyped(batch, column) : nullViews(batch, hasKinds);
      for (let position = 0; position < batch.live; position++) {
        const group = batch.heap.u32[(ids >>> 2) + position]!;
        if (group === KEY_ABSENT) continue;
        if (extra?.[position] !== 1) putLast(batch, made, batch.physicalRow(position), last, group);
        last.forget(group);
      }
      return made;
    });
    const marks = [extra, ...masks].map((some) => marksColumn(batch, some));
    this.#pass!.add(batch.withColumns([...batch.columns, ...seeds, ...marks]));
  }
}

function nullViews(batch: Batch, hasKinds: boolean): ColumnData {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  batch.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
  if (!hasKinds) return { kind: 'views', at };
  const kinds = batch.arena.take(batch.rows);
  batch.heap.u8.fill(KIND_TEXT, kinds, kinds + batch.rows);
  return { kind: 'views', at, kinds };
}

function nullTyped(batch: Batch, like: TypedData): TypedData {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  const meta = batch.arena.take(batch.rows);
  batch.heap.u8.fill(META_NULL, meta, meta + batch.rows);
  return { ...like, at, meta, big: like.type === 'decimal' ? new Map() : null };
}

/** Writes the last value of a group, if it has one, into a null cell. */
function putLast(batch: Batch, column: ColumnData, row: number, last: LastCells, group: number): void {
  if (column.kind === 'typed') {
    const value = last.value(group);
    if (value !== undefined) writeTyped(batch, column, row, value);
    return;
  }
  if (column.kind === 'raw') throw new Error('a new column is never raw');
  const [start, length] = last.text(group);
  const { u8, u32 } = batch.heap;
  u32[(column.at >>> 2) + row * 2] = start;
  u32[(column.at >>> 2) + row * 2 + 1] = length;
  if (column.kinds !== undefined) u8[column.kinds + row] = last.kind(group);
}

/**
 * Fills a copy (`made`) of a batch's views. Returns the number of filled cells. `touched` receives the last row with a
 * value for each group.
 */
function fillViews(
  batch: Batch,
  views: number,
  { at: made, kinds }: ViewsData,
  last: LastCells,
  ids: number,
  { forgets, chosen }: FillMarks,
  touched: Map<number, number>,
): number {
  let filled = 0;
  const { u8, u32 } = batch.heap;
  for (let position = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = u32[(ids >>> 2) + position]!;
    const view = (views >>> 2) + row * 2;
    if (forgets !== null && forgets[position] === 1) touched.set(group, NO_ROW);
    if (u32[view] !== 0 && u32[view + 1] !== 0) {
      touched.set(group, row);
      continue;
    }
    const above = touched.get(group);
    if (above === NO_ROW || (chosen !== null && chosen[position] === 0)) continue;
    const [start, length] =
      above === undefined ? last.text(group) : [u32[(views >>> 2) + above * 2]!, u32[(views >>> 2) + above * 2 + 1]!];
    if (start === 0) continue;
    u32[(made >>> 2) + row * 2] = start;
    u32[(made >>> 2) + row * 2 + 1] = length;
    // If the value comes from a row of this batch, its kind is in the copy, too.
    if (kinds !== undefined) u8[kinds + row] = above === undefined ? last.kind(group) : u8[kinds + above]!;
    filled++;
  }
  return filled;
}

function keepTexts(
  batch: Batch,
  index: number,
  hasKinds: boolean,
  last: LastCells,
  touched: ReadonlyMap<number, number>,
): void {
  const { heap } = batch;
  const views = batch.views(index);
  const column = batch.columns[index]!;
  const kinds = column.kind === 'views' ? column.kinds : undefined;
  for (const [group, row] of touched) {
    if (row === NO_ROW) {
      last.forget(group);
      continue;
    }
    const view = (views >>> 2) + row * 2;
    const [start, length] = [heap.u32[view]!, heap.u32[view + 1]!];
    if (hasKinds) last.keepNative(group, start, length, kinds === undefined ? KIND_TEXT : heap.u8[kinds + row]!);
    else last.keepText(group, start, length);
  }
}

function fillTyped(
  batch: Batch,
  column: TypedData,
  last: LastCells,
  ids: number,
  { forgets, chosen }: FillMarks,
): number {
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const { u8, u32 } = batch.heap;
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = u32[(ids >>> 2) + position]!;
    if (forgets !== null && forgets[position] === 1) last.forget(group);
    if (u8[column.meta + row] !== META_NULL) {
      last.keepValue(group, typedValue(batch, column, row));
      continue;
    }
    if (chosen !== null && chosen[position] === 0) continue;
    const value = last.value(group);
    if (value === undefined) continue;
    writeTyped(batch, column, row, value);
    filled++;
  }
  return filled;
}
