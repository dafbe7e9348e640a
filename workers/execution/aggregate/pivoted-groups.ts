// Spreads rows over columns by a name that each has: one row for each group, a cell for each of the listed names.
import type { Batch, ColumnData } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { type Column, type ColumnType, storedType, storedTypes } from '../../batch/schema.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { withoutRows } from '../cells/cell-operator.ts';
import { fillNulls } from '../cells/fill-nulls.ts';
import { textOfValue } from '../cells/text-of-value.ts';
import { KEY_ABSENT } from '../keys/hash-table.ts';
import { type MetricName, movesCell } from './accumulators.ts';
import { HashAggregate, type HashAggregatePlan } from './hash-aggregate.ts';
import type { GroupMetric } from './metric-state.ts';
import { NamePlaces } from './name-places.ts';

export interface PivotPlan {
  readonly groups: readonly Column[];
  readonly names: Column;
  readonly source: Column;
  readonly values: readonly string[];
  /** Null: of several rows of one group and name nothing can be made. */
  readonly aggregate: MetricName | null;
  readonly type: ColumnType;
  readonly fill: unknown;
  readonly other: 'ignore' | 'error' | 'column';
  /** What is said of such rows. */
  readonly meeting: string;
}

/** The groups in the order in which they are first seen. */
export function pivotedGroups(planned: PivotPlan, context: OperatorContext): HashAggregate {
  return new HashAggregate(context, aggregateOf(planned, context));
}

/** Takes rows with names that are not listed away, as errors of theirs. */
export function withKnownNames(
  { names, values }: Pick<PivotPlan, 'names' | 'values'>,
  context: OperatorContext,
): (batch: Batch) => Batch {
  const reader = new CellReader(names.type, context.indexOf(names));
  const known = new Set(values);
  return (batch) => {
    const dropped = new Set<number>();
    for (let position = 0; position < batch.live; position++) {
      reader.bind(batch);
      const row = batch.physicalRow(position);
      const name = reader.read(row);
      if (name !== null && known.has(textOfValue(name))) continue;
      if (context.errors.report(batch, row, names.name, 'NOT_IN_SET') === 'drop_row') dropped.add(row);
    }
    return dropped.size === 0 ? batch : withoutRows(batch, dropped);
  };
}

/** A group has a cell for each name; without an aggregate it counts their rows too. */
function aggregateOf(planned: PivotPlan, context: OperatorContext): HashAggregatePlan {
  const { groups, names, source, values, aggregate, type, fill, other, meeting } = planned;
  const moves = movesCell(aggregate ?? 'first', source);
  const reads = moves ? storedType(source) : source.type;
  const makes = moves ? 'text_with_kind' : type;
  const place = groups.length + 1;
  const every = { type: source.type, reads, place, condition: -1, separator: ', ', percent: 50 };
  const cells: GroupMetric = { ...every, fn: aggregate ?? 'first', makes };
  const rows: GroupMetric = { ...every, fn: 'count', makes: 'integer' };
  const width = values.length + (other === 'column' ? 1 : 0);
  const rest = other === 'column' ? values.length : KEY_ABSENT;
  const found = new NamePlaces(context, { names: values, index: groups.length, type: names.type, rest });
  const { arena } = context;
  return {
    reads: [...groups, names, source].map((column) => context.indexOf(column)),
    readTypes: [...storedTypes(groups), names.type, reads],
    groups: groups.length,
    metrics: aggregate === null ? [cells, rows] : [cells],
    sorted: false,
    spread: {
      width,
      makes: Array.from({ length: width }, () => makes),
      places: (batch, rows, count) => found.find(batch, rows, count),
      made(columns, count) {
        const shown = aggregate === null ? onlyRows(columns, count, meeting, context) : columns;
        if (fill === null) return [...shown];
        const filled = shown.map((column) => fillNulls(arena, column, count, makes, fill));
        return filled.some((column) => column === null) ? null : filled.filter((column) => column !== null);
      },
    },
  };
}

/** Of each cell and the number of its rows the cell, where that is one row at most. */
function onlyRows(
  columns: readonly ColumnData[],
  count: number,
  meeting: string,
  { arena, errors }: OperatorContext,
): ColumnData[] {
  const { i64 } = arena.heap;
  for (const column of columns.filter((_, index) => index % 2 === 1)) {
    if (column.kind !== 'typed') throw new Error('counts are integers');
    for (let row = 0; row < count; row++) if (i64[(column.at >>> 3) + row]! > 1n) errors.failCheck(meeting);
  }
  return columns.filter((_, index) => index % 2 === 0);
}
