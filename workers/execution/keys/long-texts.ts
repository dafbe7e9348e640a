// Long texts of key columns. They are edited in advance, with pauses, because making the keys of a batch must take
// little time.
import type { Batch } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';

/** Edited long texts of a column. */
export interface LongTexts {
  /** Views by physical row; only those of `rows` are edited. */
  readonly views: number;
  readonly rows: ReadonlySet<number>;
}

/** Returns the physical rows of the live rows whose text has at least `bytesMin` bytes. */
export function longRows(batch: Batch, views: number, bytesMin: number): readonly number[] {
  const { u32 } = batch.heap;
  const rows: number[] = [];
  for (let position = 0; position < batch.live; position++) {
    const row = batch.physicalRow(position);
    const view = (views + row * VIEW_BYTES) >>> 2;
    if (u32[view] !== 0 && u32[view + 1]! >= bytesMin) rows.push(row);
  }
  return rows;
}

/**
 * Copies the edited long texts of a row list to `views`, and removes their rows from the list. Returns the number of
 * rows that remain in the list.
 */
export function takeLongTexts(batch: Batch, long: LongTexts, views: number, list: number, count: number): number {
  const { u32 } = batch.heap;
  let shortCount = 0;
  for (let i = 0; i < count; i++) {
    const row = u32[(list >>> 2) + i]!;
    if (!long.rows.has(row)) {
      u32[(list >>> 2) + shortCount++] = row;
      continue;
    }
    const offset = row * VIEW_BYTES;
    u32[(views + offset) >>> 2] = u32[(long.views + offset) >>> 2]!;
    u32[((views + offset) >>> 2) + 1] = u32[((long.views + offset) >>> 2) + 1]!;
  }
  return shortCount;
}
