// A part of a batch of rows that were read back, as a batch of its own.
import type { Batch, ColumnData, TypedColumn } from '../../batch/batch.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { targetBatch } from './row-codec.ts';

/** Rows `from` to `to` of a batch of rows that were read back. */
export function rowsBetween(batch: Batch, from: number, to: number): Batch {
  const columns = batch.columns.map((column): ColumnData => {
    if (column.kind === 'raw') throw new Error('rows that were read back have no raw columns');
    const at = column.at + from * VIEW_BYTES;
    if (column.kind === 'views') {
      return { ...column, at, ...(column.kinds === undefined ? {} : { kinds: column.kinds + from }) };
    }
    return { ...column, at, meta: column.meta + from, big: bigBetween(column.big, from, to) };
  });
  const { arena, selection, sourceRows } = batch;
  if (!('at' in sourceRows)) throw new Error('rows that were read back have source rows of their own');
  return targetBatch({ arena, columns, rows: to - from, selection, sources: sourceRows.at + from * 8 });
}

/** Of these rows alone: whoever writes them goes through the whole map. */
function bigBetween(big: TypedColumn['big'], from: number, to: number): TypedColumn['big'] {
  if (big === null) return null;
  const within = [...big].filter(([row]) => row >= from && row < to);
  return new Map(within.map(([row, value]) => [row - from, value]));
}
