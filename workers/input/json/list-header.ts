// The header of records that are lists: the first of them.

import type { KernelExports } from '../../kernel/bindings/exports.ts';
import { VIEW_BYTES } from '../../kernel/layout/cells.ts';
import { COLUMNS, EMPTY_IS_NULL, KINDS, MEMBERS, STRIDE, UNSETTLED, VIEWS } from '../../kernel/layout/json.ts';
import type { Coroutine } from '../../thread/coroutine.ts';
import { COLUMNS_MAX } from '../ceilings.ts';
import type { JsonRecords } from './json-records.ts';
import type { JsonText } from './json-text.ts';

/** One text per column, '' where there is none; null where the text ends before its first record does. */
export function* readListHeader(
  text: JsonText,
  records: JsonRecords,
  kernel: KernelExports,
): Coroutine<readonly string[] | null> {
  const { heap } = text;
  const bytes = COLUMNS_MAX * (VIEW_BYTES + 2);
  const views = heap.allocate(bytes);
  const kinds = views + COLUMNS_MAX * VIEW_BYTES;
  heap.u8.fill(0, views, views + bytes);
  text.set(VIEWS, views);
  text.set(KINDS, kinds);
  text.set(UNSETTLED, kinds + COLUMNS_MAX);
  text.set(STRIDE, 1);
  text.set(COLUMNS, COLUMNS_MAX);
  text.set(EMPTY_IS_NULL, 1);
  for (;;) {
    const state = records.next(1, () => {});
    if (state === 'end') return null;
    if (state === 'rows') break;
    yield text.wait();
  }
  const columns = text.get(MEMBERS);
  // A column of the header is a row of settleCells: its one cell.
  kernel.settleCells(views, kinds, columns, 0);
  const { u8, u32 } = heap;
  const headers = Array.from({ length: columns }, (_, column) => {
    const at = (views + column * VIEW_BYTES) >>> 2;
    return Buffer.from(u8.subarray(u32[at]!, u32[at]! + (u32[at] === 0 ? 0 : u32[at + 1]!))).toString();
  });
  heap.giveBack(views, bytes);
  return headers;
}
