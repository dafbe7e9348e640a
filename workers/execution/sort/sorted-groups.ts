// Among rows that a sorter brought together by their keys: where groups begin, and which rows are equal to the one before.
import type { Batch } from '../../batch/batch.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import { viewsOf } from './row-places.ts';

/** A byte for each row, by position. */
export interface GroupMarks {
  /** 1 where a group begins. */
  readonly starts: Uint8Array;
  /** 1 where the whole key is that of the row before, within its group. */
  readonly ties: Uint8Array;
}

export class SortedGroups {
  readonly #context: Pick<OperatorContext, 'arena' | 'kernel'>;
  readonly #columns: number;
  #lastKey: Uint8Array | null = null;

  /** @param columns how many columns at the start of a key (RowKeys) make the group; 0: all rows are one group */
  constructor(context: Pick<OperatorContext, 'arena' | 'kernel'>, columns: number) {
    this.#context = context;
    this.#columns = columns;
  }

  /** @param batch of rows that follow those of the last one; its first column are the keys */
  mark(batch: Batch): GroupMarks {
    const { arena, kernel } = this.#context;
    const mark = arena.next;
    const keys = viewsOf(batch.columns[0]!);
    const last = this.#lastKey;
    const lastAt = last === null ? 0 : arena.take(last.length);
    const [startsAt, tiesAt] = [arena.take(batch.live), arena.take(batch.live)];
    const { u8, u32 } = arena.heap;
    if (last !== null) u8.set(last, lastAt);
    const { markGroups } = kernel.exports;
    markGroups(keys, batch.selection, batch.live, this.#columns, lastAt, last?.length ?? 0, startsAt, tiesAt);
    const end = (keys >>> 2) + batch.physicalRow(batch.live - 1) * 2;
    // The bytes are of this batch alone.
    this.#lastKey = u8.slice(u32[end]!, u32[end]! + u32[end + 1]!);
    const starts = u8.slice(startsAt, startsAt + batch.live);
    const ties = u8.slice(tiesAt, tiesAt + batch.live);
    arena.release(mark);
    return { starts, ties };
  }
}
