// Conditions of the Template at work on batches: which rows of a list they hold for.
import type { Batch } from '../../batch.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import type { RowErrorCode } from '../../report.ts';
import type { Schema } from '../../schema.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { OperatorContext, RowChoice } from '../operation.ts';
import { RowExpression } from './row-expression.ts';

/** The rows for which a checked condition is true; null is not true. */
export function rowCondition(
  condition: CheckedExpression,
  columns: Schema,
  context: Pick<OperatorContext, 'startedAt'>,
): RowChoice {
  const expression = new RowExpression(condition, columns, context);
  return (batch, rows, count, fail) => chooseByRow(expression, batch, rows, count, fail);
}

function chooseByRow(
  expression: RowExpression,
  batch: Batch,
  rows: number,
  count: number,
  fail: (physicalRow: number, code: RowErrorCode) => void,
): number {
  expression.bind(batch);
  const { u32 } = batch.heap;
  const first = rows >>> 2;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[first + i]!;
    const holds = expression.holds(row);
    if (holds === true) u32[first + kept++] = row;
    else if (holds instanceof CellFault) fail(row, holds.code);
  }
  return kept;
}
