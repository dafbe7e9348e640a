// The operation `fill_down`: an empty cell gets the value above it.
import { Type } from 'typebox';
import { type Batch, type ColumnData, META_BIG, META_NULL, VIEW_BYTES } from '../batch.ts';
import type { Column } from '../schema.ts';
import { columnIndex, withoutRows } from './cells/cell-operator.ts';
import { LastCells } from './cells/last-cells.ts';
import { columnSet } from './column-set.ts';
import { checkCondition } from './expressions/check-expression.ts';
import { FailedRows } from './expressions/failed-rows.ts';
import { rowCondition } from './expressions/row-condition.ts';
import { KeyTable } from './keys/key-table.ts';
import { RowKeys } from './keys/row-keys.ts';
import { defineOperation, type Operator, type OperatorContext, type RowChoice } from './operation.ts';

export const fillDown = defineOperation({
  name: 'fill_down',
  summary: 'Gives empty cells the last value above them, within the rows of their group.',
  parameters: Type.Object({
    columns: columnSet,
    group_by: Type.Optional(columnSet),
    reset_when: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'An expression: rows for which it is true get nothing from above, nor do those below from above them.',
      }),
    ),
  }),
  cells: false,
  memory: ({ group_by }) => (group_by === undefined ? 'O' : 'K'),
  examples: [
    {
      title: 'A report that names the customer once',
      operation: { op: 'fill_down', columns: ['customer'] },
      input: {
        columns: ['customer', 'item'],
        rows: [
          [null, 'x'],
          ['Ada', 'a'],
          [null, 'b'],
          ['Bob', 'c'],
          [null, 'd'],
        ],
      },
      output: {
        columns: ['customer', 'item'],
        rows: [
          [null, 'x'],
          ['Ada', 'a'],
          ['Ada', 'b'],
          ['Bob', 'c'],
          ['Bob', 'd'],
        ],
      },
    },
    {
      title: 'Only from rows of the same group',
      operation: { op: 'fill_down', columns: 'rate', group_by: ['country'] },
      input: {
        columns: ['country', 'rate'],
        rows: [
          ['DE', '19'],
          ['FR', null],
          ['DE', null],
          ['FR', '20'],
          ['FR', null],
        ],
      },
      output: {
        columns: ['country', 'rate'],
        rows: [
          ['DE', '19'],
          ['FR', null],
          ['DE', '19'],
          ['FR', '20'],
          ['FR', '20'],
        ],
      },
    },
    {
      title: 'Not across the blocks of a report',
      operation: { op: 'fill_down', columns: ['account'], reset_when: 'kind == "head"' },
      input: {
        columns: ['kind', 'account'],
        rows: [
          ['head', '1'],
          ['line', null],
          ['head', null],
          ['line', null],
          ['line', '3'],
          ['line', null],
        ],
      },
      output: {
        columns: ['kind', 'account'],
        rows: [
          ['head', '1'],
          ['line', '1'],
          ['head', null],
          ['line', null],
          ['line', '3'],
          ['line', '3'],
        ],
      },
    },
  ],
  effect({ columns, group_by, reset_when }, scope) {
    const reset = reset_when === undefined ? null : checkCondition(scope, reset_when, '/reset_when');
    const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
    const filled = scope.resolve(columns, '/columns');
    const both = filled.find(({ id }) => groups.some((group) => group.id === id));
    if (both !== undefined) {
      const name = JSON.stringify(both.name);
      scope.problem('/columns', 'COLUMN_TWICE', `The column ${name} cannot be filled and be the group as well.`);
    }
    return { columns: filled, groups, reset };
  },
  start({ columns, groups, reset }, context) {
    return new FillDown(columns, groups, reset === null ? null : rowCondition(reset, context.input, context), context);
  },
});

class FillDown implements Operator {
  readonly #context: OperatorContext;
  readonly #columns: readonly number[];
  readonly #last: readonly LastCells[];
  readonly #keys: RowKeys | null;
  readonly #table: KeyTable | null;
  readonly #reset: RowChoice | null;

  constructor(
    columns: readonly Column[],
    groups: readonly Column[],
    reset: RowChoice | null,
    context: OperatorContext,
  ) {
    const { heap } = context.arena;
    const index = (column: Column): number => columnIndex(context.input, column);
    this.#context = context;
    this.#columns = columns.map(index);
    this.#last = columns.map(() => new LastCells(heap));
    this.#keys = groups.length === 0 ? null : new RowKeys(context, groups.map(index), 'exact');
    this.#table = groups.length === 0 ? null : new KeyTable(heap, context.kernel);
    if (this.#table !== null) this.#table.forced = true;
    this.#reset = reset;
  }

  push(given: Batch): void {
    const { arena, next, report } = this.#context;
    const mark = arena.next;
    const { batch, resets } = this.#resets(given);
    for (const index of this.#columns) if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    const groups = this.#groups(batch);
    const columns = [...batch.columns];
    const kept: (() => void)[] = [];
    for (const [position, index] of this.#columns.entries()) {
      const column = batch.columns[index]!;
      const last = this.#last[position]!;
      if (column.kind === 'typed') {
        const made = copyTyped(batch, column);
        report.cells_changed += fillTyped(batch, made, last, groups, resets);
        columns[index] = made;
        continue;
      }
      const made = copyViews(batch, batch.views(index));
      const touched = new Map<number, number>();
      report.cells_changed += fillViews(batch, made.at, last, groups, resets, touched);
      columns[index] = made;
      kept.push(() => keepTexts(batch, made.at, last, touched));
    }
    next(batch.withColumns(columns));
    // Only now: cells of this batch still point at the values kept before.
    for (const keep of kept) keep();
    arena.release(mark);
  }

  /** The rows before which the values above are forgotten, and the batch without rows whose error drops them. */
  #resets(batch: Batch): { batch: Batch; resets: ReadonlySet<number> } {
    if (this.#reset === null) return { batch, resets: new Set() };
    const failed = new FailedRows();
    const list = batch.arena.take(batch.live * 4);
    batch.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    const count = this.#reset(batch, list, batch.live, failed.add);
    const resets = new Set(batch.heap.u32.subarray(list >>> 2, (list >>> 2) + count));
    const dropped = failed.dropped(batch, null, this.#context.errors);
    return { batch: dropped.size === 0 ? batch : withoutRows(batch, dropped), resets };
  }

  /** Address of the group's number of each position, 0 when all rows are one group. */
  #groups(batch: Batch): number {
    if (this.#keys === null || this.#table === null) return 0;
    const { arena } = this.#context;
    this.#keys.prepare(batch);
    const hashes = arena.take(batch.live * 8);
    const ids = arena.take(batch.live * 4);
    let views = this.#keys.make(batch, batch.selection, batch.live);
    for (; views === 0; views = this.#keys.make(batch, batch.selection, batch.live))
      arena.enlarge(arena.capacityBytes * 2);
    const list = { views, rows: batch.selection, count: batch.live, hashes, ids };
    this.#table.hash(list);
    this.#table.insert(list);
    return ids;
  }
}

type Typed = Extract<ColumnData, { kind: 'typed' }>;

function copyViews(batch: Batch, from: number): Extract<ColumnData, { kind: 'views' }> {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  batch.heap.u8.copyWithin(at, from, from + batch.rows * VIEW_BYTES);
  return { kind: 'views', at };
}

function copyTyped(batch: Batch, from: Typed): Typed {
  const at = batch.arena.take(batch.rows * VIEW_BYTES);
  const meta = batch.arena.take(batch.rows);
  batch.heap.u8.copyWithin(at, from.at, from.at + batch.rows * VIEW_BYTES);
  batch.heap.u8.copyWithin(meta, from.meta, from.meta + batch.rows);
  return { ...from, at, meta, big: from.type === 'decimal' ? new Map(from.big) : null };
}

/** In place of a row: the group's values above were forgotten. */
const NO_ROW = -1;

/** Fills a batch's views in place; gives how many cells. `touched` gets the last row with a value of each group. */
function fillViews(
  batch: Batch,
  views: number,
  last: LastCells,
  groups: number,
  resets: ReadonlySet<number>,
  touched: Map<number, number>,
): number {
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const { u32 } = batch.heap;
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = groups === 0 ? 0 : u32[(groups >>> 2) + position]!;
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
      last.forgetText(group);
      continue;
    }
    const view = (views >>> 2) + row * 2;
    last.keepText(group, heap.u32[view]!, heap.u32[view + 1]!);
  }
}

function fillTyped(batch: Batch, column: Typed, last: LastCells, groups: number, resets: ReadonlySet<number>): number {
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const { u8, u32, i64 } = batch.heap;
    const row = u32[(batch.selection >>> 2) + position]!;
    const group = groups === 0 ? 0 : u32[(groups >>> 2) + position]!;
    const meta = u8[column.meta + row]!;
    if (resets.has(row)) last.forgetValue(group);
    if (meta !== META_NULL) {
      last.keepValue(group, { bits: i64[(column.at >>> 3) + row]!, meta, big: column.big?.get(row) ?? null });
      continue;
    }
    const value = last.value(group);
    if (value === undefined) continue;
    u8[column.meta + row] = value.meta;
    if (value.meta === META_BIG) column.big?.set(row, value.big!);
    else i64[(column.at >>> 3) + row] = value.bits;
    filled++;
  }
  return filled;
}
