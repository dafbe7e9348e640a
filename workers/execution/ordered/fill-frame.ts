// The frame of operations that look at cells in the order of the rows: the rows that they change (`where`), and where what
// they make goes (in place or `into` new columns).
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import type { OperatorContext, RowChoice } from '../../operations/operation.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { type CellTarget, withoutRows } from '../cells/cell-operator.ts';
import { FailedRows } from '../expressions/failed-rows.ts';

/** By position of a batch, 1 where something holds. */
export type Marks = Uint8Array;

export interface MarkedBatch {
  /** Without the rows whose condition failed and that are dropped for it. */
  readonly batch: Batch;
  /** One for each condition of the frame (FillFrame.conditions). */
  readonly masks: readonly Marks[];
  /** Where the condition that came beside them holds; null without one. */
  readonly extra: Marks | null;
}

export class FillFrame {
  /** Index of each target's source in the batches. */
  readonly sources: readonly number[];
  readonly inPlace: readonly boolean[];
  readonly #context: OperatorContext;
  readonly #choices: readonly RowChoice[];
  /** For each target its condition among `#choices`, or -1. */
  readonly #choiceOf: readonly number[];
  readonly #extra: RowChoice | null;
  /** For each output column the target that makes it, or -1. */
  readonly #makers: readonly number[];

  /** @param extra a condition of the operation itself, asked for along with `where` */
  constructor(context: OperatorContext, targets: readonly CellTarget[], extra: RowChoice | null = null) {
    this.#context = context;
    this.#extra = extra;
    this.sources = targets.map(({ source }) => context.indexOf(source!));
    this.inPlace = targets.map(({ source, target }) => source!.id === target.id);
    const wanted = targets.map(({ source }) => context.cellWhere.get(source!.id) ?? context.where);
    this.#choices = [...new Set(wanted)].filter((choice) => choice !== null);
    this.#choiceOf = wanted.map((choice) => (choice === null ? -1 : this.#choices.indexOf(choice)));
    const makers = new Map(targets.map(({ target }, index) => [target.id, index]));
    this.#makers = context.output.map(({ id }) => makers.get(id) ?? -1);
  }

  /** How many conditions say which rows are changed. */
  get conditions(): number {
    return this.#choices.length;
  }

  /** Asks all conditions for the rows of a batch and reports the rows for which nobody can say. */
  *mark(given: Batch): Sliced<MarkedBatch> {
    const all = this.#extra === null ? this.#choices : [...this.#choices, this.#extra];
    if (all.length === 0) return { batch: given, masks: [], extra: null };
    const failed = new FailedRows();
    const lists: { readonly at: number; readonly count: number }[] = [];
    for (const choice of all) {
      const at = given.arena.take(given.live * 4);
      given.heap.u8.copyWithin(at, given.selection, given.selection + given.live * 4);
      lists.push({ at, count: yield* choice(given, at, given.live, failed.add) });
    }
    const dropped = failed.dropped(given, null, this.#context.errors);
    const masks = lists.map(({ at, count }) => marksOf(given, at, count, dropped));
    const extra = this.#extra === null ? null : masks.pop()!;
    return { batch: dropped.size === 0 ? given : withoutRows(given, dropped), masks, extra };
  }

  /** The marks of the rows in which a target is changed; null: all. */
  chosen(target: number, masks: readonly Marks[]): Marks | null {
    return masks[this.#choiceOf[target]!] ?? null;
  }

  /** The batch with the columns that come out. `made`: one for each target. */
  put(batch: Batch, made: readonly ColumnData[]): Batch {
    const { layout } = this.#context;
    return batch.withColumns(
      this.#makers.map((maker, index) => (maker < 0 ? batch.columns[layout[index]!]! : made[maker]!)),
    );
  }
}

/** Ends a new column: null in the rows that are not chosen. Gives how many cells have a value. */
export function settleNewColumn(batch: Batch, column: ColumnData, chosen: Marks | null): number {
  if (column.kind === 'raw') throw new Error('a new column is none of the file');
  const { u8, u32 } = batch.heap;
  let filled = 0;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const view = (column.at >>> 2) + row * 2;
    const isChosen = chosen === null || chosen[position] === 1;
    if (column.kind === 'typed') {
      if (!isChosen) u8[column.meta + row] = META_NULL;
      else if (u8[column.meta + row] !== META_NULL) filled++;
    } else if (!isChosen) u32.fill(0, view, view + 2);
    else if (u32[view] !== 0) filled++;
  }
  return filled;
}

/** Marks as a column, for rows that are put off. */
export function marksColumn(batch: Batch, marks: Marks | null): ColumnData {
  const at = batch.arena.take(batch.rows * 8);
  const meta = batch.arena.take(batch.rows);
  const { u8 } = batch.heap;
  u8.fill(0, meta, meta + batch.rows);
  for (let position = 0; marks !== null && position < batch.live; position++) {
    u8[meta + batch.physicalRow(position)] = marks[position]!;
  }
  return { kind: 'typed', type: 'boolean', at, meta, big: null };
}

export function marksOfColumn(batch: Batch, index: number): Marks {
  const column = batch.columns[index]!;
  if (column.kind !== 'typed') throw new Error('marks are booleans');
  return Uint8Array.from(
    { length: batch.live },
    (_, position) => batch.heap.u8[column.meta + batch.physicalRow(position)]!,
  );
}

/** `list`: `count` u32 physical rows in the order of the batch. */
function marksOf(batch: Batch, list: number, count: number, dropped: ReadonlySet<number>): Marks {
  const marks = new Uint8Array(batch.live - dropped.size);
  const { u32 } = batch.heap;
  let made = 0;
  for (let position = 0, at = 0; position < batch.live; position++) {
    const row = u32[(batch.selection >>> 2) + position]!;
    const holds = at < count && u32[(list >>> 2) + at] === row;
    if (holds) at++;
    if (dropped.size > 0 && dropped.has(row)) continue;
    marks[made++] = holds ? 1 : 0;
  }
  return marks;
}
