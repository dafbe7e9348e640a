// Values of cells: texts of values, batches of values, and edits cell by cell.
import { Batch, type ColumnData, type TypedColumn } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { Column, StoredType } from '../../batch/schema.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { KIND_TEXT, META_NULL } from '../../kernel/layout/cells.ts';
import { Failed } from '../../protocol/failure.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { checkMask, PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import type { Operator, OperatorContext, RowErrorRule } from '../../template/operation.ts';
import { type CellEdit, type CellTarget, type CellWork, startCellOperator } from './cell-operator.ts';
import { settleText } from './text-chain.ts';

// Edits columns cell by cell on values, for everything that kernels do not support.

/** A value that a cell keeps in spite of an error, and the consequence for the row, regardless of `on_error`. */
export interface KeptValue {
  readonly value: unknown;
  readonly rule: RowErrorRule;
}

/** The row is flagged. */
export const FLAGGED: RowErrorRule = { onError: 'flag', message: null };
/** The value is a guess, which the report counts. */
export const COUNTED: RowErrorRule = { onError: 'count', message: null };

/** A row error instead of a value. */
export class CellFault {
  readonly code: RowErrorCode;
  readonly kept: KeptValue | null;

  constructor(code: RowErrorCode, kept: KeptValue | null = null) {
    this.code = code;
    this.kept = kept;
  }
}

/** Returns the value to write. A fault that keeps its value is reported here; any other fault is returned. */
export function valueToWrite({ fail }: CellWork, row: number, value: unknown): unknown {
  if (!(value instanceof CellFault) || value.kept === null) return value;
  fail(row, value.code, value.kept.rule);
  return value.kept.value;
}

/** Returned instead of a value if the row has long texts, which `finish` processes with pauses. */
export const UNFINISHED = Symbol('unfinished');

/** Computes cells of one type, row by row. `bind` is called before the first row of each piece of a batch. */
export interface CellComputation {
  readonly type: StoredType;
  bind(batch: Batch): void;
  /** Returns the value of the cell, null, a CellFault, or UNFINISHED. */
  compute(row: number): unknown;
  /** Called after `compute` returned UNFINISHED. Returns what `compute` returns otherwise. */
  finish?(row: number): Sliced<unknown>;
}

export function valueEdit(context: OperatorContext, computation: CellComputation): CellEdit {
  const builder = new ColumnBuilder(context.arena, computation.type);
  return function* (work) {
    const { batch, rows, count, column } = work;
    const before = work.inPlace ? batch.columns[column]! : null;
    if (!builder.begin(batch.rows, before)) return null;
    computation.bind(batch);
    const settled: number[] = [];
    const mask = checkMask(count);
    for (let i = 0; i < count; i++) {
      if ((i & mask) === mask && context.clock.isDue()) yield PAUSE;
      const row = context.arena.heap.u32[(rows >>> 2) + i]!;
      let made = computation.compute(row);
      if (made === UNFINISHED) made = yield* computation.finish!(row);
      const cell = valueToWrite(work, row, made);
      const outcome = cell instanceof CellFault ? cell.code : builder.set(row, cell, i === 0);
      if (outcome === 'full') return null;
      if (outcome === 'done') settled.push(row);
      else {
        builder.set(row, null);
        work.fail(row, outcome);
      }
    }
    const made = builder.column;
    countChanges(context, work, before, made, settled);
    return made;
  };
}

/** Returns the value of a cell with a native kind other than text, or a CellFault. */
export type NativeReader = (text: string, kind: number) => unknown;

/**
 * Creates an operator that computes the cells of each target from their values; null stays null. Without `native`,
 * kinds are ignored.
 */
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
 * Returns the edit that computes a target's cells from their values; null stays null. `native` as above. Its parts are
 * created when it is used: a file may have thousands of columns, and most of their edits have a kernel instead.
 * @param type type of the results of `made`, if they are texts with kinds
 */
export function convertEdit(
  context: OperatorContext,
  { source, target }: CellTarget,
  made: (value: unknown) => unknown,
  native: NativeReader | null = null,
  type: StoredType = target.type,
): CellEdit {
  if (source === null) throw new Error('cells are converted from a column');
  return (work) => converting(context, source, { made, native, type })(work);
}

interface Conversion {
  readonly made: (value: unknown) => unknown;
  readonly native: NativeReader | null;
  readonly type: StoredType;
}

function converting(context: OperatorContext, source: Column, { made, native, type }: Conversion): CellEdit {
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

/** Address of the kinds of the cells to edit, if they have kinds. */
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

// Writes cells that do not belong to a single row, such as sums. A value that does not fit ends the Run.

/**
 * Writes a result that was computed from several rows. Returns false if the arena is full. Throws Failed
 * TEMPLATE_ROW_ERROR.
 */
export function setCell(builder: ColumnBuilder, row: number, value: unknown): boolean {
  const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
  if (outcome === 'done' || outcome === 'full') return outcome === 'done';
  throw new Failed('TEMPLATE_ROW_ERROR', `${outcome}: a sum or text is larger than a cell can be.`);
}

// The text of a cell's value as an output shows it, for operations that convert typed cells to text.

/**
 * Decimals keep their scale, dates are ISO 8601, null is the empty text. Accepts the values that CellReader returns.
 */
export function textOfValue(value: unknown): string {
  return value === null ? '' : String(value);
}

// Creates batches from rows of values.

/** The cells of a row, and its source row. */
export interface ValueRow {
  readonly cells: readonly unknown[];
  readonly source: number;
}

/** Writes rows of values into the arena as a batch. */
export function valueBatch({ arena }: OperatorContext, rows: readonly ValueRow[], types: readonly StoredType[]): Batch {
  const columns = types.map((type, index): ColumnData => {
    const builder = new ColumnBuilder(arena, type);
    for (;;) {
      const mark = arena.next;
      if (builder.begin(rows.length) && rows.every((row, at) => setCell(builder, at, row.cells[index])))
        return builder.column;
      arena.release(mark);
      arena.enlarge(arena.capacityBytes * 2);
    }
  });
  const selection = arena.take(rows.length * 4);
  for (let row = 0; row < rows.length; row++) arena.heap.u32[(selection >>> 2) + row] = row;
  const sources = arena.take(rows.length * 8);
  for (const [row, { source }] of rows.entries()) arena.heap.f64[(sources >>> 3) + row] = source;
  return new Batch({
    arena,
    rows: rows.length,
    selection,
    live: rows.length,
    columns,
    raw: null,
    sourceRows: { at: sources },
    materialise: () => {
      throw new Error('rows of values have no raw columns');
    },
  });
}
