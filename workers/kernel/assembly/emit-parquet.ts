// Appends cells to pages of Parquet columns, in the plain encoding (layout/output-program.ts describes a page).
import {
  PAGE_FULL,
  PAGE_LIMIT,
  PAGE_NEXT,
  PAGE_NULLS,
  PAGE_PRESENT,
  PAGE_ROWS,
  PAGE_ROWS_MAX,
} from '../layout/output-program';
import { copy, viewOf } from './cell';

/** Size of a text's length. */
const LENGTH_BYTES: usize = 4;

/**
 * Appends the texts of `count` rows until the page is full or the next text does not fit into its memory. Returns the
 * number of rows appended.
 */
export function packTexts(views: usize, rows: usize, count: u32, page: usize): u32 {
  const limit = <usize>load<u32>(page, PAGE_LIMIT), full = <usize>load<u32>(page, PAGE_FULL);
  const present = <usize>load<u32>(page, PAGE_PRESENT);
  const first = load<u32>(page, PAGE_ROWS);
  const end = min(count, load<u32>(page, PAGE_ROWS_MAX) - first);
  let next = <usize>load<u32>(page, PAGE_NEXT);
  let nulls: u32 = 0;
  let i: u32 = 0;
  for (; i < end && next < full; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    if (start == 0) {
      nulls++;
      continue;
    }
    if (next + LENGTH_BYTES + length > limit) break;
    store<u32>(next, <u32>length);
    next = copy(next + LENGTH_BYTES, start, start + length);
    const bits = present + <usize>((first + i) >>> 3);
    store<u8>(bits, load<u8>(bits) | <u8>((<u32>1) << ((first + i) & 7)));
  }
  store<u32>(page, <u32>next, PAGE_NEXT);
  store<u32>(page, first + i, PAGE_ROWS);
  store<u32>(page, load<u32>(page, PAGE_NULLS) + nulls, PAGE_NULLS);
  return i;
}
