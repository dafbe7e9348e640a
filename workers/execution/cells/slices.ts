// Works on a batch in as many pieces as the arena demands. What comes out must not depend on where it is cut.
import type { Batch } from '../../batch/batch.ts';

/** Positions [from, to) of a batch. */
export interface BatchPiece {
  readonly from: number;
  readonly to: number;
  /** Set when the arena was full: nothing was handed on or changed for good, and the rows come again in smaller pieces. */
  isTooLarge: boolean;
}

/**
 * The pieces of a batch until all rows were in one that was not too large: the whole at first, then fewer rows, and a
 * single one with a larger arena. Behind each piece the arena is as it was before.
 */
export function* piecesOf(batch: Batch): Generator<BatchPiece, void, undefined> {
  const { arena, live } = batch;
  const mark = arena.next;
  let from = 0;
  let size = live;
  while (from < live) {
    const piece = { from, to: Math.min(live, from + size), isTooLarge: false };
    try {
      yield piece;
    } finally {
      arena.release(mark);
    }
    const rows = piece.to - from;
    if (!piece.isTooLarge) {
      from = piece.to;
    } else if (rows > 1) {
      size = rows >>> 1;
    } else {
      arena.enlarge(arena.capacityBytes * 2);
      size = live;
    }
  }
}

/** Calls `work` for each piece; it gives false when that was too large. */
export function inSlices(batch: Batch, work: (from: number, to: number) => boolean): void {
  for (const piece of piecesOf(batch)) piece.isTooLarge = !work(piece.from, piece.to);
}
