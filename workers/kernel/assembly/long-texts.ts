// Finds texts with more UTF-16 units than a file format holds in a cell.
import { viewOf } from './cell';

/** Positions of the row list whose text is longer than `unitsMax`, into `found` (u32 each). Gives how many. */
export function findLongTexts(views: usize, rows: usize, count: u32, unitsMax: u32, found: usize): u32 {
  let next = found;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    // A unit takes a byte at least.
    if (load<u32>(view, 4) <= unitsMax || load<u32>(view) == 0) continue;
    const start = <usize>load<u32>(view);
    if (unitsOf(start, start + <usize>load<u32>(view, 4)) <= unitsMax) continue;
    store<u32>(next, i);
    next += 4;
  }
  return <u32>(next - found) >> 2;
}

/** One for each character, two for those of four bytes. */
function unitsOf(start: usize, end: usize): u32 {
  let units: u32 = 0;
  for (let at = start; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}
