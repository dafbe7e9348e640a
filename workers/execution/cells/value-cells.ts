// Edits of columns cell by cell through values: what kernels do not cover.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { CellReader } from '../../batch/cell-values.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { StoredType } from '../../batch/schema.ts';
import { META_NULL } from '../../kernel/layout/cells.ts';
import { KIND_TEXT } from '../../kernel/layout/native-kinds.ts';
import type { Operator, OperatorContext, RowErrorRule } from '../../operations/operation.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE } from '../../run/time-slices.ts';
import { type CellEdit, type CellTarget, type CellWork, startCellOperator } from './cell-operator.ts';
import { settleText } from './text-cells.ts';

/** An error of the row in place of a value. */
export class CellFault {
  readonly code: RowErrorCode;
  /** With it the row is flagged, whatever `on_error` says, and the cell holds this value. */
  readonly flagged: { readonly value: unknown } | null;

  constructor(code: RowErrorCode, flagged: { readonly value: unknown } | null = null) {
    this.code = code;
    this.flagged = flagged;
  }
}

const FLAG_RULE: RowErrorRule = { onError: 'flag', message: null };

/** Computes cells of one type, row by row. `bind` is called before the first row of each piece of a batch. */
export interface CellComputation {
  readonly type: StoredType;
  bind(batch: Batch): void;
  /** The cell's value, null, or a CellFault. */
  compute(row: number): unknown;
}

export function valueEdit(context: OperatorContext, computation: CellComputation): CellEdit {
  const builder = new ColumnBuilder(context.arena, computation.type);
  return function* (work) {
    const { batch, rows, count, column } = work;
    const before = work.inPlace ? batch.columns[column]! : null;
    if (!builder.begin(batch.rows, before)) return null;
    computation.bind(batch);
    const { u32 } = context.arena.heap;
    const settled: number[] = [];
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      const value = computation.compute(row);
      const flagged = value instanceof CellFault ? value.flagged : null;
      if (flagged !== null) work.fail(row, (value as CellFault).code, FLAG_RULE);
      const cell = flagged === null ? value : flagged.value;
      const outcome = cell instanceof CellFault ? cell.code : builder.set(row, cell);
      if (outcome === 'full') return null;
      if (outcome === 'done') settled.push(row);
      else {
        builder.set(row, null);
        work.fail(row, outcome);
      }
      if ((i & LOOK_MASK) === LOOK_MASK && context.clock.isDue()) yield PAUSE;
    }
    const made = builder.column;
    countChanges(context, work, before, made, settled);
    return made;
  };
}

/** Gives the value of a cell of a file that knows it for another kind than text, or a CellFault. */
export type NativeReader = (text: string, kind: number) => unknown;

/** An operator that makes each target's cells from their values; null stays null. Without `native` texts are all the same. */
export function startValueOperator(
  context: OperatorContext,
  targets: readonly CellTarget[],
  convert: (target: CellTarget) => (value: unknown) => unknown,
  native: NativeReader | null = null,
): Operator {
  const edits = targets.map((target) => convertEdit(context, target, convert(target), native));
  return startCellOperator(context, targets, edits);
}

/**
 * The edit that makes a target's cells from their values; null stays null. `native` as above. `type`: of what `made` gives,
 * where that is a text that knows its kind.
 */
export function convertEdit(
  context: OperatorContext,
  { source, target }: CellTarget,
  made: (value: unknown) => unknown,
  native: NativeReader | null = null,
  type: StoredType = target.type,
): CellEdit {
  if (source === null) throw new Error('cells are converted from a column');
  const reader = new CellReader(source.type, context.indexOf(source));
  const bind = (batch: Batch): void => reader.bind(batch);
  const byValue = valueEdit(context, {
    type,
    bind,
    compute(row) {
      const value = reader.read(row);
      return value === null ? null : made(value);
    },
  });
  if (native === null) return byValue;
  const byKind = valueEdit(context, {
    type,
    bind,
    compute(row) {
      const text = reader.text(row);
      if (text === null) return null;
      const kind = reader.kind(row);
      return kind === KIND_TEXT ? made(text) : native(text, kind);
    },
  });
  return (work) => (kindsOf(work) === undefined ? byValue(work) : byKind(work));
}

/** Where the kinds of the cells to edit are, if they have any. */
export function kindsOf({ batch, column }: CellWork): number | undefined {
  const source = batch.columns[column];
  return source?.kind === 'views' ? source.kinds : undefined;
}

function countChanges(
  context: OperatorContext,
  work: CellWork,
  before: ColumnData | null,
  made: ColumnData,
  settled: readonly number[],
): void {
  if (made.kind === 'views') {
    const list = context.arena.take(settled.length * 4);
    context.arena.heap.u32.set(settled, list >>> 2);
    const old = before?.kind === 'views' ? before.at : 0;
    settleText(context, { ...work, rows: list, count: settled.length }, old, made.at, false);
    return;
  }
  if (made.kind !== 'typed') return;
  const old = before?.kind === 'typed' && before.type === made.type ? before : null;
  let changed = 0;
  for (const row of settled) if (isChanged(work.batch, old, made, row)) changed++;
  work.changed(changed);
}

function isChanged({ heap }: Batch, before: TypedColumn | null, made: TypedColumn, row: number): boolean {
  const meta = heap.u8[made.meta + row]!;
  if (before === null) return meta !== META_NULL;
  if (heap.u8[before.meta + row] !== meta) return true;
  if (meta === META_NULL || made.type === 'boolean') return false;
  const big = made.big?.get(row);
  if (big !== undefined) return before.big?.get(row)?.unscaled !== big.unscaled;
  return heap.i64[(before.at >>> 3) + row] !== heap.i64[(made.at >>> 3) + row];
}
