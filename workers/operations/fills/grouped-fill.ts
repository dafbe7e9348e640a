// Fills empty cells from the rows before them of the same group. While the budget allows it keeps the last values of all
// groups and hands each batch on; then it puts the rows that follow off, to treat them group by group at the end.
// States: open (values are kept) → closed (rows are put off) → finished.
import { type Batch, type ColumnData, META_NULL } from '../../batch.ts';
import { KEY_ABSENT, type KeyList, KeyTable } from '../keys/key-table.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { Operator, OperatorContext } from '../operation.ts';
import { GroupedPass } from '../rows/grouped-pass.ts';
import { CarriedFill, copyTyped, copyViews, type TypedData, writeTyped } from './carried-fill.ts';
import { LastCells } from './last-cells.ts';

/** In place of a row: the group's values above were forgotten. */
const NO_ROW = -1;

/** Rows before which the values of their group are forgotten, and the batch without rows whose error drops them. */
export type Resets = (batch: Batch) => { readonly batch: Batch; readonly resets: ReadonlySet<number> };

export class GroupedFill implements Operator {
  readonly #context: OperatorContext;
  readonly #columns: readonly number[];
  readonly #groups: readonly number[];
  readonly #resets: Resets;
  readonly #keys: RowKeys;
  readonly #table: KeyTable;
  readonly #last: readonly LastCells[];
  #pass: GroupedPass | null = null;

  /** @param columns indexes of those to fill, and of those that make the group */
  constructor(context: OperatorContext, columns: readonly number[], groups: readonly number[], resets: Resets) {
    const { heap } = context.arena;
    this.#context = context;
    this.#columns = columns;
    this.#groups = groups;
    this.#resets = resets;
    this.#keys = new RowKeys(context, groups, 'exact');
    this.#table = new KeyTable(heap, context.kernel);
    this.#last = columns.map(() => new LastCells(heap));
  }

  push(given: Batch): void {
    const { arena } = this.#context;
    const mark = arena.next;
    const { batch, resets } = this.#resets(given);
    for (const index of this.#columns) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const list = this.#keyList(batch);
    this.#table.hash(list);
    const reached = this.#pass === null ? this.#table.insert(list) : 0;
    if (reached > 0) this.#handOn(batch.slice(0, reached), resets, list.ids);
    if (this.#pass === null && (reached < list.count || this.#last.some(({ full }) => full))) this.#close();
    if (reached < list.count) {
      this.#table.find(list, reached);
      this.#putOff(batch.slice(reached, batch.live), resets, list.ids + reached * 4);
    }
    arena.release(mark);
  }

  *finish(): Iterable<void> {
    const { arena, input, next, report } = this.#context;
    if (this.#pass === null) return;
    const fills = this.#columns.map((index) => new CarriedFill(arena, index));
    const work = (batch: Batch, starts: Uint8Array): Batch => {
      forgetAtResets(batch, input.length, starts);
      const columns = batch.columns.slice(0, input.length);
      for (const [place, index] of this.#columns.entries()) {
        const { column, filled } = fills[place]!.fill(batch, starts);
        columns[index] = column;
        report.cells_changed += filled;
      }
      return batch.withColumns(columns);
    };
    yield* this.#pass.finish(work, next);
  }

  #close(): void {
    const types = this.#context.input.map(({ type }) => type);
    const plan = { types: [...types, 'boolean' as const], groups: this.#groups, reversed: false, makes: types };
    this.#pass = new GroupedPass(this.#context, plan);
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

  #handOn(batch: Batch, resets: ReadonlySet<number>, ids: number): void {
    const { next, report } = this.#context;
    const columns = [...batch.columns];
    const kept: (() => void)[] = [];
    for (const [place, index] of this.#columns.entries()) {
      const column = batch.columns[index]!;
      const last = this.#last[place]!;
      if (column.kind === 'typed') {
        const made = copyTyped(batch, column);
        report.cells_changed += fillTyped(batch, made, last, ids, resets);
        columns[index] = made;
        continue;
      }
      const made = copyViews(batch, batch.views(index));
      const touched = new Map<number, number>();
      report.cells_changed += fillViews(batch, made.at, last, ids, resets, touched);
      columns[index] = made;
      kept.push(() => keepTexts(batch, made.at, last, touched));
    }
    next(batch.withColumns(columns));
    // Only now: cells of this batch still point at the values kept before.
    for (const keep of kept) keep();
  }

  /** The first row of each known group gets what was kept; the rows behind it will get theirs from it. */
  #putOff(batch: Batch, resets: ReadonlySet<number>, ids: number): void {
    const { report } = this.#context;
    const columns = [...batch.columns];
    for (const [place, index] of this.#columns.entries()) {
      const column = batch.columns[index]!;
      const made = column.kind === 'typed' ? copyTyped(batch, column) : copyViews(batch, batch.views(index));
      columns[index] = made;
      const last = this.#last[place]!;
      for (let position = 0; position < batch.live; position++) {
        const group = batch.heap.u32[(ids >>> 2) + position]!;
        if (group === KEY_ABSENT) continue;
        const row = batch.physicalRow(position);
        if (!resets.has(row) && fillOne(batch, made, row, last, group)) report.cells_changed++;
        last.forget(group);
      }
    }
    this.#pass!.add(batch.withColumns([...columns, resetColumn(batch, resets)]));
  }
}

function fillOne(batch: Batch, column: ColumnData, row: number, last: LastCells, group: number): boolean {
  const { u8, u32 } = batch.heap;
  if (column.kind === 'typed') {
    const value = u8[column.meta + row] === META_NULL ? last.value(group) : undefined;
    if (value !== undefined) writeTyped(batch, column, row, value);
    return value !== undefined;
  }
  if (column.kind === 'raw') throw new Error('columns to fill have views');
  const view = (column.at >>> 2) + row * 2;
  if (u32[view] !== 0 && u32[view + 1] !== 0) return false;
  const [start, length] = last.text(group);
  if (start === 0) return false;
  u32[view] = start;
  u32[view + 1] = length;
  return true;
}

function resetColumn(batch: Batch, resets: ReadonlySet<number>): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  batch.heap.u8.fill(0, meta, meta + batch.rows);
  for (const row of resets) batch.heap.u8[meta + row] = 1;
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

function forgetAtResets(batch: Batch, index: number, starts: Uint8Array): void {
  const resets = batch.columns[index]!;
  if (resets.kind !== 'typed') throw new Error('resets are booleans');
  for (let position = 0; position < batch.live; position++) {
    if (batch.heap.u8[resets.meta + batch.physicalRow(position)] === 1) starts[position] = 1;
  }
}

/** Fills a batch's views in place; gives how many cells. `touched` gets the last row with a value of each group. */
function fillViews(
  batch: Batch,
  views: number,
  last: LastCells,
  ids: number,
  resets: ReadonlySet<number>,
  touched: Map<number, number>,
): number {
  let filled = 0;
  const { u32 } = batch.heap;
  for (let position = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = u32[(ids >>> 2) + position]!;
    const view = (views >>> 2) + row * 2;
    if (resets.has(row)) touched.set(group, NO_ROW);
    if (u32[view] !== 0 && u32[view + 1] !== 0) {
      touched.set(group, row);
      continue;
    }
    const above = touched.get(group);
    if (above === NO_ROW) continue;
    const [start, length] =
      above === undefined ? last.text(group) : [u32[(views >>> 2) + above * 2]!, u32[(views >>> 2) + above * 2 + 1]!];
    if (start === 0) continue;
    u32[view] = start;
    u32[view + 1] = length;
    filled++;
  }
  return filled;
}

function keepTexts({ heap }: Batch, views: number, last: LastCells, touched: ReadonlyMap<number, number>): void {
  for (const [group, row] of touched) {
    if (row === NO_ROW) {
      last.forget(group);
      continue;
    }
    const view = (views >>> 2) + row * 2;
    last.keepText(group, heap.u32[view]!, heap.u32[view + 1]!);
  }
}

function fillTyped(batch: Batch, column: TypedData, last: LastCells, ids: number, resets: ReadonlySet<number>): number {
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const { u8, u32, i64 } = batch.heap;
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = u32[(ids >>> 2) + position]!;
    const meta = u8[column.meta + row]!;
    if (resets.has(row)) last.forget(group);
    if (meta !== META_NULL) {
      last.keepValue(group, { bits: i64[(column.at >>> 3) + row]!, meta, big: column.big?.get(row) ?? null });
      continue;
    }
    const value = last.value(group);
    if (value === undefined) continue;
    writeTyped(batch, column, row, value);
    filled++;
  }
  return filled;
}
