// The first rows of each group by an order, in that order over all groups. In bounded memory: the rows are sorted by group,
// of which the sorter forgets those that come later, and those that stay are sorted again.

import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { groupOrder, joinedKeys } from '../aggregate/group-order.ts';
import { placeColumn, viewsOf } from './row-places.ts';
import { RowSorter } from './row-sorter.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';
import { SortedGroups } from './sorted-groups.ts';

export class TopOfGroups implements Operator {
  readonly #context: OperatorContext;
  readonly #n: number;
  readonly #marks: SortedGroups;
  readonly #sorter: RowSorter;
  readonly #kept: RowSorter;
  #taken = 0;
  #inGroup = 0;

  /** @param groups indexes of the columns that make the group */
  constructor(context: OperatorContext, n: number, groups: readonly number[], terms: readonly SortTerm[]) {
    const types = [...storedTypes(context.input), 'text' as const];
    const order = new SortKeys(context, terms);
    this.#context = context;
    this.#n = n;
    this.#marks = new SortedGroups(context, groups.length);
    const wanted = { first: n, groups: groups.length };
    this.#sorter = new RowSorter(context, types, groupOrder(context, groups, terms), wanted);
    this.#kept = new RowSorter(context, types, {
      prepare: () => undefined,
      // Equal rows of different groups stand as in the source.
      make(batch) {
        const keys = order.make(batch);
        return keys === 0 ? 0 : joinedKeys(batch, keys, viewsOf(batch.columns[types.length - 1]!));
      },
    });
  }

  push(batch: Batch): Slices {
    const { arena } = this.#context;
    for (const [index, column] of batch.columns.entries()) if (column.kind !== 'typed') batch.views(index);
    const mark = arena.next;
    const places = placeColumn(arena, batch, this.#taken, false);
    this.#taken += batch.live;
    this.#sorter.add(batch.withColumns([...batch.columns, places]));
    arena.release(mark);
    return DONE;
  }

  *finish(): Steps {
    yield* this.#sorter.finish((batch) => this.#keep(batch));
    yield* this.#kept.finish((batch) => this.#context.next(batch.withColumns(batch.columns.slice(1, -1))));
  }

  #keep(batch: Batch): Slices {
    const { arena } = this.#context;
    const mark = arena.next;
    const selection = arena.take(batch.live * 4);
    const { starts } = this.#marks.mark(batch);
    const { u32 } = arena.heap;
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      if (starts[position] === 1) this.#inGroup = 0;
      if (this.#inGroup++ < this.#n) u32[(selection >>> 2) + live++] = batch.physicalRow(position);
    }
    const rows = batch.withColumns(batch.columns.slice(1)).withSelection(selection, live);
    if (live > 0) this.#kept.add(rows);
    arena.release(mark);
    return DONE;
  }
}
