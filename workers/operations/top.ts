// The operation `top`: the first rows of an order.
import { Type } from 'typebox';
import type { Batch } from '../batch.ts';
import { columnIndex } from './cells/cell-operator.ts';
import { columnSet } from './column-set.ts';
import { KeyTable } from './keys/key-table.ts';
import { RowKeys } from './keys/row-keys.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { withoutKey } from './rows/sort-keys.ts';
import { planTerms, sortBy, sorterOf } from './rows/sort-terms.ts';

export const top = defineOperation({
  name: 'top',
  summary: 'Keeps the first rows of an order, or those of each group; they come out sorted.',
  parameters: Type.Object({
    n: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Rows that stay, of each group with `group_by`.',
    }),
    by: sortBy,
    group_by: Type.Optional(columnSet),
  }),
  cells: false,
  memory: 'B',
  examples: [
    {
      title: 'The two largest',
      operation: { op: 'top', n: 2, by: [{ column: 'amount', order: 'desc' }] },
      input: { columns: ['amount'], types: ['decimal'], rows: [['5.00'], ['12.00'], [null], ['7.50']] },
      output: { columns: ['amount'], rows: [['12.00'], ['7.50']] },
    },
    {
      title: 'The first of each group',
      operation: { op: 'top', n: 1, by: 'day', group_by: ['customer'] },
      input: {
        columns: ['customer', 'day'],
        rows: [
          ['b', '2'],
          ['a', '3'],
          ['a', '1'],
          ['b', '4'],
        ],
      },
      output: {
        columns: ['customer', 'day'],
        rows: [
          ['a', '1'],
          ['b', '2'],
        ],
      },
    },
  ],
  effect({ n, by, group_by }, scope) {
    const groups = group_by === undefined ? [] : scope.resolve(group_by, '/group_by');
    return { n, terms: planTerms(by, scope, '/by'), groups };
  },
  start({ n, terms, groups }, context) {
    const indexes = groups.map((column) => columnIndex(context.input, column));
    const sorter = sorterOf(terms, context, indexes.length === 0 ? n : undefined);
    const first = indexes.length === 0 ? firstRows(n, context) : firstOfGroups(n, indexes, context);
    return {
      push: (batch) => sorter.add(batch),
      finish: () => sorter.finish((batch) => first.next(withoutKey(batch)), first.wanted),
    };
  },
});

interface Choice {
  next(batch: Batch): void;
  wanted(): number;
}

function firstRows(n: number, { next }: OperatorContext): Choice {
  let left = n;
  return {
    wanted: () => left,
    next(batch) {
      const some = batch.slice(0, Math.min(left, batch.live));
      left -= some.live;
      if (some.live > 0) next(some);
    },
  };
}

function firstOfGroups(n: number, columns: readonly number[], context: OperatorContext): Choice {
  const { arena, kernel, next } = context;
  const keys = new RowKeys(context, columns, 'exact');
  const table = new KeyTable(arena.heap, kernel);
  table.forced = true;
  let counts = new Uint32Array(1024);
  return {
    wanted: () => 1,
    next(batch) {
      keys.prepare(batch);
      const [hashes, ids, chosen] = [
        arena.take(batch.live * 8),
        arena.take(batch.live * 4),
        arena.take(batch.live * 4),
      ];
      let views = keys.make(batch, batch.selection, batch.live);
      for (; views === 0; views = keys.make(batch, batch.selection, batch.live)) arena.enlarge(arena.capacityBytes * 2);
      const list = { views, rows: batch.selection, count: batch.live, hashes, ids };
      table.hash(list);
      table.insert(list);
      if (table.count > counts.length) {
        const larger = new Uint32Array(table.count * 2);
        larger.set(counts);
        counts = larger;
      }
      const { u32 } = arena.heap;
      let live = 0;
      for (let position = 0; position < batch.live; position++) {
        const id = u32[(ids >>> 2) + position]!;
        if (counts[id]! >= n) continue;
        counts[id]!++;
        u32[(chosen >>> 2) + live++] = u32[(batch.selection >>> 2) + position]!;
      }
      if (live > 0) next(batch.withSelection(chosen, live));
    },
  };
}
