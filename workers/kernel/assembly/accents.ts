// Takes the accents off letters. Plain twin: stripAccents of values/text-edits.ts, which gets the cells with characters that the
// table does not have.
import { ACCENT_POINTS, AS_IT_IS } from '../layout/case';
import { hasHighByte } from './cell';

/**
 * Characters of two bytes become what `table` says (u16 by code point: one or two ASCII letters, AS_IT_IS, or 0: the cell is handed
 * back). Cells of ASCII keep their view. Gives the next free address, 0: there was no room.
 */
export function stripAccents(views: usize, rows: usize, count: u32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: usize = 0, back: usize = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<u32>(rows + (i << 2));
    const view = views + ((<usize>row) << 3);
    const start = <usize>load<u32>(view), end = start + <usize>load<u32>(view, 4);
    if (hasHighByte(start, end)) {
      if (next + (end - start) > limit) return 0;
      const out = plain(start, end, table, next);
      if (out == 0) {
        store<u32>(todo + (++back << 2), row);
        continue;
      }
      store<u32>(view, <u32>next);
      store<u32>(view, <u32>(out - next), 4);
      next = out;
    }
    store<u32>(rows + (kept++ << 2), row);
  }
  store<u32>(todo, <u32>back);
  return next;
}

/** Gives the address behind what was written, 0: a character is not in the table. */
function plain(p: usize, end: usize, table: usize, out: usize): usize {
  while (p < end) {
    const first = <u32>load<u8>(p);
    if (first < 0x80) {
      store<u8>(out++, <u8>first);
      p++;
      continue;
    }
    const code = ((first & 0x1f) << 6) | (<u32>load<u8>(p, 1) & 0x3f);
    const letters = first >= 0xe0 || code >= ACCENT_POINTS ? 0 : <u32>load<u16>(table + ((<usize>code) << 1));
    if (letters == 0) return 0;
    if (letters == AS_IT_IS) {
      store<u16>(out, load<u16>(p));
      out += 2;
    } else {
      store<u16>(out, <u16>letters);
      out += 1 + <usize>(letters > 0xff);
    }
    p += 2;
  }
  return out;
}
