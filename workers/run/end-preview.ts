// Looks ahead for the row at which an operator behind others may end the rows (stop_when), so that rows can come by batches
// up to it instead of one by one. It works where the cells that the operator asks for reach it as they are and each row comes
// with its batch: no row behind the end then reaches an operator before it.
import type { Batch } from '../batch/batch.ts';
import type { Schema } from '../batch/schema.ts';
import type { Operator } from '../operations/operation.ts';
import type { Sliced } from './time-slices.ts';

/** A step of the chain as the preview needs it. */
export interface PreviewedStep {
  readonly operator: Operator;
  readonly needsAllRows: boolean;
  readonly input: Schema;
  /** Ids of the columns whose cells it changes; null when nobody knows, or when it may hold rows back for a while. */
  readonly edits: readonly number[] | null;
}

export class EndPreview {
  /** Index of the operator among the steps. */
  readonly index: number;
  readonly #endsAhead: NonNullable<Operator['endsAhead']>;
  /** For each column of the operator its index at the place of the preview, or -1. */
  readonly #layout: readonly number[];

  /**
   * Null where the first operator that may have enough cannot be looked ahead for.
   * @param columns those of the batches that come to the first of the steps
   * @param flagColumn id of the column to which any step may write, or null
   */
  static of(steps: readonly PreviewedStep[], columns: Schema, flagColumn: number | null): EndPreview | null {
    const index = steps.findIndex(({ operator }) => operator.rowsWanted !== undefined);
    const ahead = index < 0 ? undefined : steps[index]!.operator.endsAhead;
    if (ahead === undefined) return null;
    const before = steps.slice(0, index);
    if (before.some(({ edits, needsAllRows }) => edits === null || needsAllRows)) return null;
    const reads = ahead.columns.map((place) => steps[index]!.input[place]!.id);
    const isFree = (id: number): boolean =>
      id !== flagColumn &&
      columns.some((column) => column.id === id) &&
      before.every(({ edits }) => edits?.includes(id) === false);
    if (!reads.every(isFree)) return null;
    const layout = steps[index]!.input.map(({ id }) => columns.findIndex((column) => column.id === id));
    return new EndPreview(index, ahead, layout);
  }

  constructor(index: number, endsAhead: NonNullable<Operator['endsAhead']>, layout: readonly number[]) {
    this.index = index;
    this.#endsAhead = endsAhead;
    this.#layout = layout;
  }

  /** So many rows of the batch in, rising, the rows may end: each of these rows must be the last that comes at once. */
  *ends(batch: Batch): Sliced<readonly number[]> {
    const { arena } = batch;
    const { columns, of } = this.#endsAhead;
    for (const place of columns) {
      const index = this.#layout[place]!;
      if (batch.columns[index]!.kind !== 'typed') batch.views(index);
    }
    const mark = arena.next;
    // Columns that came later are not asked for: any other stands in their place.
    const ends = yield* of(batch.withColumns(this.#layout.map((index) => batch.columns[Math.max(0, index)]!)));
    arena.release(mark);
    return ends;
  }
}
