// The rows of a batch that a list does not name.
import type { Batch } from '../../batch/batch.ts';
import type { Kernel } from '../../kernel/bindings/kernel.ts';

/** The batch without the rows of a list that is in the order of its selection. */
export function unlistedRows(batch: Batch, rows: number, count: number, kernel: Kernel): Batch {
  const kept = batch.arena.take(batch.live * 4);
  const live = kernel.exports.keepUnlisted(batch.selection, batch.live, rows, count, kept);
  return batch.withSelection(kept, live);
}
