// The operation `sort`: sorts rows.
import { Type } from '../bundled/type-box.ts';
import { EncodedRowSorter, RowsWithKeys } from '../execution/sort/encoded-row-sorter.ts';
import { withOrderCheck } from '../execution/sort/numbers-as-text.ts';
import {
  columnsByText,
  type PlannedTerm,
  planTerms,
  sortBy,
  sorterOf,
  sortTerms,
  withoutKey,
} from '../execution/sort/sort-keys.ts';
import { SortedPartWriter, SortedRangeReader } from '../execution/sort/sorted-parts.ts';
import { Failed } from '../protocol/failure.ts';
import { DONE } from '../scheduling/time-slices.ts';
import {
  defineOperation,
  type Operator,
  type OperatorContext,
  type SortedParts,
  type SortedRanges,
} from '../template/operation.ts';
import { namesFor } from '../template/operation-hint.ts';

const ORDER_HINT = 'Write by: [{column: ..., order: desc}].';

export const sort = defineOperation({
  name: 'sort',
  purpose:
    'sorts rows; equal rows keep their order; nulls are last by default. `compare` sorts texts by code points, numbers inside texts, the alphabet of a language (`{locale: de}`) or a list of values (`{order: [low, high]}`)',
  summary: 'Sorts rows. Equal rows keep their order.',
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
      title: 'Numbers inside texts, descending, nulls first',
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
      title: 'Names by the German alphabet',
      operation: { op: 'sort', by: { column: 'name', compare: { locale: 'de' } } },
      input: { columns: ['name'], rows: [['Zoe'], ['Özil'], ['Oswald'], ['ander'], ['Änder'], ['Ander'], ['Strauß']] },
      output: {
        columns: ['name'],
        rows: [['ander'], ['Ander'], ['Änder'], ['Oswald'], ['Özil'], ['Strauß'], ['Zoe']],
      },
    },
    {
      title: 'Sizes in their own order',
      operation: { op: 'sort', by: [{ column: 'size', compare: { order: ['S', 'M', 'L'] } }, 'item'] },
      input: {
        columns: ['size', 'item'],
        rows: [
          ['L', 'b'],
          ['one size', 'c'],
          ['S', 'd'],
          ['M', 'e'],
          ['L', 'a'],
          [null, 'f'],
        ],
      },
      output: {
        columns: ['size', 'item'],
        rows: [
          ['S', 'd'],
          ['M', 'e'],
          ['L', 'a'],
          ['L', 'b'],
          ['one size', 'c'],
          [null, 'f'],
        ],
      },
    },
    {
      title: 'Numbers by size',
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
  sortsParts: true,
  start(planned, context) {
    const { sorted = null } = context;
    if (sorted !== null) return sortedParts(planned, context, sorted);
    if (context.ahead !== null) {
      const finished = new EncodedRowSorter(context, context.ahead, sortTerms(planned, context));
      const operator: Operator = { push: (batch) => finished.add(batch), finish: () => finished.finish() };
      return withOrderCheck(operator, columnsByText(planned), context);
    }
    const sorter = sorterOf(planned, context);
    const operator: Operator = {
      *push(batch) {
        yield* sorter.editLong(batch);
        sorter.add(batch);
      },
      finish: () => sorter.finish((batch) => context.next(withoutKey(batch))),
    };
    return withOrderCheck(operator, columnsByText(planned), context);
  },
});

/** Sorts the rows of the parts of one thread, or writes rows that several threads have sorted. */
function sortedParts(
  planned: readonly PlannedTerm[],
  context: OperatorContext,
  sorted: SortedParts | SortedRanges,
): Operator {
  if (context.ahead === null) throw new Failed('RUN_RESOURCE_LIMIT', 'The output has to be written in order.');
  if (sorted.kind === 'merge') {
    const ranges = new SortedRangeReader(context, context.ahead, sorted);
    return { push: () => DONE, emitRange: () => ranges.emitRange() };
  }
  const parts = new SortedPartWriter(context, context.ahead, sorted);
  const keyed = new RowsWithKeys(context, sortTerms(planned, context));
  const operator: Operator = {
    push: (batch) => keyed.add(batch, (rows, keys) => parts.add(rows, keys)),
    endPart: () => parts.endPart(),
  };
  return sorted.part > 0 ? operator : withOrderCheck(operator, columnsByText(planned), context, true);
}
