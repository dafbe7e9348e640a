// Rows as records of bytes, for state that is kept and files that hold what does not fit into memory. A record: u32 its
// bytes, order and source row as whole numbers of 48 bits, then each column: text length + 1 (0 = null; 7 bits a byte, the
// lowest first, the highest bit set where more follow) and the bytes; typed u8 meta and 8 bytes; bytes one. How columns are
// described: layout/records.ts. Bytes at address 0 are zeros.
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
import { copy } from './cell';

/** Bytes before a record's first cell. */
export const HEAD: usize = 16;

/** A length takes so many bytes at most. */
const LENGTH_BYTES: usize = 5;

/** Orders and source rows are below 2 to the 48. */
const WHOLE_LIMIT: f64 = 281474976710656;

/** How many records ahead memory is read, so that the misses of several overlap. */
const AHEAD: u32 = 8;

/**
 * Writes the rows of positions `from` to `count` as long as they fit; the position reached goes to `reached`.
 * `orders`: f64 per position. `sources`: f64 per physical row, or 0 when they are `sourceFirst` + physical row.
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

/** The address behind the row's cells, 0 when they do not fit. */
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
  // Orders that nobody asked for are whatever was in memory.
  const whole: i64 = value >= 0 && value < WHOLE_LIMIT ? <i64>value : 0;
  store<u32>(o, <u32>whole);
  store<u16>(o, <u16>(whole >> 32), 4);
}

// @ts-ignore: decorator
@inline
function wholeAt(p: usize): f64 {
  return <f64>(<u64>load<u32>(p) | ((<u64>load<u16>(p, 4)) << 32));
}

/** The length + 1 at p, low half, and how many bytes tell it, high half. */
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
 * Reads the complete records of [from, end), at most `most`, into the columns' arrays from row 0 on: views point into
 * the records. Gives how many; the address behind the last goes to `reached`.
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

/** As decodeRows, for the records of `count` sort entries (assembly/sort.ts). The result means nothing. */
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
