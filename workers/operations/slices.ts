// Works on a batch in as many pieces as the arena demands. What comes out must not depend on where it is cut.
import type { Batch } from '../batch.ts';

/**
 * Calls `work` for positions [from, to) of the batch until all are done. `work` gives false, without having handed on or
 * changed anything lasting, when the arena was full: it is then called with fewer rows, for a single row with a larger
 * arena. After each piece the arena is as it was before.
 */
export function inSlices(batch: Batch, work: (from: number, to: number) => boolean): void {
  const { arena, live } = batch;
  const mark = arena.next;
  let from = 0;
  let size = live;
  while (from < live) {
    const to = Math.min(live, from + size);
    const done = work(from, to);
    arena.release(mark);
    if (done) {
      from = to;
    } else if (to - from > 1) {
      size = (to - from) >>> 1;
    } else {
      arena.enlarge(arena.capacityBytes * 2);
      size = live;
    }
  }
}
