// The general evaluator of expressions on batches: closures that read only the cells they name, row by row.

import type { Batch } from '../../batch/batch.ts';
import type { ColumnType, Schema } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import type { Resolver } from '../../expression/compile/compilation.ts';
import { compileExpression } from '../../expression/compile/compiler.ts';
import { LongEdits } from '../../expression/compile/long-edits.ts';
import { EvaluationError, type Value } from '../../expression/compile/value.ts';
import { jsonText, resultColumn } from '../../expression/compile/value-text.ts';
import { KIND_TEXT } from '../../kernel/layout/cells.ts';
import { type RowErrorCode, rowOfFile } from '../../protocol/report.ts';
import { PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import { FILE_NAME, META_PREFIX } from '../../template/template.ts';
import { parseTimestamp } from '../../values/timestamp.ts';
import { CellFault, UNFINISHED } from '../cells/value-cells.ts';
import { type LookupContext, tableLookup } from '../join/table-lookup.ts';

/**
 * Environment of an expression. `meta` and the name of the file may be missing; the expression then reads them as null.
 */
export type ExpressionContext = LookupContext &
  Pick<OperatorContext, 'startedAt' | 'clock'> &
  Partial<Pick<OperatorContext, 'meta' | 'fileName' | 'fileOf'>>;

/** One expression, compiled for the batches of one operator. */
export class RowExpression {
  /** Type of a column of its results. */
  readonly type: ColumnType;
  readonly #readers: readonly CellReader[];
  readonly #evaluate: (row: number) => unknown;
  readonly #cell: (result: unknown) => unknown;
  readonly #faults = new Map<RowErrorCode, CellFault>();
  readonly #longEdits = new LongEdits();
  readonly #context: ExpressionContext;
  #batch: Batch | null = null;

  /**
   * @param columns columns of the batches
   * @param stepsMax maximum number of steps of one evaluation, if it is a part of another one
   */
  constructor(
    expression: CheckedExpression,
    columns: Schema,
    context: ExpressionContext,
    value?: CellReader,
    stepsMax?: number,
  ) {
    this.#context = context;
    const readers = new Map<string, CellReader>();
    const startedAt = parseTimestamp(context.startedAt);
    const readerOf = (name: string): CellReader => {
      const index = columns.findIndex((column) => column.name === name);
      if (index < 0) throw new Error('a checked expression names a missing column');
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
      runRow: (row) => rowOfFile(this.#batch!.sourceRow(row)),
      variable: (name) => {
        const isFile = name === FILE_NAME;
        const { fileOf = null } = context;
        if (fileOf !== null) {
          return (row) => {
            const sourceRow = rowOfFile(this.#batch!.sourceRow(row));
            const file = sourceRow === null ? null : fileOf(sourceRow);
            return (isFile ? file?.name : file?.meta[name.slice(META_PREFIX.length)]) ?? null;
          };
        }
        const value = (isFile ? context.fileName : context.meta?.[name.slice(META_PREFIX.length)]) ?? null;
        return () => value;
      },
      ...(startedAt === null ? {} : { startedAt }),
    };
    this.#evaluate = compileExpression(expression, resolver, stepsMax, this.#longEdits);
    this.#readers = value === undefined ? [...readers.values()] : [...readers.values(), value];
    const { type, cell } = resultColumn(expression.type);
    this.type = type;
    this.#cell = type === 'json' ? (result) => jsonCell(cell(result)) : cell;
  }

  /** Must be called before the first row of each batch. */
  bind(batch: Batch): void {
    this.#batch = batch;
    for (const reader of this.#readers) reader.bind(batch);
  }

  /**
   * Lets `cell`, `value` and `holds` return UNFINISHED for a row with long texts. The caller then calls `finish` or
   * `giveUp`.
   */
  withPauses(): this {
    this.#longEdits.mayAbort = true;
    return this;
  }

  /** Ends an evaluation that returned UNFINISHED. */
  giveUp(): void {
    this.#longEdits.forget();
  }

  /** Finishes an evaluation that returned UNFINISHED: edits long texts in time slices, and repeats the evaluation. */
  *finish<T>(evaluate: () => T | typeof UNFINISHED): Sliced<T> {
    const { clock } = this.#context;
    for (;;) {
      for (const _ of this.#longEdits.work()) if (clock.isDue()) yield PAUSE;
      const made = evaluate();
      if (made === UNFINISHED) continue;
      this.#longEdits.forget();
      return made;
    }
  }

  /** Returns the cell for a physical row in the form of `type` (json: its text), null, a CellFault, or UNFINISHED. */
  cell(row: number): unknown {
    try {
      return this.#cell(this.#evaluate(row));
    } catch (error) {
      return this.#fault(error);
    }
  }

  /**
   * Returns the value for a physical row in the form of the expression's type (compileExpression), a CellFault, or
   * UNFINISHED.
   */
  value(row: number): unknown {
    try {
      return this.#evaluate(row);
    } catch (error) {
      return this.#fault(error);
    }
  }

  /** Evaluates a condition: true, false, null, a CellFault, or UNFINISHED. */
  holds(row: number): boolean | null | CellFault | typeof UNFINISHED {
    try {
      const result = this.#evaluate(row);
      return typeof result === 'boolean' || result === null ? result : this.#faultOf('EXPR_TYPE');
    } catch (error) {
      return this.#fault(error);
    }
  }

  #fault(error: unknown): CellFault | typeof UNFINISHED {
    if (this.#longEdits.hasAborted(error)) return UNFINISHED;
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

/** Returns the kind of the first cell that has this text and a native kind other than text. */
function kindOfText(cells: readonly CellReader[], row: number, text: string): number {
  for (const cell of cells) if (cell.kind(row) !== KIND_TEXT && cell.text(row) === text) return cell.kind(row);
  return KIND_TEXT;
}

/** null is a missing cell. Inside lists and maps, it is written as null. */
function jsonCell(value: unknown): string | null {
  return value === null ? null : jsonText(value as Value);
}
