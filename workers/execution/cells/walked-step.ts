// The step that replaces matches of any pattern, by two walks over each cell (kernel/assembly/capture-pattern.ts).
import type { RegularExpression } from '../../expression/patterns/regular-expression.ts';
import { NEXT_FREE } from '../../kernel/layout/captures.ts';
import { PIECE_BYTES, PIECE_GROUP, PIECE_TEXT } from '../../kernel/layout/patterns.ts';
import type { Heap } from '../../memory/heap.ts';
import { CELL_BYTES_MAX } from './cell-limit.ts';
import { PatternWalker, WALKED_ROWS_LEAST } from './pattern-walker.ts';
import { placeText } from './placed-text.ts';
import type { TextStep } from './text-chain.ts';
import { stringStep } from './text-steps.ts';

/** What a match is replaced by: texts, and numbers of groups; and how many are. */
export interface Replacement {
  readonly parts: readonly (string | number)[];
  readonly times: number;
}

/** `edit` is the same for one text; fewer rows than `rowsLeast` are left to it. */
export function walkedStep(
  heap: Heap,
  pattern: RegularExpression,
  replacement: Replacement,
  edit: (text: string) => string,
  rowsLeast = WALKED_ROWS_LEAST,
): TextStep {
  const single = stringStep(heap, 'any', edit);
  const groups = replacement.parts.filter((part) => typeof part === 'number');
  let walker: PatternWalker | null | undefined;
  let pieces = 0;
  return {
    *run(cells, clock) {
      if (walker === undefined && cells.count >= rowsLeast) {
        walker = PatternWalker.of(heap, pattern, groups, 'all');
        if (walker !== null) pieces = placePieces(heap, replacement.parts, walker);
      }
      if (walker === undefined || walker === null) {
        single.run(cells, clock);
        return true;
      }
      const { machine } = walker;
      const { kernel, arena, views, rows, count, todo } = cells;
      const piecesEnd = pieces + replacement.parts.length * PIECE_BYTES;
      const { replaceCaptures } = kernel.exports;
      arena.heap.u32[(machine + NEXT_FREE) >>> 2] = arena.next;
      const isDone = yield* walker.drive(count, clock, (from) =>
        replaceCaptures(
          ...([views, rows, count, from, machine, pieces, piecesEnd, replacement.times] as const),
          ...([CELL_BYTES_MAX, arena.limit, todo] as const),
        ),
      );
      arena.next = arena.heap.u32[(machine + NEXT_FREE) >>> 2]!;
      return isDone;
    },
    edit,
  };
}

/** The list of pieces, as kernels take it. */
function placePieces(heap: Heap, parts: readonly (string | number)[], walker: PatternWalker): number {
  const pieces = parts.flatMap((part): readonly number[] => {
    if (typeof part === 'number') return [PIECE_GROUP, walker.slotOf(part), 0];
    const { at, bytes } = placeText(heap, part);
    return [PIECE_TEXT, at, bytes];
  });
  const list = heap.allocate(Math.max(1, parts.length) * PIECE_BYTES);
  heap.u32.set(pieces, list >>> 2);
  return list;
}
