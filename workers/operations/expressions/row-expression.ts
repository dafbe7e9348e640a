// The general lane of expressions on batches: closures that read the cells they name, and only those, row by row.
import type { Batch } from '../../batch.ts';
import { compileExpression } from '../../expression/compiler.ts';
import { EvaluationError } from '../../expression/evaluation-error.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import { resultColumn } from '../../expression/result.ts';
import type { Value } from '../../expression/value.ts';
import { jsonText } from '../../expression/value-text.ts';
import type { RowErrorCode } from '../../report.ts';
import type { ColumnType, Schema } from '../../schema.ts';
import { parseTimestamp } from '../../values/timestamp.ts';
import { CellReader } from '../cells/cell-values.ts';
import { CellFault } from '../cells/value-cells.ts';
import type { OperatorContext } from '../operation.ts';
import { type LookupContext, tableLookup } from '../tables/table-lookup.ts';

/** What an expression needs around it. */
export type ExpressionContext = LookupContext & Pick<OperatorContext, 'startedAt'>;

/** One expression, compiled for the batches of one operator. */
export class RowExpression {
  /** The type of a column of its results. */
  readonly type: ColumnType;
  readonly #readers: readonly CellReader[];
  readonly #evaluate: (row: number) => unknown;
  readonly #cell: (result: unknown) => unknown;
  readonly #faults = new Map<RowErrorCode, CellFault>();
  #batch: Batch | null = null;

  /** @param columns the columns of the batches that it will see */
  constructor(expression: CheckedExpression, columns: Schema, context: ExpressionContext, value?: CellReader) {
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
      lookup: (table, keyColumn, valueColumn) => tableLookup(context, table, keyColumn, valueColumn),
      runRow: (row) => this.#batch!.sourceRow(row),
      ...(startedAt === null ? {} : { startedAt }),
    });
    this.#readers = value === undefined ? [...readers.values()] : [...readers.values(), value];
    const { type, cell } = resultColumn(expression.type);
    this.type = type;
    this.#cell = type === 'json' ? (result) => jsonCell(cell(result)) : cell;
  }

  /** Comes before the first row of each batch. */
  bind(batch: Batch): void {
    this.#batch = batch;
    for (const reader of this.#readers) reader.bind(batch);
  }

  /** The cell for a physical row in the form of `type` (json: its text), null, or a CellFault. */
  cell(row: number): unknown {
    try {
      return this.#cell(this.#evaluate(row));
    } catch (error) {
      return this.#fault(error);
    }
  }

  /** A condition: true, false, null, or a CellFault. */
  holds(row: number): boolean | null | CellFault {
    try {
      const result = this.#evaluate(row);
      return typeof result === 'boolean' || result === null ? result : this.#faultOf('EXPR_TYPE');
    } catch (error) {
      return this.#fault(error);
    }
  }

  #fault(error: unknown): CellFault {
    if (error instanceof EvaluationError) return this.#faultOf(error.code);
    throw error;
  }

  #faultOf(code: RowErrorCode): CellFault {
    const known = this.#faults.get(code);
    if (known !== undefined) return known;
    const fault = new CellFault(code);
    this.#faults.set(code, fault);
    return fault;
  }
}

/** Null is a missing cell; inside lists and maps it is written. */
function jsonCell(value: unknown): string | null {
  return value === null ? null : jsonText(value as Value);
}
