// The first rows of each group by an order, in that order over all groups. In bounded memory: the rows are sorted by group,
// those that stay are sorted again.

import type { Batch } from '../../batch/batch.ts';
import { storedTypes } from '../../batch/schema.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { DONE, type Slices, type Steps } from '../../run/time-slices.ts';
import { groupBytes, groupOrder, joinedKeys } from '../aggregate/group-order.ts';
import { placeColumn, viewsOf } from './row-places.ts';
import { RowSorter } from './row-sorter.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';

export class TopOfGroups implements Operator {
  readonly #context: OperatorContext;
  readonly #n: number;
  readonly #groups: number;
  readonly #sorter: RowSorter;
  readonly #kept: RowSorter;
  #taken = 0;
  #group: Uint8Array | null = null;
  #inGroup = 0;

  /** @param groups indexes of the columns that make the group */
  constructor(context: OperatorContext, n: number, groups: readonly number[], terms: readonly SortTerm[]) {
    const types = [...storedTypes(context.input), 'text' as const];
    const order = new SortKeys(context, terms);
    this.#context = context;
    this.#n = n;
    this.#groups = groups.length;
    this.#sorter = new RowSorter(context, types, groupOrder(context, groups, terms));
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
    const { u8, u32 } = arena.heap;
    const keys = viewsOf(batch.columns[0]!);
    let live = 0;
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const view = (keys >>> 2) + row * 2;
      const key = u8.subarray(u32[view]!, u32[view]! + u32[view + 1]!);
      const group = key.subarray(0, groupBytes(key, this.#groups));
      if (this.#group === null || Buffer.compare(group, this.#group) !== 0) this.#inGroup = 0;
      this.#group = group;
      if (this.#inGroup++ < this.#n) u32[(selection >>> 2) + live++] = row;
    }
    this.#group = this.#group?.slice() ?? null;
    const rows = batch.withColumns(batch.columns.slice(1)).withSelection(selection, live);
    if (live > 0) this.#kept.add(rows);
    arena.release(mark);
    return DONE;
  }
}
