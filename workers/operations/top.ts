// The operation `top`: keeps the first rows by an order.
import type { Batch } from '../batch/batch.ts';
import { Type } from '../bundled/type-box.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import { columnsByText, planTerms, sortBy, sorterOf, sortTerms, withoutKey } from '../execution/sort/sort-keys.ts';
import { TopOfGroups } from '../execution/sort/top-of-groups.ts';
import { DONE, type Slices } from '../scheduling/time-slices.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation, type Operator, type OperatorContext } from '../template/operation.ts';

export const top = defineOperation({
  name: 'top',
  purpose: 'keeps the first `n` rows in a given order, in total or for each group',
  summary: 'Keeps the first rows of an order, in total or for each group. The output is sorted.',
  knownAs: [
    {
      names: 'top_n nlargest nsmallest largest smallest top_k slice_max slice_min',
      form: 'n: 10, by: [...]',
    },
  ],
  parameters: Type.Object({
    n: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Number of rows to keep, for each group with `group_by`.',
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
      title: 'The first row of each group',
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
    const indexes = groups.map((column) => context.indexOf(column));
    const compared = columnsByText(terms);
    if (indexes.length > 0) {
      return withOrderCheck(new TopOfGroups(context, n, indexes, sortTerms(terms, context)), compared, context);
    }
    const sorter = sorterOf(terms, context, n);
    const first = firstRows(n, context);
    const operator: Operator = {
      *push(batch) {
        yield* sorter.editLong(batch);
        sorter.add(batch);
      },
      finish: () => sorter.finish((batch) => first.next(withoutKey(batch)), first.wanted),
    };
    return withOrderCheck(operator, compared, context);
  },
});

interface Choice {
  next(batch: Batch): Slices;
  wanted(): number;
}

function firstRows(n: number, { next }: OperatorContext): Choice {
  let left = n;
  return {
    wanted: () => left,
    next(batch) {
      const some = batch.slice(0, Math.min(left, batch.live));
      left -= some.live;
      return some.live > 0 ? next(some) : DONE;
    },
  };
}
