// Columns of an expression's results: computed by kernels if possible, otherwise cell by cell with closures.
import type { ColumnData } from '../../batch/batch.ts';
import { ColumnBuilder } from '../../batch/column-builder.ts';
import type { Column } from '../../batch/schema.ts';
import type { CheckedExpression } from '../../expression/check/resolution.ts';
import { CellReader } from '../../expression/compile/cell-values.ts';
import { VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { checkMask, PAUSE, type Sliced } from '../../scheduling/time-slices.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { CellEdit, CellWork } from '../cells/cell-operator.ts';
import { constantViews, placeText, settleText } from '../cells/text-chain.ts';
import { CellFault, UNFINISHED, valueEdit } from '../cells/value-cells.ts';
import { ExpressionEvaluator } from './expression-evaluator.ts';
import { plannerOf } from './planner.ts';
import { RowExpression } from './row-expression.ts';
import {
  ALL_OPEN,
  FULL,
  isWorthwhile,
  type NumberPlan,
  type StatePlan,
  type TextPlan,
  textColumnOf,
} from './vector-plan.ts';

/**
 * Returns the edit that computes a column of the expression's results, of their type (RowExpression.type). `value`
 * reads the current cell, if the expression names it.
 */
export function expressionEdit(context: OperatorContext, checked: CheckedExpression, value?: CellReader): CellEdit {
  const expression = new RowExpression(checked, context.input, context, value).withPauses();
  const byCell = valueEdit(context, {
    type: expression.type,
    bind: (batch) => expression.bind(batch),
    compute: (row) => expression.cell(row),
    finish: (row) => expression.finish(() => expression.cell(row)),
  });
  const byKernels = value === undefined ? kernelEdit(context, checked, expression) : null;
  if (byKernels === null) return byCell;
  return function* (work) {
    const edited = byKernels(work);
    const made = isSliced(edited) ? yield* edited : edited;
    if (made !== 'unsupported') return made;
    const byCells = byCell(work);
    return isSliced(byCells) ? yield* byCells : byCells;
  };
}

/**
 * Returns a function that makes the edits for the columns of an operation whose expression reads the current cell. All
 * columns with the same expression share one compiled expression, whose `value` moves from column to column.
 */
export function valueEdits(context: OperatorContext): (checked: CheckedExpression, value: Column) => CellEdit {
  const shared = new Map<CheckedExpression, { readonly reader: CellReader; readonly edit: CellEdit }>();
  return (checked, value) => {
    const index = context.indexOf(value);
    let made = shared.get(checked);
    if (made === undefined) {
      const reader = new CellReader(value.type, index, true);
      made = { reader, edit: expressionEdit(context, checked, reader) };
      shared.set(checked, made);
    }
    const { reader, edit } = made;
    return (work) => {
      reader.moveTo(index);
      return edit(work);
    };
  };
}

type Edited = ColumnData | null | 'unsupported';

/** Same as CellEdit. Returns `unsupported` if the kernels cannot process this batch. */
type KernelEdit = (work: CellWork) => Edited | Sliced<Edited>;

function isSliced<T>(edited: T | Sliced<T>): edited is Sliced<T> {
  return typeof edited === 'object' && edited !== null && 'next' in edited;
}

function kernelEdit(
  context: OperatorContext,
  checked: CheckedExpression,
  expression: RowExpression,
): KernelEdit | null {
  const { root } = checked;
  if (root.kind === 'literal' && typeof root.value === 'string') return constantEdit(context, root.value);
  const column = textColumnOf(checked, root);
  if (column !== null) return copyEdit(context, column);
  const planner = plannerOf(checked);
  const texts = planner.texts(root);
  if (texts !== null && isWorthwhile(checked, texts)) return textEdit(context, texts, expression);
  const numbers = planner.numbers(root);
  if (numbers !== null && isWorthwhile(checked, numbers)) return numberEdit(context, numbers, expression);
  const states = planner.states(root);
  return states === null || !isWorthwhile(checked, states) ? null : stateEdit(context, states, expression);
}

/** Copies a text column: the views are copied, the texts are not. */
function copyEdit(context: OperatorContext, name: string): KernelEdit {
  const index = context.input.findIndex((column) => column.name === name);
  return (work) => {
    const { batch, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    if (batch.columns[index]!.kind === 'typed' || before?.kind === 'typed' || count < batch.live) return 'unsupported';
    const views = batch.views(index);
    const at = context.arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return null;
    batch.heap.u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    settleText(context, work, inPlace ? batch.views(column) : 0, at, false);
    return { kind: 'views', at };
  };
}

/** A constant text: all views refer to the same text. */
function constantEdit(context: OperatorContext, text: string): KernelEdit {
  const placed = placeText(context.arena.heap, text);
  return (work) => {
    const { batch, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    if (before?.kind === 'typed' || count < batch.live) return 'unsupported';
    const made = constantViews(context, batch.rows, placed);
    if (made?.kind === 'views') settleText(context, work, inPlace ? batch.views(column) : 0, made.at, false);
    return made;
  };
}

/** Computes texts. The closures handle those that the kernels leave. */
function textEdit(context: OperatorContext, plan: TextPlan, expression: RowExpression): KernelEdit {
  const { arena, kernel } = context;
  const evaluator = new ExpressionEvaluator(context.input, context, plan);
  const builder = new ColumnBuilder(arena, 'text');
  return function* (work) {
    const { batch, rows, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    const texts = yield* evaluator.texts.vector(plan, { batch, rows, count }, ALL_OPEN);
    if (texts < 0) return texts === FULL ? null : 'unsupported';
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows, before)) return null;
    const made = builder.column;
    if (made.kind !== 'views') throw new Error('a column of texts has views');
    kernel.exports.storeTexts(texts, rows, count, made.at, todo);
    const settled = yield* settle(context, work, expression, builder, todo);
    if (settled === 'full') return null;
    const { failed } = settled;
    const kept = failed.size === 0 ? count : withoutFailed(context, work, failed);
    settleText(context, { ...work, count: kept }, before?.kind === 'views' ? before.at : 0, made.at, false);
    return made;
  };
}

/** Removes rows from the list of an edit. Returns the number of remaining rows. */
function withoutFailed({ arena }: OperatorContext, { rows, count }: CellWork, failed: ReadonlySet<number>): number {
  const { u32 } = arena.heap;
  const list = u32.subarray(rows >>> 2, (rows >>> 2) + count);
  const kept = list.filter((row) => !failed.has(row));
  list.set(kept);
  return kept.length;
}

function numberEdit(context: OperatorContext, plan: NumberPlan, expression: RowExpression): KernelEdit {
  const { arena, kernel } = context;
  const evaluator = new ExpressionEvaluator(context.input, context, plan);
  const builder = new ColumnBuilder(arena, expression.type);
  return function* (work) {
    const { batch, rows, count } = work;
    if (comparesWithBefore(work, expression)) return 'unsupported';
    const vector = yield* evaluator.numbers.vector(plan, { batch, rows, count }, ALL_OPEN);
    if (vector < 0) return vector === FULL ? null : 'unsupported';
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('a column of numbers is typed');
    const form = VECTOR_FORMS[plan.form];
    const filled = kernel.exports.storeNumbers(vector, rows, count, form, made.at, made.meta, todo);
    const settled = yield* settle(context, work, expression, builder, todo);
    if (settled === 'full') return null;
    work.changed(filled + settled.filled);
    return builder.column;
  };
}

function stateEdit(context: OperatorContext, plan: StatePlan, expression: RowExpression): KernelEdit {
  const { arena, kernel } = context;
  const evaluator = new ExpressionEvaluator(context.input, context, plan);
  const builder = new ColumnBuilder(arena, 'boolean');
  return function* (work) {
    const { batch, rows, count } = work;
    if (comparesWithBefore(work, expression)) return 'unsupported';
    const states = yield* evaluator.states.fresh(plan, { batch, rows, count });
    if (states < 0) return states === FULL ? null : 'unsupported';
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('a column of booleans is typed');
    const filled = kernel.exports.storeStates(states, rows, count, made.meta, todo);
    const settled = yield* settle(context, work, expression, builder, todo);
    if (settled === 'full') return null;
    work.changed(filled + settled.filled);
    return made;
  };
}

/** If cells had a value of this type before, changes are counted cell by cell. */
function comparesWithBefore({ batch, inPlace, column }: CellWork, { type }: RowExpression): boolean {
  const before = inPlace ? batch.columns[column]! : null;
  return before?.kind === 'typed' && before.type === type;
}

/** Results for the rows that the kernels left. */
interface Settled {
  /** Number of cells that got a value. */
  readonly filled: number;
  readonly failed: ReadonlySet<number>;
}

/** Computes the rows that the kernels left: u32 count, then the rows. `full` means that the arena has no space. */
function* settle(
  context: OperatorContext,
  work: CellWork,
  expression: RowExpression,
  builder: ColumnBuilder,
  todo: number,
): Sliced<Settled | 'full'> {
  const { arena, clock } = context;
  const failed = new Set<number>();
  const count = arena.heap.u32[todo >>> 2]!;
  let filled = 0;
  if (count > 0) expression.bind(work.batch);
  const mask = checkMask(count);
  for (let i = 1; i <= count; i++) {
    // The pause is before the row is computed, because a row that does not fit is computed again.
    if ((i & mask) === 0 && clock.isDue()) yield PAUSE;
    const row = arena.heap.u32[(todo >>> 2) + i]!;
    let value = expression.cell(row);
    if (value === UNFINISHED) value = yield* expression.finish(() => expression.cell(row));
    const outcome = value instanceof CellFault ? value.code : builder.set(row, value, i === 1);
    if (outcome === 'full') return 'full';
    if (outcome === 'done') filled += value === null ? 0 : 1;
    else {
      builder.set(row, null);
      work.fail(row, outcome);
      failed.add(row);
    }
  }
  return { filled, failed };
}
