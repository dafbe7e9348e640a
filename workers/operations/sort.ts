// The operation `sort`: rows in order.
import { Type } from '../bundled/type-box.ts';
import { EncodedRowSorter } from '../execution/sort/encoded-row-sorter.ts';
import { withoutKey } from '../execution/sort/sort-keys.ts';
import { planTerms, sortBy, sorterOf, sortTerms } from '../execution/sort/sort-terms.ts';
import { DONE } from '../run/time-slices.ts';
import { namesFor } from '../template/operation-hint.ts';
import { defineOperation } from './operation.ts';

const ORDER_HINT = 'Write by: [{column: ..., order: desc}].';

export const sort = defineOperation({
  name: 'sort',
  summary: 'Puts rows in order; rows that are equal keep theirs.',
  knownAs: [
    {
      names: 'order_by orderby order arrange sort_values sort_by sort_rows orderby_rows',
      form: 'by: [...]',
    },
  ],
  parametersKnownAs: namesFor(ORDER_HINT, 'ascending', 'descending', 'asc', 'desc', 'order', 'reverse'),
  parameters: Type.Object({ by: sortBy }),
  cells: false,
  memory: 'B',
  examples: [
    {
      title: 'Texts by code points, rows without a value last',
      operation: { op: 'sort', by: ['name'] },
      input: {
        columns: ['name', 'n'],
        rows: [
          ['b', '1'],
          [null, '2'],
          ['B', '3'],
          ['a', '4'],
          ['b', '5'],
          ['10', '6'],
          ['9', '7'],
        ],
      },
      output: {
        columns: ['name', 'n'],
        rows: [
          ['10', '6'],
          ['9', '7'],
          ['B', '3'],
          ['a', '4'],
          ['b', '1'],
          ['b', '5'],
          [null, '2'],
        ],
      },
    },
    {
      title: 'Numbers inside texts, falling, nulls first',
      operation: { op: 'sort', by: [{ column: 'no', order: 'desc', nulls: 'first', compare: 'natural' }, 'x'] },
      input: {
        columns: ['no', 'x'],
        rows: [
          ['A-9', '1'],
          ['a-10', '2'],
          [null, '3'],
          ['A-010', '1'],
        ],
      },
      output: {
        columns: ['no', 'x'],
        rows: [
          [null, '3'],
          ['A-010', '1'],
          ['a-10', '2'],
          ['A-9', '1'],
        ],
      },
    },
    {
      title: 'Values by their size',
      operation: { op: 'sort', by: [{ column: 'd', order: 'desc' }, { column: 'f' }] },
      input: {
        columns: ['d', 'f'],
        types: ['decimal', 'number'],
        rows: [
          ['9.5', '1'],
          ['10', '2'],
          ['-3.25', '0'],
          ['-3.2', '-1.5'],
          ['9.50', '-2'],
        ],
      },
      output: {
        columns: ['d', 'f'],
        rows: [
          ['10', '2'],
          ['9.50', '-2'],
          ['9.5', '1'],
          ['-3.2', '-1.5'],
          ['-3.25', '0'],
        ],
      },
    },
  ],
  effect({ by }, scope) {
    return planTerms(by, scope, '/by');
  },
  start(planned, context) {
    if (context.ahead !== null) {
      const finished = new EncodedRowSorter(context, context.ahead, sortTerms(planned, context));
      return {
        push(batch) {
          finished.add(batch);
          return DONE;
        },
        finish: () => finished.finish(),
      };
    }
    const sorter = sorterOf(planned, context);
    return {
      push(batch) {
        sorter.add(batch);
        return DONE;
      },
      finish: () => sorter.finish((batch) => context.next(withoutKey(batch))),
    };
  },
});
