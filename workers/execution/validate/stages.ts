// The stages of a validation: one for each rule that needs more than the row (its key, a reference table), which adds a
// column of marks, and one that judges the rows and takes the marks off again.
import type { Batch } from '../../batch/batch.ts';
import type { Column } from '../../batch/schema.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import type { Operator, OperatorContext } from '../../operations/operation.ts';
import { rowCondition } from '../expressions/row-condition.ts';
import { TableIndex } from '../join/table-index.ts';
import { TableJoin } from '../join/table-join.ts';
import { TableProbe } from '../join/table-probe.ts';
import { DuplicateMarker } from '../keys/duplicate-marker.ts';
import { RowKeys } from '../keys/row-keys.ts';
import { isStaged, type PlannedRule, type RuleTest } from './plan-rules.ts';
import { Validator } from './validator.ts';

/** One stage for each rule that keeps keys, which adds a column of marks, and one that judges and takes them off again. */
export function startValidation(rules: readonly PlannedRule[], context: OperatorContext): Operator {
  const judge = new Validator(context, rules);
  const keyed = rules.filter(isStaged);
  const stages: Operator[] = [judge];
  for (let index = keyed.length - 1; index >= 0; index--) {
    const behind = stages[0]!;
    const marks = keyed.slice(0, index).map((_, mark) => ({ id: -1 - mark, name: '', type: 'boolean' as const }));
    const input = [...context.input, ...marks];
    stages.unshift(stageOf(keyed[index]!, { ...context, input, next: (batch) => behind.push(batch) }));
  }
  return {
    push: (batch) => stages[0]!.push(batch),
    *finish() {
      for (const stage of stages) if (stage.finish !== undefined) yield* stage.finish();
    },
  };
}

function stageOf(rule: PlannedRule, context: OperatorContext): Operator {
  if (rule.test.kind === 'unique') return uniqueStage(rule.test, rule.where, context);
  if (rule.test.kind === 'exists') return existsStage(rule.test, rule.column!, context);
  throw new Error('this rule has no stage');
}

function uniqueStage(
  test: Extract<RuleTest, { kind: 'unique' }>,
  where: PlannedRule['where'],
  context: OperatorContext,
): Operator {
  const columns = test.columns.map((column) => context.indexOf(column));
  const condition = where === null ? null : rowCondition(where, context.input, context);
  return new DuplicateMarker(context, new RowKeys(context, columns, test.match), function* (batch, rows, count, fail) {
    const filled = keepFilled(batch, columns, rows, count);
    return condition === null ? filled : yield* condition(batch, rows, filled, fail);
  });
}

/** Keeps the rows of a list that have no null in the columns. */
const keepFilled = (batch: Batch, columns: readonly number[], rows: number, count: number): number => {
  const { u8, u32 } = batch.heap;
  const first = rows >>> 2;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[first + i]!;
    const isFilled = columns.every((index) => {
      const column = batch.columns[index]!;
      if (column.kind === 'raw') throw new Error('key columns have views');
      if (column.kind === 'typed') return u8[column.meta + row] !== META_NULL;
      return u32[(column.at >>> 2) + row * 2] !== 0 && u32[(column.at >>> 2) + row * 2 + 1] !== 0;
    });
    if (isFilled) u32[first + kept++] = row;
  }
  return kept;
};

/** Of all rows: the judge passes over those without a value and those that `where` leaves out. */
function existsStage(
  { table: name, key, match }: Extract<RuleTest, { kind: 'exists' }>,
  column: Column,
  context: OperatorContext,
): Operator {
  const table = context.tables.get(name);
  if (table === undefined) throw new Error('a planned table is not there');
  const tableKey = { column: table.columns.indexOf(key), type: column.type, match };
  const index = new TableIndex(context, table.columns.length, [tableKey]);
  const probed = { columns: [context.indexOf(column)], levels: [match] };
  const probe = new TableProbe(context, probed, [], 'first');
  return new TableJoin(context, { table, index, probe, payload: 0, rowsMost: 1, settle: context.next });
}
