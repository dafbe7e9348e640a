// Which way the rows of `window` go: where all columns are totals of whole groups these are kept by the hash of the group, else,
// or when memory has no room for the groups, the rows are sorted.
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { GroupTotals } from '../aggregate/group-totals.ts';
import { NumberedRows } from '../keys/numbered-rows.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { WindowPass, type WindowPlan } from './window-pass.ts';
import { totalColumn } from './window-totals.ts';

export function windowRows(context: OperatorContext, plan: WindowPlan): Operator {
  const { groups, columns, types, next } = plan;
  const totals = columns.flatMap((column) => (column.total === null ? [] : [totalColumn(column.total, column)]));
  if (totals.length < columns.length) return new WindowPass(context, plan);
  return new NumberedRows(context, {
    types,
    key: groups,
    keys: new RowKeys(context, [...groups.keys()], 'exact'),
    isExact: true,
    facts: new GroupTotals(context, totals, next),
    other: () => new WindowPass(context, plan),
  });
}
