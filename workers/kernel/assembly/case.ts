// Upper and lower case. ASCII in steps of 16 bytes, two-byte characters by a table, the rest is handed back.
import { hasHighByte, viewOf } from './cell';

/**
 * `firstLetter`: 97 makes upper case, 65 lower case. `table`: u16 per code point below U+0800, the code point it becomes,
 * 0 where that depends on more than the character or is not two bytes long. Cells that do not change keep their view.
 */
export function changeCase(views: usize, rows: usize, count: u32, firstLetter: i32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  const low = i8x16.splat(<i8>firstLetter), span = i8x16.splat(26), bit = i8x16.splat(32);
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4), e = s + length;
    if (next + length > limit) return 0;
    let p = s, t = next, changed = false, stuck = false;
    while (p < e) {
      const v = v128.load(p);
      const left = <u32>(e - p);
      const live: u32 = left < 16 ? (1 << left) - 1 : 0xffff;
      const letters = i8x16.lt_u(v128.sub<i8>(v, low), span);
      v128.store(t, v128.xor(v, v128.and(letters, bit)));
      const high = (<u32>i8x16.bitmask(v)) & live;
      const ascii: u32 = high ? <u32>ctz(high) : (left < 16 ? left : 16);
      if ((<u32>i8x16.bitmask(letters)) & ((1 << ascii) - 1)) changed = true;
      p += ascii;
      t += ascii;
      if (high == 0) continue;
      const c = <u32>load<u8>(p);
      if (c > 0xdf) { stuck = true; break; }
      const point = ((c & 31) << 6) | (<u32>load<u8>(p, 1) & 63);
      const becomes = <u32>load<u16>(table + ((<usize>point) << 1));
      if (becomes == 0) { stuck = true; break; }
      if (becomes != point) changed = true;
      store<u8>(t, <u8>(0xc0 | (becomes >> 6)));
      store<u8>(t, <u8>(0x80 | (becomes & 63)), 1);
      p += 2;
      t += 2;
    }
    if (stuck) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + (<usize>(kept++) << 2), row);
    if (!changed) continue;
    store<u32>(view, <u32>next);
    next = t;
  }
  store<u32>(todo, back);
  return next;
}

/** Words (`sentences` 0) or sentences (1) begin with a capital, all else is lower case. Only ASCII cells. */
export function capitalise(views: usize, rows: usize, count: u32, sentences: i32, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    if (hasHighByte(s, e)) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + (<usize>(kept++) << 2), row);
    if (next + (e - s) > limit) return 0;
    if (sentences) sentenceCase(s, e, next);
    else titleCase(s, e, next);
    store<u32>(view, s == 0 ? 0 : <u32>next);
    next += e - s;
  }
  store<u32>(todo, back);
  return next;
}

// @ts-ignore: decorator
@inline
function isLetter(c: u32): bool {
  return (c | 32) - 97 < 26;
}

/** A letter begins a word unless a letter or digit stands before it, or an apostrophe behind a letter. */
function titleCase(s: usize, e: usize, o: usize): void {
  let inWord = false, letterBefore = false;
  for (; s < e; s++, o++) {
    const c = <u32>load<u8>(s);
    if (isLetter(c)) {
      store<u8>(o, <u8>(inWord ? c | 32 : c & ~32));
      inWord = true;
      letterBefore = true;
      continue;
    }
    store<u8>(o, <u8>c);
    inWord = c - 48 < 10 || (c == 39 && letterBefore);
    letterBefore = false;
  }
}

/** The first letter of the cell, and the first behind `.`, `!` or `?` and a white space. */
function sentenceCase(s: usize, e: usize, o: usize): void {
  let begins = true, stopped = false;
  for (; s < e; s++, o++) {
    const c = <u32>load<u8>(s);
    if (isLetter(c)) {
      store<u8>(o, <u8>(begins ? c & ~32 : c | 32));
      begins = false;
      stopped = false;
      continue;
    }
    store<u8>(o, <u8>c);
    if (stopped && (c == 32 || c - 9 < 5)) begins = true;
    stopped = c == 46 || c == 33 || c == 63;
    if (c - 48 < 10) begins = false;
  }
}
