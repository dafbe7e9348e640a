// Makes columns of what a group of a pattern took in the cells of another: by a kernel, without copying a byte, where the
// pattern is one for it; what it hands back goes one by one.
import type { GreedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { CellEdit, CellWork } from './cell-operator.ts';
import { placePattern } from './pattern-program.ts';
import { settleText } from './text-cells.ts';
import { writeCell } from './text-chain.ts';
import { CellFault } from './value-cells.ts';

export interface FoundGroup {
  readonly pattern: GreedyPattern;
  readonly group: number;
  /** Index of the column in which is searched. */
  readonly column: number;
  /** Whether a cell without a match is an error. */
  readonly missIsError: boolean;
}

/** `find` gives what the kernel would of one text: a text, null or a CellFault. Null: the pattern is not for the kernel. */
export function foundEdit(
  context: OperatorContext,
  { pattern, group, column, missIsError }: FoundGroup,
  find: (text: string) => unknown,
): CellEdit | null {
  const { arena, kernel } = context;
  const span = pattern.groups[group];
  const program = placePattern(arena.heap, pattern, [], 1);
  if (program === 0 || span === undefined) return null;
  return (work) => {
    const { batch, rows, count, inPlace } = work;
    const views = batch.views(column);
    const at = arena.tryTake(batch.rows * VIEW_BYTES);
    const todo = arena.tryTake((count + 1) * 4);
    if (at === 0 || todo === 0) return null;
    if (inPlace) arena.heap.u8.copyWithin(at, views, views + batch.rows * VIEW_BYTES);
    else arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
    const misses = missIsError ? 1 : 0;
    kernel.exports.findPattern(views, rows, count, program, span[0], span[1], misses, at, todo);
    const failed = new Set<number>();
    const back = arena.heap.u32[todo >>> 2]!;
    for (let i = 1; i <= back; i++) {
      const row = arena.heap.u32[(todo >>> 2) + i]!;
      const value = find(batch.text({ kind: 'views', at: views }, row)!);
      if (value instanceof CellFault) {
        failed.add(row);
        work.fail(row, value.code);
      } else if (value !== null && !writeCell(arena, (at + row * VIEW_BYTES) >>> 2, value as string)) return null;
    }
    settleText(context, settledWork(context, work, failed), inPlace ? views : 0, at, false);
    return { kind: 'views', at };
  };
}

/** The work without the rows that failed: their cells are no changes. */
export function settledWork({ arena }: OperatorContext, work: CellWork, failed: ReadonlySet<number>): CellWork {
  if (failed.size === 0) return work;
  const list = arena.take(work.count * 4);
  const { u32 } = arena.heap;
  let count = 0;
  for (let i = 0; i < work.count; i++) {
    const row = u32[(work.rows >>> 2) + i]!;
    if (!failed.has(row)) u32[(list >>> 2) + count++] = row;
  }
  return { ...work, rows: list, count };
}
