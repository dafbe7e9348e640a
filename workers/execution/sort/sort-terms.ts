// The parameter `by` of operations that sort: which columns, in which order.
import { type Column, storedTypes } from '../../batch/schema.ts';
import { type Static, Type } from '../../bundled/type-box.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Scope } from '../../template/scope.ts';
import { columnName } from '../parameters/column-set.ts';
import { RowSorter } from './row-sorter.ts';
import type { SortColumn } from './sort-key.ts';
import { SortKeys, type SortTerm } from './sort-keys.ts';

const term = Type.Object(
  {
    column: columnName,
    order: Type.Optional(Type.Enum(['asc', 'desc'], { default: 'asc', description: 'Rising or falling.' })),
    nulls: Type.Optional(
      Type.Enum(['first', 'last'], {
        default: 'last',
        description: 'Where rows without a value stand, in either order.',
      }),
    ),
    compare: Type.Optional(
      Type.Enum(['typed', 'natural', 'case_insensitive'], {
        default: 'typed',
        description:
          '`typed`: texts by code points, values by their size; `natural`: numbers inside texts by their size, any case; ' +
          '`case_insensitive`: texts in any case.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const sortBy = Type.Union([columnName, Type.Array(Type.Union([columnName, term]), { minItems: 1 })], {
  description: 'A column, or a list of columns and `{column, order, nulls, compare}`; the first one counts most.',
});

export interface PlannedTerm extends SortColumn {
  readonly column: Column;
}

export function planTerms(by: Static<typeof sortBy>, scope: Scope, pointer: string): PlannedTerm[] {
  const list = typeof by === 'string' ? [by] : by;
  return list.flatMap((entry, index): PlannedTerm[] => {
    const given: Static<typeof term> = typeof entry === 'string' ? { column: entry } : entry;
    const place = typeof by === 'string' ? pointer : `${pointer}/${index}${typeof entry === 'string' ? '' : '/column'}`;
    const column = scope.read(given.column, place);
    if (column === null) return [];
    const { order = 'asc', nulls = 'last', compare = 'typed' } = given;
    return [{ column, type: column.type, descending: order === 'desc', nullsFirst: nulls === 'first', compare }];
  });
}

/** A sorter of the operation's rows, of which the first so many are wanted. */
export function sorterOf(planned: readonly PlannedTerm[], context: OperatorContext, first?: number): RowSorter {
  const types = storedTypes(context.input);
  const wanted = first === undefined ? undefined : { first, groups: null };
  return new RowSorter(context, types, new SortKeys(context, sortTerms(planned, context)), wanted);
}

/** The planned terms by the places of their columns. */
export function sortTerms(planned: readonly PlannedTerm[], { indexOf }: Pick<OperatorContext, 'indexOf'>): SortTerm[] {
  return planned.map((entry) => ({ ...entry, index: indexOf(entry.column) }));
}
