// Writes cells of a row as a JSON object into the arena. Plain twin: the objects by hand in execution/cells/json-objects.ts, which
// gets the rows with long cells (`todo`: u32 count, then rows).
import { META_NULL } from '../layout/cells';
import {
  MEMBER_AT,
  MEMBER_BOOLEAN,
  MEMBER_BYTES,
  MEMBER_CELL_BYTES_MAX,
  MEMBER_DATE,
  MEMBER_DATETIME,
  MEMBER_DECIMAL,
  MEMBER_INTEGER,
  MEMBER_JSON,
  MEMBER_KEY,
  MEMBER_KEY_BYTES,
  MEMBER_KIND,
  MEMBER_META,
  MEMBER_NATIVE,
} from '../layout/json-objects';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER } from '../layout/native-kinds';
import { copyOver } from './emit-copy';
import { putDate, putDatetime, putDecimal, putInteger, TYPED_BYTES_MAX } from './emit-typed';
import { ESCAPE_BYTES_MAX, putCommon } from './json-text';

/** Beside its own bytes and its key: two quotes, what is written too far. */
const VALUE_EXTRA_BYTES: usize = 64;

const BRACE: u8 = 0x7b;
const CLOSING_BRACE: u8 = 0x7d;
const POINT: u32 = 0x2e;
const QUOTE: u8 = 0x22;
const NULL_TEXT: u32 = 0x6c6c756e;
const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;

/** An object for each row, its view at `made` by physical row. Gives the next free address, 0: there was no room. */
export function writeObjects(columns: usize, columnCount: u32, rows: usize, count: u32, omitsNulls: u32, made: usize, next: usize, limit: usize, todo: usize): usize {
  const columnsEnd = columns + <usize>columnCount * MEMBER_BYTES;
  let back: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    if (isLong(columns, columnsEnd, row)) {
      store<u32>(todo + (++back << 2), <u32>row);
      continue;
    }
    if (next + VALUE_EXTRA_BYTES > limit) return 0;
    // The first member's comma is where the brace goes.
    let at = next;
    for (let column = columns; column < columnsEnd; column += MEMBER_BYTES) {
      at = putMember(column, row, omitsNulls, at, limit);
      if (at == 0) return 0;
    }
    if (at == next) at++;
    store<u8>(next, BRACE);
    store<u8>(at++, CLOSING_BRACE);
    store<u64>(made + (row << 3), <u64>next | ((<u64>(at - next)) << 32));
    next = at;
  }
  store<u32>(todo, <u32>back);
  return next;
}

function isLong(columns: usize, columnsEnd: usize, row: usize): bool {
  let isAny = false;
  for (let column = columns; column < columnsEnd; column += MEMBER_BYTES) {
    const isText = load<u32>(column) <= MEMBER_NATIVE;
    if (isText && load<u32>(<usize>load<u32>(column, MEMBER_AT) + (row << 3), 4) > MEMBER_CELL_BYTES_MAX) isAny = true;
  }
  return isAny;
}

/** Gives the address behind the member, 0: there is no room. */
// @ts-ignore: decorator
@inline
function putMember(column: usize, row: usize, omitsNulls: u32, out: usize, limit: usize): usize {
  const kind = load<u32>(column, MEMBER_KIND);
  const source = <usize>load<u32>(column, MEMBER_AT) + (row << 3);
  const key = <usize>load<u32>(column, MEMBER_KEY), keyBytes = <usize>load<u32>(column, MEMBER_KEY_BYTES);
  const isView = kind <= MEMBER_NATIVE;
  const meta = isView ? 0 : <u32>load<u8>(<usize>load<u32>(column, MEMBER_META) + row);
  const start = isView ? <usize>load<u32>(source) : 1;
  const bytes = isView ? <usize>load<u32>(source, 4) : 0;
  const isNull = start == 0 || (!isView && meta == META_NULL);
  if (isNull && omitsNulls) return out;
  const room = isView ? bytes * ESCAPE_BYTES_MAX : TYPED_BYTES_MAX;
  if (out + keyBytes + room + VALUE_EXTRA_BYTES > limit) return 0;
  const at = copyOver(out, key, key + keyBytes);
  if (isNull) {
    store<u32>(at, NULL_TEXT);
    return at + 4;
  }
  if (isView) {
    if (kind == MEMBER_JSON || (kind == MEMBER_NATIVE && isBare(<u32>load<u8>(<usize>load<u32>(column, MEMBER_META) + row)))) {
      return copyOver(at, start, start + bytes);
    }
    store<u8>(at, QUOTE);
    const end = putCommon(at + 1, start, start + bytes, false);
    store<u8>(end, QUOTE);
    return end + 1;
  }
  if (kind == MEMBER_BOOLEAN) {
    if (meta != 0) store<u32>(at, TRUE_TEXT);
    else store<u64>(at, FALSE_TEXT);
    return at + (meta != 0 ? 4 : 5);
  }
  const value = load<i64>(source);
  if (kind == MEMBER_INTEGER) return putInteger(at, value);
  if (kind == MEMBER_DECIMAL) return putDecimal(at, value, meta, POINT);
  store<u8>(at, QUOTE);
  const end = kind == MEMBER_DATE ? putDate(at + 1, value) : putDatetime(at + 1, value);
  store<u8>(end, QUOTE);
  return end + 1;
}

/** A native kind whose canonical text is JSON as it stands. */
// @ts-ignore: decorator
@inline
function isBare(kind: u32): bool {
  return kind == KIND_NUMBER || kind == KIND_BOOLEAN || kind == KIND_JSON;
}
