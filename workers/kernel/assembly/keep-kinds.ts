// Native kinds of a column of text behind an edit in place: a cell whose text is as it was stays what it was, any other is a
// text. Only columns of files that know types come here.
import { KIND_TEXT } from '../layout/native-kinds';
import { sameBytes } from './cell';

/**
 * For the rows of a list (u32 physical rows): where the view at `after` has the text of that at `before`, `made` gets the
 * kind at `kinds`. All are by physical row.
 */
export function keepKinds(before: usize, kinds: usize, after: usize, made: usize, rows: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = <usize>load<u32>(rows + ((<usize>i) << 2));
    const old = before + (row << 3);
    const now = after + (row << 3);
    const length = <usize>load<u32>(now, 4);
    const isSame =
      length == <usize>load<u32>(old, 4) &&
      (load<u32>(now) == load<u32>(old) || sameBytes(<usize>load<u32>(now), <usize>load<u32>(old), length));
    store<u8>(made + row, isSame ? load<u8>(kinds + row) : <u8>KIND_TEXT);
  }
}
