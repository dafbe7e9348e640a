// Sort keys that bring the rows of a group together in a given order, and keys that concatenate two other keys.
import type { Batch } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { RowOrder } from '../sort/row-sorter.ts';
import { SortKeys, type SortTerm } from '../sort/sort-keys.ts';

/**
 * Creates keys that bring the rows of each group together. Within a group, rows have the order of the terms, or source
 * order if there are no terms.
 */
export function groupOrder(context: OperatorContext, groups: readonly number[], terms: readonly SortTerm[]): RowOrder {
  const keys = new RowKeys(context, groups, 'exact');
  const order = new SortKeys(context, terms);
  return {
    prepare: (batch) => keys.prepare(batch),
    editLong: (batch, clock) => order.editLong(batch, clock),
    make(batch) {
      if (groups.length === 0) return order.make(batch);
      const left = keys.makeFilled(batch);
      if (left === 0 || terms.length === 0) return left;
      const right = order.make(batch);
      return right === 0 ? 0 : joinedKeys(context, batch, left, right);
    },
  };
}

/**
 * Returns views, by physical row, of the concatenated left and right keys, or 0 if the arena is full. The order is
 * correct if no left key is a prefix of another, which holds for group keys and sort keys.
 */
export function joinedKeys(
  { kernel }: Pick<OperatorContext, 'kernel'>,
  batch: Batch,
  left: number,
  right: number,
): number {
  const { arena, selection, live } = batch;
  const views = arena.tryTake(batch.rows * VIEW_BYTES);
  if (views === 0) return 0;
  const next = kernel.exports.joinKeys(left, right, selection, live, views, arena.next, arena.limit) >>> 0;
  if (next === 0) return 0;
  arena.next = next;
  return views;
}
