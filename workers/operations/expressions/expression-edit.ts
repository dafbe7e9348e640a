// Columns of an expression's results: by kernels where they can compute them, cell by cell through closures elsewhere.
import type { ColumnData } from '../../batch.ts';
import { META_NULL, VIEW_BYTES } from '../../batch.ts';
import type { ConditionalNode, ExpressionNode } from '../../expression/ast.ts';
import type { CheckedExpression } from '../../expression/resolution.ts';
import { FORMS } from '../../kernel/expression-kernels.ts';
import type { CellEdit, CellWork } from '../cells/cell-operator.ts';
import type { CellReader } from '../cells/cell-values.ts';
import { type CellOutcome, ColumnBuilder } from '../cells/column-builder.ts';
import { placeText } from '../cells/placed-text.ts';
import { constantViews, settleText } from '../cells/text-cells.ts';
import { CellFault, valueEdit } from '../cells/value-cells.ts';
import type { OperatorContext } from '../operation.ts';
import { RowExpression } from './row-expression.ts';
import { VectorLane } from './vector-lane.ts';
import { type NumberPlan, planNumbers, planStates, type StatePlan, textColumnOf } from './vector-plan.ts';

/**
 * The edit that makes a column of the expression's results, of the type that they have (RowExpression.type). `value`
 * reads the cell at hand, where the expression names it.
 */
export function expressionEdit(context: OperatorContext, checked: CheckedExpression, value?: CellReader): CellEdit {
  const expression = new RowExpression(checked, context.input, context, value);
  const byCell = valueEdit(context, {
    type: expression.type,
    bind: (batch) => expression.bind(batch),
    compute: (row) => expression.cell(row),
  });
  const byKernels = value === undefined ? kernelEdit(context, checked, expression) : null;
  if (byKernels === null) return byCell;
  return (work) => {
    const made = byKernels(work);
    return made === 'not_here' ? byCell(work) : made;
  };
}

/** As CellEdit; `not_here` when this batch is not for the kernels. */
type KernelEdit = (work: CellWork) => ColumnData | null | 'not_here';

function kernelEdit(
  context: OperatorContext,
  checked: CheckedExpression,
  expression: RowExpression,
): KernelEdit | null {
  const { root } = checked;
  if (root.kind === 'literal' && typeof root.value === 'string') return constantEdit(context, root.value);
  const column = textColumnOf(checked, root);
  if (column !== null) return copyEdit(context, column);
  if (root.kind === 'conditional') return choiceEdit(context, checked, root, expression);
  const numbers = planNumbers(checked);
  if (numbers !== null) return numberEdit(context, numbers, expression);
  const states = planStates(checked);
  return states === null ? null : stateEdit(context, states, expression);
}

/** A column of text as it stands: its views are copied, its texts are not. */
function copyEdit(context: OperatorContext, name: string): KernelEdit {
  const index = context.input.findIndex((column) => column.name === name);
  return (work) => {
    const { batch, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    if (batch.columns[index]!.kind === 'typed' || before?.kind === 'typed' || count < batch.live) return 'not_here';
    const views = batch.views(index);
    const at = context.arena.tryTake(batch.rows * VIEW_BYTES);
    if (at === 0) return null;
    batch.heap.u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    settleText(context, work, inPlace ? batch.views(column) : 0, at, false);
    return { kind: 'views', at };
  };
}

/** The same text in every row: one text that all views point to. */
function constantEdit(context: OperatorContext, text: string): KernelEdit {
  const placed = placeText(context.arena.heap, text);
  return (work) => {
    const { batch, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    if (before?.kind === 'typed' || count < batch.live) return 'not_here';
    const made = constantViews(context, batch.rows, placed);
    if (made?.kind === 'views') settleText(context, work, inPlace ? batch.views(column) : 0, made.at, false);
    return made;
  };
}

/** One of two texts as a condition says: two texts that all views point to. */
function choiceEdit(
  context: OperatorContext,
  checked: CheckedExpression,
  { condition, then, otherwise }: ConditionalNode,
  expression: RowExpression,
): KernelEdit | null {
  const [yes, no] = [literalText(then), literalText(otherwise)];
  const plan = planStates(checked, condition);
  if (yes === null || no === null || plan === null) return null;
  const { arena, kernel } = context;
  const lane = new VectorLane(context.input, context);
  lane.prepare(plan);
  const placed = [placeText(arena.heap, no), placeText(arena.heap, yes)];
  const texts = arena.heap.allocate(2 * VIEW_BYTES);
  arena.heap.u32.set(
    placed.flatMap(({ at, bytes }) => [at, bytes]),
    texts >>> 2,
  );
  const builder = new ColumnBuilder(arena, 'text');
  return (work) => {
    const { batch, rows, count, inPlace, column } = work;
    const before = inPlace ? batch.columns[column]! : null;
    if (before?.kind === 'typed' || count < batch.live) return 'not_here';
    const states = lane.states(plan, { batch, rows, count });
    if (states < 0) return 'not_here';
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'views') throw new Error('a column of texts has views');
    kernel.exports.chooseTexts(states, rows, count, texts, made.at, todo);
    const left = arena.heap.u32[todo >>> 2]!;
    if (left > 0) expression.bind(batch);
    for (let i = 1; i <= left; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      const outcome = setText(builder, row, expression.cell(row));
      if (outcome !== 'done') return outcome === 'full' ? null : 'not_here';
    }
    settleText(context, work, inPlace ? batch.views(column) : 0, made.at, false);
    return made;
  };
}

function setText(builder: ColumnBuilder, row: number, value: unknown): CellOutcome {
  return value instanceof CellFault ? value.code : builder.set(row, value);
}

function literalText(node: ExpressionNode): string | null {
  return node.kind === 'literal' && typeof node.value === 'string' ? node.value : null;
}

function numberEdit(context: OperatorContext, plan: NumberPlan, expression: RowExpression): KernelEdit {
  const { arena, kernel } = context;
  const lane = new VectorLane(context.input, context);
  const builder = new ColumnBuilder(arena, expression.type);
  return (work) => {
    const { batch, rows, count } = work;
    if (comparesWithBefore(work, expression)) return 'not_here';
    const vector = lane.numbers(plan, { batch, rows, count });
    if (vector < 0) return 'not_here';
    const todo = arena.tryTake((count + 1) * 4);
    if (todo === 0 || !builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('a column of numbers is typed');
    const form = FORMS[plan.form];
    const filled = kernel.exports.storeNumbers(vector, rows, count, form, made.at, made.meta, todo);
    const { u32 } = arena.heap;
    const unknown = u32.subarray((todo >>> 2) + 1, (todo >>> 2) + 1 + u32[todo >>> 2]!);
    work.changed(filled + settle(work, expression, builder, unknown));
    return builder.column;
  };
}

function stateEdit(context: OperatorContext, plan: StatePlan, expression: RowExpression): KernelEdit {
  const { arena } = context;
  const lane = new VectorLane(context.input, context);
  lane.prepare(plan);
  const builder = new ColumnBuilder(arena, 'boolean');
  return (work) => {
    const { batch, rows, count } = work;
    if (comparesWithBefore(work, expression)) return 'not_here';
    const states = lane.states(plan, { batch, rows, count });
    if (states < 0) return 'not_here';
    if (!builder.begin(batch.rows)) return null;
    const made = builder.column;
    if (made.kind !== 'typed') throw new Error('a column of booleans is typed');
    const { u8, u32 } = arena.heap;
    const unknown: number[] = [];
    let filled = 0;
    for (let i = 0; i < count; i++) {
      const row = u32[(rows >>> 2) + i]!;
      const state = u8[states + i]!;
      u8[made.meta + row] = state <= 1 ? state : META_NULL;
      if (state <= 1) filled++;
      else if (state === 3) unknown.push(row);
    }
    work.changed(filled + settle(work, expression, builder, unknown));
    return made;
  };
}

/** Changes of cells that had a value of this type before are counted one by one. */
function comparesWithBefore({ batch, inPlace, column }: CellWork, { type }: RowExpression): boolean {
  const before = inPlace ? batch.columns[column]! : null;
  return before?.kind === 'typed' && before.type === type;
}

/** The rows that the kernels left; gives how many cells got a value. */
function settle(
  work: CellWork,
  expression: RowExpression,
  builder: ColumnBuilder,
  rows: Iterable<number> & { readonly length: number },
): number {
  if (rows.length === 0) return 0;
  expression.bind(work.batch);
  let filled = 0;
  for (const row of [...rows]) {
    const value = expression.cell(row);
    const outcome = value instanceof CellFault ? value.code : builder.set(row, value);
    if (outcome === 'full') throw new Error('a typed column needs no room for a cell');
    if (outcome === 'done') {
      if (value !== null) filled++;
      continue;
    }
    builder.set(row, null);
    work.fail(row, outcome);
  }
  return filled;
}
