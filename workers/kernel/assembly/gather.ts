// Copies cells of rows, as often as wanted and in any order, side by side: the word or view of each, and its byte of meta.
import { META_NULL } from '../layout/cells';

/** `rows`: u32 by position; `meta` and `outMeta` 0: there are none. */
export function copyCells(at: usize, meta: usize, rows: usize, count: u32, out: usize, outMeta: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = <usize>load<u32>(rows + (i << 2));
    store<u64>(out + (i << 3), load<u64>(at + (row << 3)));
    if (meta) store<u8>(outMeta + i, load<u8>(meta + row));
  }
}

/**
 * As copyCells, each cell of the column that has its place (u32 by position) among `columns`: u32 address and u32 address of
 * its meta (0: none, 0 is put there) of each. A column without an address has nulls.
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

/** The selection of `count` rows that all live, u32 each, and the f64 number of each one's source row, whose u32 row is in `rows`. */
export function numberRows(rows: usize, count: u32, sourceFirst: f64, selection: usize, sources: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(selection + ((<usize>i) << 2), i);
    store<f64>(sources + ((<usize>i) << 3), sourceFirst + <f64>load<u32>(rows + ((<usize>i) << 2)));
  }
}
