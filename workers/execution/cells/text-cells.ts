// Edits of columns of text by chains of steps, as the frame of cell operations wants them.
import type { ColumnData, ViewsColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { Sliced } from '../../run/time-slices.ts';
import { CELL_BYTES_MAX } from './cell-limit.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';
import { chainScratchBytes, type TextStep, textChainInSlices } from './text-chain.ts';

/** Text cells through a chain of steps. A cell that becomes empty becomes null; null cells stay so. */
export function textEdit(context: OperatorContext, steps: readonly TextStep[]): CellEdit {
  return viewsEdit(context, (views, rows, count) =>
    textChainInSlices(steps, context.kernel, context.arena, { views, rows, count }, context.clock),
  );
}

/**
 * An edit of views in place: `change` may use up the row list and gives false when the arena is full. Empty texts become
 * null, texts over the ceiling TOO_LONG, and what differs is counted.
 */
function viewsEdit(
  context: OperatorContext,
  change: (views: number, rows: number, count: number, work: CellWork) => Sliced<boolean>,
): CellEdit {
  const { arena } = context;
  return function* (work) {
    const before = work.batch.views(work.column);
    const made = startViews(context, work, before);
    const rows = arena.tryTake(chainScratchBytes(work.count));
    if (made === null || rows === 0) return null;
    arena.heap.u8.copyWithin(rows, work.rows, work.rows + work.count * 4);
    if (!(yield* change(made.at, rows, work.count, work))) return null;
    settleText(context, work, work.inPlace ? before : 0, made.at);
    return made;
  };
}

/** The target's views before the edit: a copy of the source's; when into a new column, null in rows not edited. */
export function startViews(context: OperatorContext, work: CellWork, before: number): ViewsColumn | null {
  const { arena } = context;
  const { batch, rows, count } = work;
  const at = arena.tryTake(batch.rows * VIEW_BYTES);
  if (at === 0) return null;
  const { u8, u32 } = arena.heap;
  if (work.inPlace || count === batch.live) {
    u8.copyWithin(at, before, before + batch.rows * VIEW_BYTES);
    return { kind: 'views', at };
  }
  u8.fill(0, at, at + batch.rows * VIEW_BYTES);
  for (let i = 0; i < count; i++) {
    const row = u32[(rows >>> 2) + i]!;
    u32[(at >>> 2) + row * 2] = u32[(before >>> 2) + row * 2]!;
    u32[(at >>> 2) + row * 2 + 1] = u32[(before >>> 2) + row * 2 + 1]!;
  }
  return { kind: 'views', at };
}

/**
 * Ends an edit of text: counts changes from `before` (0: a new column), blanks cells over the ceiling, reports them.
 * `emptyToNull`: whether a cell that became the empty text becomes null.
 */
export function settleText(
  context: OperatorContext,
  work: CellWork,
  before: number,
  after: number,
  emptyToNull = true,
): void {
  const { arena, kernel } = context;
  const todo = arena.take((work.count + 1) * 4);
  const empty = emptyToNull ? 1 : 0;
  work.changed(kernel.exports.settleViews(before, after, work.rows, work.count, empty, CELL_BYTES_MAX, todo));
  const { u32 } = arena.heap;
  const tooLong = u32[todo >>> 2]!;
  for (let i = 1; i <= tooLong; i++) {
    const row = u32[(todo >>> 2) + i]!;
    u32.fill(0, (after >>> 2) + row * 2, (after >>> 2) + row * 2 + 2);
    work.fail(row, 'TOO_LONG');
  }
}

/** A column of text that is the same in every row. */
export function constantViews(
  context: OperatorContext,
  rows: number,
  view: { at: number; bytes: number } | null,
): ColumnData | null {
  const at = context.arena.tryTake(rows * VIEW_BYTES);
  if (at === 0) return null;
  const { u32 } = context.arena.heap;
  for (let row = 0, i = at >>> 2; row < rows; row++) {
    u32[i++] = view === null ? 0 : view.at;
    u32[i++] = view === null ? 0 : view.bytes;
  }
  return { kind: 'views', at };
}
