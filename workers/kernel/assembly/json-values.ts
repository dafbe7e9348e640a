// One value of a record: what it is, where it ends, and its cell, which is where it stands in the file.
import { EMPTY_IS_NULL, KIND_UNSETTLED, KINDS, MARKED, STRIDE, UNSETTLED, VIEWS } from '../layout/json';
import { KIND_BOOLEAN, KIND_JSON, KIND_NUMBER, KIND_TEXT } from '../layout/native-kinds';
import { literalBytes, nestedEnd, numberEnd, OPEN_LIST, OPEN_OBJECT, QUOTE, stringEnd } from './json-tokens';

/** The first letter of null. */
export const NULL_LETTER: u32 = 0x6e;

/** One value, into its column where that is not below 0. Gives the address behind it, or 0. */
// @ts-ignore: decorator
@inline
export function readCell(p: usize, byte: u32, end: usize, state: usize, column: i32, row: u32): usize {
  if (byte == QUOTE) {
    const close = stringEnd(p + 1, end, state);
    const behind = close & ~MARKED;
    if (close == 0) return 0;
    if (column >= 0) {
      if (close != behind) putUnsettled(state, column, row, p + 1, behind, KIND_TEXT);
      else if (behind != p + 1 || load<u32>(state, EMPTY_IS_NULL) == 0) {
        putCell(state, column, row, p + 1, behind, KIND_TEXT);
      } else putNull(state, column, row);
    }
    return behind + 1;
  }
  if (byte == OPEN_OBJECT || byte == OPEN_LIST) {
    const found = nestedEnd(p, end, state);
    const behind = found & ~MARKED;
    if (found == 0) return 0;
    if (column >= 0) {
      if (found != behind) putUnsettled(state, column, row, p, behind, KIND_JSON);
      else putCell(state, column, row, p, behind, KIND_JSON);
    }
    return behind;
  }
  const bytes = literalBytes(p);
  if (bytes != 0) {
    if (column >= 0) {
      if (byte == NULL_LETTER) putNull(state, column, row);
      else putCell(state, column, row, p, p + bytes, KIND_BOOLEAN);
    }
    return p + bytes;
  }
  const behind = numberEnd(p, end, state);
  if (behind != 0 && column >= 0) putCell(state, column, row, p, behind, KIND_NUMBER);
  return behind;
}

// @ts-ignore: decorator
@inline
function putCell(state: usize, column: i32, row: u32, start: usize, end: usize, kind: u32): void {
  const cell = <usize>((<u32>column) * load<u32>(state, STRIDE) + row);
  store<u64>(<usize>load<u32>(state, VIEWS) + (cell << 3), <u64>start | ((<u64>(end - start)) << 32));
  store<u8>(<usize>load<u32>(state, KINDS) + cell, <u8>kind);
}

function putUnsettled(state: usize, column: i32, row: u32, start: usize, end: usize, kind: u32): void {
  putCell(state, column, row, start, end, kind | KIND_UNSETTLED);
  store<u8>(<usize>load<u32>(state, UNSETTLED) + <usize>column, 1);
}

/** The last of equal keys counts, so that it may take a cell away. */
// @ts-ignore: decorator
@inline
function putNull(state: usize, column: i32, row: u32): void {
  const cell = <usize>((<u32>column) * load<u32>(state, STRIDE) + row);
  store<u64>(<usize>load<u32>(state, VIEWS) + (cell << 3), 0);
}
