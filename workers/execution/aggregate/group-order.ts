// Sort keys that bring the rows of a group together in a given order, and keys that concatenate two other keys.
import type { Batch } from '../../batch/batch.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { RowOrder } from '../sort/row-sorter.ts';
import { SortKeys, type SortTerm } from '../sort/sort-keys.ts';

/** Brings the rows of each group together, in the order of the terms. Without terms, in source order. */
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
      return right === 0 ? 0 : joinedKeys(batch, left, right);
    },
  };
}

/**
 * Returns views, by physical row, of the concatenated left and right keys, or 0 if the arena is full. The order is
 * correct if no left key is a prefix of another, which holds for group keys and sort keys.
 */
export function joinedKeys(batch: Batch, left: number, right: number): number {
  const { arena } = batch;
  const views = arena.tryTake(batch.rows * 8);
  if (views === 0) return 0;
  const { u8, u32 } = arena.heap;
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position) * 2;
    const [a, aBytes] = [u32[(left >>> 2) + row]!, u32[(left >>> 2) + row + 1]!];
    const [b, bBytes] = [u32[(right >>> 2) + row]!, u32[(right >>> 2) + row + 1]!];
    if (arena.freeBytes < aBytes + bBytes) return 0;
    u8.copyWithin(arena.next, a, a + aBytes);
    u8.copyWithin(arena.next + aBytes, b, b + bBytes);
    u32[(views >>> 2) + row] = arena.next;
    u32[(views >>> 2) + row + 1] = aBytes + bBytes;
    arena.next += aBytes + bBytes;
  }
  return views;
}
