// Expressions of the Template at work on batches: checked against the columns of a step, then evaluated row by row over
// the cells that they name, and only those.
import type { Batch } from '../../batch.ts';
import { checkExpression } from '../../expression/checker.ts';
import { compileExpression } from '../../expression/compiler.ts';
import { EvaluationError } from '../../expression/evaluation-error.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import type { RowErrorCode } from '../../report.ts';
import type { ColumnType, Schema } from '../../schema.ts';
import type { Scope } from '../../template/scope.ts';
import { parseTimestamp } from '../../values/timestamp.ts';
import type { OperatorContext } from '../operation.ts';
import { CellReader } from './cell-values.ts';

/** Names that mean types in expressions unless a column bears them: in an open set they are not taken for columns. */
const TYPE_NAMES = new Set('bool bytes double dyn int list map null_type string type uint decimal date'.split(' '));

/**
 * Checks an expression against the columns of a step and reads those that it names. Null after a problem. `value`: type
 * of the cell at hand, in operations on cells.
 */
export function checkRowExpression(
  scope: Scope,
  source: string,
  pointer: string,
  value?: ColumnType,
): CheckedExpression | null {
  const columns = new ScopeColumns(scope, pointer);
  const checked = checkExpression(source, value === undefined ? { columns } : { columns, value });
  if ('expression' in checked) {
    for (const name of checked.expression.columns) scope.read(name, pointer);
    return checked.expression;
  }
  for (const { code, message } of checked.problems) scope.problem(pointer, code, message);
  return null;
}

/** One expression, compiled for the batches of one operator. */
export class RowExpression {
  readonly #readers: readonly CellReader[];
  readonly #evaluate: (row: number) => unknown;
  #batch: Batch | null = null;

  /** @param columns the columns of the batches that it will see */
  constructor(
    expression: CheckedExpression,
    columns: Schema,
    context: Pick<OperatorContext, 'startedAt'>,
    value?: CellReader,
  ) {
    const readers = new Map<string, CellReader>();
    const startedAt = parseTimestamp(context.startedAt);
    this.#evaluate = compileExpression<number>(expression, {
      column(name) {
        const index = columns.findIndex((column) => column.name === name);
        if (index < 0) throw new Error('a checked expression names a column that is not there');
        const reader = readers.get(name) ?? new CellReader(columns[index]!.type, index, true);
        readers.set(name, reader);
        return reader.read;
      },
      ...(value === undefined ? {} : { value: value.read }),
      runRow: (row) => this.#batch!.sourceRow(row),
      ...(startedAt === null ? {} : { startedAt }),
    });
    this.#readers = value === undefined ? [...readers.values()] : [...readers.values(), value];
  }

  /** Comes before `evaluate`, for each batch, and again after anything that may allocate. */
  bind(batch: Batch): void {
    this.#batch = batch;
    for (const reader of this.#readers) reader.bind(batch);
  }

  /** The value for a physical row (expression/value.ts), or the code of the row's error. */
  evaluate(row: number): { readonly value: unknown } | { readonly code: RowErrorCode } {
    try {
      return { value: this.#evaluate(row) };
    } catch (error) {
      if (error instanceof EvaluationError) return { code: error.code };
      throw error;
    }
  }

  /** True when a condition holds; false for null. */
  holds(row: number): boolean {
    return this.#evaluate(row) === true;
  }
}

/** The columns of a scope as the checker of expressions asks for them: in an open set every name becomes required. */
class ScopeColumns extends Map<string, ColumnType> {
  readonly #scope: Scope;
  readonly #pointer: string;

  constructor(scope: Scope, pointer: string) {
    super(scope.columns.map(({ name, type }) => [name, type]));
    this.#scope = scope;
    this.#pointer = pointer;
  }

  override get(name: string): ColumnType | undefined {
    const known = super.get(name);
    if (known !== undefined || this.#scope.closed || TYPE_NAMES.has(name)) return known;
    return this.#scope.read(name, this.#pointer)?.type;
  }
}
