// Which rows have nothing to compare in a key: a null, only white space, or only characters that a match leaves out.
import type { Batch } from '../../batch/batch.ts';
import { META_NULL, VIEW_BYTES } from '../../kernel/layout/cells.ts';
import type { OperatorContext } from '../../operations/operation.ts';
import type { TextStep } from '../cells/text-chain.ts';
import { matchText } from './match-level.ts';

/** A u32 list of physical rows in the arena, in the order of the batch. */
export interface RowList {
  readonly rows: number;
  readonly count: number;
}

/** The live rows of a batch of which one of the columns is blank. The views of its columns are there. */
export function blankRows(
  context: OperatorContext,
  batch: Batch,
  columns: readonly number[],
  steps: readonly TextStep[],
): RowList {
  const { arena, heap } = batch;
  const isBlank = new Uint8Array(batch.rows);
  const rows = arena.take(batch.live * 4);
  for (const index of columns) {
    const column = batch.columns[index]!;
    if (column.kind === 'typed') {
      for (let at = 0; at < batch.live; at++) {
        const row = batch.physicalRow(at);
        if (heap.u8[column.meta + row] === META_NULL) isBlank[row] = 1;
      }
      continue;
    }
    heap.u8.copyWithin(rows, batch.selection, batch.selection + batch.live * 4);
    const count = context.kernel.exports.keepBlank(batch.views(index), rows, batch.live);
    for (let i = 0; i < count; i++) isBlank[heap.u32[(rows >>> 2) + i]!] = 1;
    if (steps.length > 0) markEmptied(batch, batch.views(index), steps, isBlank);
  }
  return listed(batch, rows, isBlank);
}

/** Texts of which the steps of a match leave nothing. */
function markEmptied(batch: Batch, views: number, steps: readonly TextStep[], isBlank: Uint8Array): void {
  const { u8, u32 } = batch.heap;
  for (let at = 0; at < batch.live; at++) {
    const row = batch.physicalRow(at);
    const [start, bytes] = [u32[(views + row * VIEW_BYTES) >>> 2]!, u32[((views + row * VIEW_BYTES) >>> 2) + 1]!];
    if (isBlank[row] === 1 || hasLetterOrDigit(u8, start, start + bytes)) continue;
    const text = Buffer.from(u8.buffer, start, bytes).toString();
    if (matchText(steps, text) === '') isBlank[row] = 1;
  }
}

/** Of ASCII: no match leaves them out. */
function hasLetterOrDigit(u8: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if ((byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return true;
  }
  return false;
}

function listed(batch: Batch, rows: number, isBlank: Uint8Array): RowList {
  let count = 0;
  for (let at = 0; at < batch.live; at++) {
    const row = batch.physicalRow(at);
    if (isBlank[row] === 1) batch.heap.u32[(rows >>> 2) + count++] = row;
  }
  return { rows, count };
}
