// The general lane of expressions on batches: closures that read the cells they name, and only those, row by row.
import type { Batch } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import type { ColumnType, Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import type { Resolver } from '../../expression/compile/compilation.ts';
import { compileExpression } from '../../expression/compile/compiler.ts';
import { EvaluationError } from '../../expression/compile/evaluation-error.ts';
import { resultColumn } from '../../expression/compile/result.ts';
import type { Value } from '../../expression/compile/value.ts';
import { jsonText } from '../../expression/compile/value-text.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { META_PREFIX } from '../../template/meta-variables.ts';
import { parseTimestamp } from '../../values/timestamp.ts';
import { CellFault } from '../cells/value-cells.ts';
import { type LookupContext, tableLookup } from '../join/table-lookup.ts';

/** What an expression needs around it; without values of the file (`meta`) all of them are null. */
export type ExpressionContext = LookupContext &
  Pick<OperatorContext, 'startedAt' | 'clock'> &
  Partial<Pick<OperatorContext, 'meta'>>;

/** One expression, compiled for the batches of one operator. */
export class RowExpression {
  /** The type of a column of its results. */
  readonly type: ColumnType;
  readonly #readers: readonly CellReader[];
  readonly #evaluate: (row: number) => unknown;
  readonly #cell: (result: unknown) => unknown;
  readonly #faults = new Map<RowErrorCode, CellFault>();
  #batch: Batch | null = null;

  /**
   * @param columns the columns of the batches that it will see
   * @param stepsMax what one evaluation may take, where it is a part of another one
   */
  constructor(
    expression: CheckedExpression,
    columns: Schema,
    context: ExpressionContext,
    value?: CellReader,
    stepsMax?: number,
  ) {
    const readers = new Map<string, CellReader>();
    const startedAt = parseTimestamp(context.startedAt);
    const readerOf = (name: string): CellReader => {
      const index = columns.findIndex((column) => column.name === name);
      if (index < 0) throw new Error('a checked expression names a column that is not there');
      const reader = readers.get(name) ?? new CellReader(columns[index]!.type, index, true);
      readers.set(name, reader);
      return reader;
    };
    const resolver: Resolver<number> = {
      column: (name) => readerOf(name).read,
      kindOf(sources) {
        if (!columns.some(({ hasKinds }) => hasKinds === true)) return null;
        const cells = sources.flatMap((source) => (source === 'value' ? (value ?? []) : readerOf(source.column)));
        return cells.length === 0 ? null : (row, text) => kindOfText(cells, row, text);
      },
      ...(value === undefined ? {} : { value: value.read }),
      lookup: (table, keyColumn, valueColumn) => tableLookup(context, table, keyColumn, valueColumn),
      runRow: (row) => this.#batch!.sourceRow(row),
      variable(name) {
        const value = context.meta?.[name.slice(META_PREFIX.length)] ?? null;
        return () => value;
      },
      ...(startedAt === null ? {} : { startedAt }),
    };
    this.#evaluate = compileExpression(expression, resolver, stepsMax);
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

  /** The value for a physical row in the form of the expression's type (compileExpression), or a CellFault. */
  value(row: number): unknown {
    try {
      return this.#evaluate(row);
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

/** That of the first cell with this text that the file knows for something else than text. */
function kindOfText(cells: readonly CellReader[], row: number, text: string): number {
  for (const cell of cells) if (cell.kind(row) !== KIND_TEXT && cell.text(row) === text) return cell.kind(row);
  return KIND_TEXT;
}

/** Null is a missing cell; inside lists and maps it is written. */
function jsonCell(value: unknown): string | null {
  return value === null ? null : jsonText(value as Value);
}
