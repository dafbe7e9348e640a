// The flag column of rows that are made anew, such as groups: it is the last of the output, and they have no flags.
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { Next, OperatorContext } from '../../operations/operation.ts';

/** Takes batches without the flag column and hands them on with a blank one, if the output has one. */
export function withBlankFlags({ arena, output, next }: OperatorContext): Next {
  return function* (batch) {
    if (batch.columns.length === output.length) {
      yield* next(batch);
      return;
    }
    const mark = arena.next;
    const at = arena.take(batch.rows * VIEW_BYTES);
    arena.heap.u8.fill(0, at, at + batch.rows * VIEW_BYTES);
    yield* next(batch.withColumns([...batch.columns, { kind: 'views', at }]));
    arena.release(mark);
  };
}
