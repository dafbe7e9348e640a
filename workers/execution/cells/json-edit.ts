// Reads texts as JSON: a kernel says which are sound and where they begin and end; what is none is settled by hand, and so are
// cells that a file knows for something else than text.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { LOOK_MASK } from '../../run/slice-clock.ts';
import { PAUSE } from '../../run/time-slices.ts';
import type { CellEdit, CellTarget } from './cell-operator.ts';
import { settledWork } from './found-cells.ts';
import { nativeJson, readJson } from './json-cells.ts';
import { jsonState } from './json-state.ts';
import { settleText, startViews } from './text-cells.ts';
import { decodeCell, writeCell } from './text-chain.ts';
import { CellFault, convertEdit, kindsOf } from './value-cells.ts';

export function jsonEdit(context: OperatorContext, target: CellTarget): CellEdit {
  const byHand = convertEdit(context, target, readJson, nativeJson);
  const byKernel = soundEdit(context);
  return (work) => {
    const isText = work.batch.columns[work.column]!.kind === 'views' && kindsOf(work) === undefined;
    return isText ? byKernel(work) : byHand(work);
  };
}

function soundEdit(context: OperatorContext): CellEdit {
  const { arena, clock, kernel } = context;
  const json = jsonState(arena.heap);
  return function* (work) {
    const { batch, column, rows, count } = work;
    const before = batch.views(column);
    const made = startViews(context, work, before);
    const todo = arena.tryTake((count + 1) * 4);
    if (made === null || todo === 0) return null;
    kernel.exports.soundCells(json, made.at, rows, count, todo);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) {
      const { u32 } = arena.heap;
      const row = u32[(todo >>> 2) + i]!;
      const view = (made.at + row * VIEW_BYTES) >>> 2;
      const value = readJson(decodeCell(arena, u32[view]!, u32[view + 1]!));
      if (value instanceof CellFault) {
        failed.add(row);
        work.fail(row, value.code);
      }
      if (value instanceof CellFault || value === null) u32.fill(0, view, view + 2);
      else if (!writeCell(arena, view, value as string)) return null;
      if ((i & LOOK_MASK) === LOOK_MASK && clock.isDue()) yield PAUSE;
    }
    settleText(context, settledWork(context, work, failed), work.inPlace ? before : 0, made.at, false);
    return made;
  };
}
