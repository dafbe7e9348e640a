// Rows of batches: encodes them as records, copies their cells, and marks them by conditions.
import {
  COLUMN_AT,
  COLUMN_BYTES,
  COLUMN_KIND,
  COLUMN_META,
  ENTRY_BYTES,
  ENTRY_RECORD,
  KIND_BYTES,
  KIND_VIEWS,
} from '../layout/records';
import { copy, viewOf } from './cell';
import { META_NULL } from '../layout/cells';
import { TRUE } from '../layout/expressions';

// Encodes rows as byte records, for buffered state and for spill files. A record consists of its u32 length, its order
// and source row as 48-bit integers, and its columns. A text column: length + 1 (0 = null) in groups of 7 bits, the
// lowest group first, with the highest bit set if more bytes follow, then the text. A typed column: u8 meta and 8
// bytes. A byte column: one byte. layout/records.ts describes columns. Byte columns at address 0 contain only zeros.

/** Number of bytes before a record's first cell. */
export const HEAD: usize = 16;

/** Maximum number of bytes of an encoded length. */
const LENGTH_BYTES: usize = 5;

/** Orders and source rows are below 2^48. */
const WHOLE_LIMIT: f64 = 281474976710656;

/** Number of records to prefetch, so that their cache misses overlap. */
const AHEAD: u32 = 8;

/**
 * Writes the rows of positions `from` to `count` as long as they fit, and stores the position reached in `reached`.
 * `orders`: f64 per position. `sources`: f64 per physical row, or 0 if they are `sourceFirst` + physical row.
 */
export function encodeRows(columns: usize, columnCount: u32, rows: usize, from: u32, count: u32, orders: usize, sources: usize, sourceFirst: f64, next: usize, limit: usize, reached: usize): usize {
  const end = columns + <usize>columnCount * COLUMN_BYTES;
  let i = from;
  for (; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const o = encodeCells(columns, end, row, next + HEAD, limit);
    if (o == 0) break;
    store<u32>(next, <u32>(o - next));
    putWhole(next + 4, load<f64>(orders + ((<usize>i) << 3)));
    putWhole(next + 10, sources == 0 ? sourceFirst + <f64>row : load<f64>(sources + (row << 3)));
    next = o;
  }
  store<u32>(reached, i);
  return next;
}

/** Returns the address after the row's cells, or 0 if they do not fit. */
// @ts-ignore: decorator
@inline
function encodeCells(columns: usize, end: usize, row: usize, o: usize, limit: usize): usize {
  if (o > limit) return 0;
  for (let c = columns; c < end; c += COLUMN_BYTES) {
    const at = <usize>load<u32>(c, COLUMN_AT);
    const kind = load<u32>(c, COLUMN_KIND);
    if (kind != KIND_VIEWS) {
      if (o + 9 > limit) return 0;
      if (kind == KIND_BYTES) {
        store<u8>(o++, at == 0 ? 0 : load<u8>(at + row));
        continue;
      }
      store<u8>(o, load<u8>(<usize>load<u32>(c, COLUMN_META) + row));
      store<u64>(o, load<u64>(at + (row << 3)), 1);
      o += 9;
      continue;
    }
    const s = <usize>load<u32>(at + (row << 3)), length = <usize>load<u32>(at + (row << 3), 4);
    if (o + LENGTH_BYTES + length > limit) return 0;
    if (s == 0) {
      store<u8>(o++, 0);
      continue;
    }
    let left = <u32>length + 1;
    for (; left >= 128; left >>= 7) store<u8>(o++, <u8>(left | 128));
    store<u8>(o++, <u8>left);
    o = copy(o, s, s + length);
  }
  return o;
}

// @ts-ignore: decorator
@inline
function putWhole(o: usize, value: f64): void {
  // If the order is not needed, the memory contains arbitrary values.
  const whole: i64 = value >= 0 && value < WHOLE_LIMIT ? <i64>value : 0;
  store<u32>(o, <u32>whole);
  store<u16>(o, <u16>(whole >> 32), 4);
}

// @ts-ignore: decorator
@inline
function wholeAt(p: usize): f64 {
  return <f64>(<u64>load<u32>(p) | ((<u64>load<u16>(p, 4)) << 32));
}

/** The length + 1 at p in the low half, and the number of bytes that encode it in the high half. */
// @ts-ignore: decorator
@inline
export function lengthAt(p: usize): u64 {
  const first = <u64>load<u8>(p);
  return first < 128 ? first | ((<u64>1) << 32) : longLengthAt(p);
}

function longLengthAt(p: usize): u64 {
  let length: u64 = 0, bytes: u64 = 0;
  let byte: u64 = 128;
  for (; byte >= 128; bytes++) {
    byte = <u64>load<u8>(p + <usize>bytes);
    length |= (byte & 127) << (7 * bytes);
  }
  return length | (bytes << 32);
}

/**
 * Reads the complete records of [from, end), at most `most`, into the columns' arrays from row 0 on. Views point into
 * the records. Returns the number of records, and stores the address after the last one in `reached`.
 */
export function decodeRows(columns: usize, columnCount: u32, from: usize, end: usize, most: u32, orders: usize, sources: usize, reached: usize): u32 {
  const columnsEnd = columns + <usize>columnCount * COLUMN_BYTES;
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

/** Like decodeRows, for the records of `count` sort entries (assembly/sort.ts). The result is meaningless. */
export function decodeEntries(columns: usize, columnCount: u32, entries: usize, count: u32, orders: usize, sources: usize): u32 {
  const columnsEnd = columns + <usize>columnCount * COLUMN_BYTES;
  let sink: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    if (n + AHEAD < count) {
      const ahead = <usize>load<u32>(entries + (<usize>(n + AHEAD)) * ENTRY_BYTES, ENTRY_RECORD);
      sink ^= load<u32>(ahead) ^ <u32>load<u8>(ahead, 64) ^ <u32>load<u8>(ahead, 128) ^ <u32>load<u8>(ahead, 192);
    }
    decodeRecord(columns, columnsEnd, <usize>load<u32>(entries + (<usize>n) * ENTRY_BYTES, ENTRY_RECORD), n, orders, sources);
  }
  return sink;
}

// @ts-ignore: decorator
@inline
function decodeRecord(columns: usize, columnsEnd: usize, record: usize, n: u32, orders: usize, sources: usize): void {
  const row = (<usize>n) << 3;
  store<f64>(orders + row, wholeAt(record + 4));
  store<f64>(sources + row, wholeAt(record + 10));
  let p = record + HEAD;
  for (let c = columns; c < columnsEnd; c += COLUMN_BYTES) {
    const at = <usize>load<u32>(c, COLUMN_AT);
    const kind = load<u32>(c, COLUMN_KIND);
    if (kind != KIND_VIEWS) {
      if (kind == KIND_BYTES) {
        store<u8>(at + <usize>n, load<u8>(p++));
        continue;
      }
      store<u8>(<usize>load<u32>(c, COLUMN_META) + <usize>n, load<u8>(p));
      store<u64>(at + row, load<u64>(p, 1));
      p += 9;
      continue;
    }
    const header = lengthAt(p);
    const length = <u32>header;
    p += <usize>(header >> 32);
    if (length == 0) {
      store<u64>(at + row, 0);
      continue;
    }
    store<u32>(at + row, <u32>p);
    store<u32>(at + row, length - 1, 4);
    p += <usize>(length - 1);
  }
}

// Copies cells of rows, in any order and with repetitions, into consecutive memory: the word or view of each cell, and
// its byte of meta.

/** `rows`: u32 by position. `meta` and `outMeta` are 0 for columns without meta. */
export function copyCells(at: usize, meta: usize, rows: usize, count: u32, out: usize, outMeta: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u64>(out + (i << 3), load<u64>(at + (row << 3)));
    if (meta) store<u8>(outMeta + i, load<u8>(meta + row));
  }
}

/**
 * Copies cells to other positions. `places`: views, by physical row, of positions as big-endian 64-bit numbers below
 * 2^32. Without cells (`at` 0), writes 1 to `outMeta`.
 */
export function putCells(at: usize, meta: usize, places: usize, rows: usize, count: u32, out: usize, outMeta: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(places, rows, i), row = (view - places) >> 3;
    const place = <usize>bswap<u32>(load<u32>(<usize>load<u32>(view), 4));
    if (at != 0) store<u64>(out + (place << 3), load<u64>(at + (row << 3)));
    store<u8>(outMeta + place, at == 0 ? 1 : load<u8>(meta + row));
  }
}

/**
 * Like copyCells, but each cell comes from the column given by its index (u32 by position in `places`). `columns`: for
 * each column, u32 address and u32 address of its meta (0: no meta, and 0 is written for each cell). A column without
 * an address yields nulls.
 */
export function copyPlaced(columns: usize, places: usize, rows: usize, count: u32, out: usize, outMeta: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    const column = columns + ((<usize>load<u32>(places + (i << 2))) << 3);
    const at = <usize>load<u32>(column), meta = <usize>load<u32>(column, 4);
    store<u64>(out + (i << 3), at == 0 ? 0 : load<u64>(at + (row << 3)));
    if (outMeta) store<u8>(outMeta + i, at == 0 ? <u8>META_NULL : meta == 0 ? 0 : load<u8>(meta + row));
  }
}

/**
 * Writes a selection of `count` rows, all live (u32 each), and the f64 number of each one's source row. `rows` holds
 * the u32 source rows.
 */
export function numberRows(rows: usize, count: u32, sourceFirst: f64, selection: usize, sources: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(selection + ((<usize>i) << 2), i);
    store<f64>(sources + ((<usize>i) << 3), sourceFirst + <f64>load<u32>(rows + ((<usize>i) << 2)));
  }
}

// Marks of rows: one byte per physical row of a batch, 1 if a condition is true. Also filters row lists by marks and by
// other lists. Scalar reference implementation: test/workers/kernel/scalar/marks.ts.

/** Writes 1 for rows whose state is true, and 0 for the other rows of the list. */
export function markTrue(states: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(marks + <usize>load<u32>(rows + (i << 2)), <u8>(<u32>load<u8>(states + i) == TRUE));
  }
}

/** Writes 1 for rows whose view is not null, and 0 for the other rows of the list. */
export function markFound(views: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(marks + row, <u8>(load<u32>(views + (row << 3)) != 0));
  }
}

/** Adds marks for rows whose text is null or empty. */
export function markEmpty(views: usize, rows: usize, count: u32, marks: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), mark = marks + ((view - views) >> 3);
    const isEmpty = <u8>(load<u32>(view) == 0) | <u8>(load<u32>(view, 4) == 0);
    store<u8>(mark, load<u8>(mark) | isEmpty);
  }
}

/** Adds marks for rows whose meta byte is `value`. */
export function markMeta(meta: usize, rows: usize, count: u32, value: u32, marks: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(marks + row, load<u8>(marks + row) | <u8>(<u32>load<u8>(meta + row) == value));
  }
}

/** Adds marks in `others` for rows that have no mark in `marks`. */
export function markOthers(marks: usize, rows: usize, count: u32, others: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u8>(others + row, load<u8>(others + row) | (load<u8>(marks + row) ^ 1));
  }
}

/** Keeps the marked rows of the list, in place. Returns their number. */
export function keepMarked(marks: usize, rows: usize, count: u32): u32 {
  let kept = rows;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    store<u32>(kept, row);
    kept += (<usize>load<u8>(marks + <usize>row)) << 2;
  }
  return <u32>((kept - rows) >> 2);
}

/**
 * Writes to `kept` the rows that are not in another list. That list is a subset in the same order. Returns their
 * number. `kept` must have the capacity of `rows`.
 */
export function keepUnlisted(rows: usize, count: u32, listed: usize, listedCount: u32, kept: usize): u32 {
  const end = rows + ((<usize>count) << 2), listedEnd = listed + ((<usize>listedCount) << 2);
  let o = kept;
  for (; rows < end; rows += 4) {
    const row = load<u32>(rows);
    // The bytes after the end of `listed` are arbitrary.
    const isListed = <usize>((listed < listedEnd) & (load<u32>(listed) == row));
    store<u32>(o, row);
    listed += isListed << 2;
    o += (isListed ^ 1) << 2;
  }
  return <u32>((o - kept) >> 2);
}
