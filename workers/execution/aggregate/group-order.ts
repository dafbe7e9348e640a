// Keys by which the rows of a group lie together, in an order of their own; and keys that are two keys one behind the other.
import type { Batch } from '../../batch/batch.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { RowKeys } from '../keys/row-keys.ts';
import type { RowOrder } from '../sort/row-sorter.ts';
import { SortKeys, type SortTerm } from '../sort/sort-keys.ts';

/** Rows of a group lie together, in their order; without terms in that of the source. */
export function groupOrder(context: OperatorContext, groups: readonly number[], terms: readonly SortTerm[]): RowOrder {
  const keys = new RowKeys(context, groups, 'exact');
  const order = new SortKeys(context, terms);
  return {
    prepare: (batch) => keys.prepare(batch),
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
 * Views by physical row of each row's left key and then its right one, 0 when the arena is full. The order is sound where no
 * left key begins with another, as keys of groups and of sorting do not.
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
