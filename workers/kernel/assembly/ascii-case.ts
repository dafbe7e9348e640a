// Changes the case of letters of ASCII; all others stay. Plain twin: upperAscii and lowerAscii of values/text-edits.ts.
import { viewOf } from './cell';

const LETTERS: i8 = 26;
const CASE_BIT: i8 = 0x20;

/** Letters from `first` on get the other case. Cells without them keep their view. Gives the next free address, 0: no room. */
export function changeAsciiCase(views: usize, rows: usize, count: u32, first: u32, next: usize, limit: usize): usize {
  const from = i8x16.splat(<i8>first), letters = i8x16.splat(LETTERS), bit = i8x16.splat(CASE_BIT);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
    if (next + length > limit) return 0;
    let changed: u32 = 0;
    for (let at: usize = 0; at < length; at += 16) {
      const bytes = v128.load(start + at);
      const wanted = i8x16.lt_u(i8x16.sub(bytes, from), letters);
      const left = <u32>(length - at);
      changed |= <u32>i8x16.bitmask(wanted) & (left < 16 ? (1 << left) - 1 : 0xffff);
      v128.store(next + at, v128.xor(bytes, v128.and(wanted, bit)));
    }
    if (changed == 0) continue;
    store<u32>(view, <u32>next);
    next += length;
  }
  return next;
}
