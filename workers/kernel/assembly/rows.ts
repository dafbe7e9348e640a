// Rows as records of bytes, for files that hold what does not fit into memory. A record: u32 its bytes, u32 0,
// f64 order, f64 source row, then each column: text u32 length + 1 (0 = null) and the bytes; typed u8 meta and 8 bytes.
// Columns are described by 3 u32 each: 0 views or 1 typed, address, address of meta.
import { copy } from './cell';

const HEAD: usize = 24;

/**
 * Writes the rows of positions `from` to `count` as long as they fit; the position reached goes to `reached`.
 * `orders`: f64 per position. `sources`: f64 per physical row, or 0 when they are `sourceFirst` + physical row.
 */
export function encodeRows(columns: usize, columnCount: u32, rows: usize, from: u32, count: u32, orders: usize, sources: usize, sourceFirst: f64, next: usize, limit: usize, reached: usize): usize {
  const end = columns + <usize>columnCount * 12;
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const o = encodeCells(columns, end, row, next + HEAD, limit);
    if (o == 0) break;
    store<u32>(next, <u32>(o - next));
    store<u32>(next, 0, 4);
    store<f64>(next, load<f64>(orders + ((<usize>i) << 3)), 8);
    store<f64>(next, sources == 0 ? sourceFirst + <f64>row : load<f64>(sources + (row << 3)), 16);
    next = o;
  }
  store<u32>(reached, i);
  return next;
}

/** The address behind the row's cells, 0 when they do not fit. */
// @ts-ignore: decorator
@inline
function encodeCells(columns: usize, end: usize, row: usize, o: usize, limit: usize): usize {
  if (o > limit) return 0;
  for (let c = columns; c < end; c += 12) {
    const at = <usize>load<u32>(c, 4);
    if (load<u32>(c) == 1) {
      if (o + 9 > limit) return 0;
      store<u8>(o, load<u8>(<usize>load<u32>(c, 8) + row));
      store<u64>(o, load<u64>(at + (row << 3)), 1);
      o += 9;
      continue;
    }
    const s = <usize>load<u32>(at + (row << 3)), length = <usize>load<u32>(at + (row << 3), 4);
    if (o + 4 + length > limit) return 0;
    store<u32>(o, s == 0 ? 0 : <u32>length + 1);
    o = s == 0 ? o + 4 : copy(o + 4, s, s + length);
  }
  return o;
}

/**
 * Reads the complete records of [from, end), at most `most`, into the columns' arrays from row 0 on: views point into
 * the records. Gives how many; the address behind the last goes to `reached`.
 */
export function decodeRows(columns: usize, columnCount: u32, from: usize, end: usize, most: u32, orders: usize, sources: usize, reached: usize): u32 {
  const columnsEnd = columns + <usize>columnCount * 12;
  let n: u32 = 0;
  while (n < most && from + HEAD <= end) {
    const bytes = <usize>load<u32>(from);
    if (bytes > end - from) break;
    decodeRecord(columns, columnsEnd, from, n, orders, sources);
    from += bytes;
    n++;
  }
  store<u32>(reached, <u32>from);
  return n;
}

/** As decodeRows, for the records of `count` sort entries (assembly/sort.ts). */
export function decodeEntries(columns: usize, columnCount: u32, entries: usize, count: u32, orders: usize, sources: usize): void {
  const columnsEnd = columns + <usize>columnCount * 12;
  for (let n: u32 = 0; n < count; n++) {
    decodeRecord(columns, columnsEnd, <usize>load<u32>(entries + ((<usize>n) << 4), 8), n, orders, sources);
  }
}

// @ts-ignore: decorator
@inline
function decodeRecord(columns: usize, columnsEnd: usize, record: usize, n: u32, orders: usize, sources: usize): void {
  const row = (<usize>n) << 3;
  store<f64>(orders + row, load<f64>(record, 8));
  store<f64>(sources + row, load<f64>(record, 16));
  let p = record + HEAD;
  for (let c = columns; c < columnsEnd; c += 12) {
    const at = <usize>load<u32>(c, 4);
    if (load<u32>(c) == 1) {
      store<u8>(<usize>load<u32>(c, 8) + <usize>n, load<u8>(p));
      store<u64>(at + row, load<u64>(p, 1));
      p += 9;
      continue;
    }
    const length = load<u32>(p);
    p += 4;
    if (length == 0) {
      store<u64>(at + row, 0);
      continue;
    }
    store<u32>(at + row, <u32>p);
    store<u32>(at + row, length - 1, 4);
    p += <usize>(length - 1);
  }
}
