// Brings the rows of each group together, lets them be worked on in the order of the source or against it, and puts them
// back where they were. In bounded memory: it sorts them twice.
import type { Batch } from '../../batch/batch.ts';
import type { StoredType } from '../../batch/schema.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';
import { DONE, type Steps } from '../../run/time-slices.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { byPlace, placeColumn } from '../sort/row-places.ts';
import { RowSorter } from '../sort/row-sorter.ts';
import { SortedGroups } from '../sort/sorted-groups.ts';

export interface PassPlan {
  /** Types of the columns of the batches that are added. */
  readonly types: readonly StoredType[];
  /** Indexes of the columns that make the group; none: all rows are one. */
  readonly groups: readonly number[];
  /** Rows of a group come last one first. */
  readonly reversed: boolean;
  /** Types of the columns that come out of the work. */
  readonly makes: readonly StoredType[];
}

/**
 * Works on rows of groups that lie together; gives the same rows with the columns that come out.
 * `starts`: by position, 1 for the first row of a group.
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

  /** Hands the rows on in the order in which they came. A batch is valid until `next` is done with it. */
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
