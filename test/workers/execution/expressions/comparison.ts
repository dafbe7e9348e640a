// Shared by the tests of vectors: evaluates the same expression with kernels and with closures, over the same batch.
import type { Batch, ColumnData } from '../../../../workers/batch/batch.ts';
import type { ColumnType, Schema } from '../../../../workers/batch/schema.ts';
import type { CellEdit } from '../../../../workers/execution/cells/cell-operator.ts';
import { CellFault, valueEdit } from '../../../../workers/execution/cells/value-cells.ts';
import { expressionEdit } from '../../../../workers/execution/expressions/expression-edit.ts';
import { rowCondition } from '../../../../workers/execution/expressions/row-condition.ts';
import { RowExpression } from '../../../../workers/execution/expressions/row-expression.ts';
import { checkExpression } from '../../../../workers/expression/check/checker.ts';
import type { CheckedExpression } from '../../../../workers/expression/check/resolution.ts';
import { SpillFolder } from '../../../../workers/memory/spill-file.ts';
import { done } from '../../../../workers/scheduling/time-slices.ts';
import type { OperatorContext } from '../../../../workers/template/operation.ts';
import { partly } from '../../../partly.ts';
import { batchOf, newBench, schemaOf, type TypedValue, typedColumn, viewsColumn } from '../../batch/build-batch.ts';
import { cellText } from '../../operations/cell-text.ts';

/** Cells of one row, in the order of the columns. */
export type Row = readonly (string | null | TypedValue)[];

/** Columns over which expressions are compared, with the batch and context that the expressions see. */
export class Comparison {
  readonly #types: Readonly<Record<string, ColumnType>>;
  readonly #schema: Schema;
  readonly #native: ((cell: string) => number) | null;

  /** @param kinds native kinds of the cells of the first column, by their text */
  constructor(types: Readonly<Record<string, ColumnType>>, kinds: ((cell: string) => number) | null = null) {
    this.#types = types;
    this.#native = kinds;
    this.#schema = schemaOf(types).map((column, index) =>
      kinds !== null && index === 0 ? { ...column, hasKinds: true } : column,
    );
  }

  /** Null if the checker refuses the expression. */
  checked(source: string): CheckedExpression | null {
    const result = checkExpression(source, { columns: new Map(Object.entries(this.#types)) });
    return 'expression' in result ? result.expression : null;
  }

  /** Throws if the kernels keep other rows than the closures, or if other rows fail. */
  sameCondition(expression: CheckedExpression, rows: readonly Row[]): void {
    const { batch, context } = this.#begin(rows);
    const closures = new RowExpression(expression, this.#schema, context);
    closures.bind(batch);
    const all = Array.from({ length: batch.live }, (_, at) => batch.physicalRow(at));
    const results = all.map((row) => [row, closures.holds(row)] as const);
    const expected = {
      kept: results.filter(([, holds]) => holds === true).map(([row]) => row),
      failed: results.flatMap(([row, holds]) => (holds instanceof CellFault ? [[row, holds.code]] : [])),
    };
    context.arena.clear();
    const choose = rowCondition(expression, this.#schema, context);
    const list = context.arena.take(batch.live * 4);
    batch.heap.u8.copyWithin(list, batch.selection, batch.selection + batch.live * 4);
    const failed: [number, string][] = [];
    const count = done(choose(batch, list, batch.live, (row, code) => failed.push([row, code])));
    const kept = [...batch.heap.u32.subarray(list >>> 2, (list >>> 2) + count)];
    compare(expression, { kept, failed }, expected);
  }

  /** Throws if the cells, failures or counts of changes of the kernels differ from those of the closures. */
  sameColumn(expression: CheckedExpression, rows: readonly Row[]): void {
    const { batch, context } = this.#begin(rows);
    const closures = new RowExpression(expression, this.#schema, context);
    const byClosures = valueEdit(context, {
      type: closures.type,
      bind: (bound) => closures.bind(bound),
      compute: (row) => closures.cell(row),
    });
    const expected = cellsOf(byClosures, batch);
    compare(expression, cellsOf(expressionEdit(context, expression), batch), expected);
  }

  #begin(rows: readonly Row[]): { batch: Batch; context: OperatorContext } {
    const bench = newBench();
    const kinds = this.#native;
    const columns = Object.values(this.#types).map((type, index): ColumnData => {
      const cells = rows.map((row) => row[index]);
      if (type !== 'text') return typedColumn(bench, type as 'integer', cells as TypedValue[]);
      const column = viewsColumn(bench, cells as (string | null)[]);
      if (kinds === null || index > 0 || column.kind !== 'views') return column;
      const at = bench.heap.allocate(rows.length);
      bench.heap.u8.set(
        cells.map((cell) => kinds(typeof cell === 'string' ? cell : '')),
        at,
      );
      return { ...column, kinds: at };
    });
    const context = partly<OperatorContext>({
      ...bench,
      input: this.#schema,
      startedAt: '2026-01-31T12:00:00Z',
      tables: new Map(),
      spill: new SpillFolder('none'),
      beforeRows(): void {
        throw new Error('no expression here reads a table');
      },
    });
    return { batch: batchOf(bench, rows.length, columns), context };
  }
}

function compare({ source }: CheckedExpression, found: unknown, expected: unknown): void {
  const [made, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  if (made !== wanted) throw new Error(`${source}: ${made} instead of ${wanted}`);
}

/**
 * The cells of an edit, its failures and its count of changes. When the arena is full, the edit gets a larger one, as for a large
 * row.
 */
function cellsOf(edit: CellEdit, batch: Batch): unknown {
  const failed: [number, string][] = [];
  let changed = 0;
  for (;;) {
    const rows = batch.arena.take(batch.live * 4);
    batch.heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
    const edited = edit({
      batch,
      column: -1,
      rows,
      count: batch.live,
      inPlace: false,
      fail: (row, code) => failed.push([row, code]),
      changed: (count) => {
        changed += count;
      },
    });
    const made = edited !== null && 'next' in edited ? done(edited) : edited;
    if (made === null) {
      failed.length = 0;
      changed = 0;
      batch.arena.enlarge(batch.arena.capacityBytes * 2);
      continue;
    }
    const cells = Array.from({ length: batch.live }, (_, at) => cellText(batch, made, batch.physicalRow(at)));
    batch.arena.clear();
    return { cells, failed: failed.sort(([a], [b]) => a - b), changed };
  }
}
