// The table of operations: every operation of the language at least once, and families of expressions and patterns.
import type { Job } from '../workloads/job.ts';
import { CELL_ROWS } from './cells.ts';
import { COLUMN_ROWS } from './columns.ts';
import { EVERYDAY_ROWS } from './everyday.ts';
import { EXPRESSION_ROWS } from './expressions.ts';
import { GROUP_ROW_LIST } from './groups.ts';
import { jobOf, type OperationRow } from './operation-row.ts';
import { PARAMETER_ROWS } from './parameters.ts';
import { PATTERN_ROWS } from './patterns.ts';
import { ROW_ROWS } from './rows.ts';

export const OPERATION_ROWS: readonly OperationRow[] = [
  ...EVERYDAY_ROWS,
  ...COLUMN_ROWS,
  ...CELL_ROWS,
  ...ROW_ROWS,
  ...GROUP_ROW_LIST,
  ...EXPRESSION_ROWS,
  ...PATTERN_ROWS,
  ...PARAMETER_ROWS,
];

/** Throws if there is no row with this name. */
export function operationJobNamed(name: string): Job {
  const row = OPERATION_ROWS.find((candidate) => candidate.name === name);
  if (row === undefined) throw new Error(`no row ${name} in the table of operations`);
  return jobOf(row);
}
