// Upper and lower case. ASCII and Latin-1 in steps of 16 bytes, others by a table or by blocks, the rest is handed back.
import { FAR_FIRST, NEAR_POINTS, TO_UPPER } from '../layout/case';
import { hasHighByte, viewOf } from './cell';

const FAR_SHIFT: u32 = FAR_FIRST - NEAR_POINTS;

/**
 * `firstLetter`: TO_UPPER or TO_LOWER. `table`: u16 for each code point below U+0800 and then for U+1E00 to
 * U+1FFF, the code point it becomes, 0 where that depends on more than the character or takes another number of bytes.
 * Cells that do not change keep their view.
 */
export function changeCase(views: usize, rows: usize, count: u32, firstLetter: u32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  const low = i8x16.splat(<i8>firstLetter), span = i8x16.splat(25), bit = i8x16.splat(32);
  // Letters of Latin-1 behind their first byte C3: those that change, and the two on whose ways only the table knows.
  const lead = i8x16.splat(-61), latinLow = i8x16.splat(firstLetter == TO_UPPER ? -96 : -128), latinSpan = i8x16.splat(30);
  const sign = i8x16.splat(firstLetter == TO_UPPER ? -73 : -105);
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    const s = <usize>load<u32>(view), length = <usize>load<u32>(view, 4), e = s + length;
    if (next + length > limit) return 0;
    let p = s, t = next, changed: u32 = 0, stuck = false;
    while (p < e) {
      const v = v128.load(p);
      const left = <u32>(e - p);
      let letters = i8x16.le_u(v128.sub<i8>(v, low), span);
      let high = <u32>i8x16.bitmask(v);
      if (high != 0) {
        const leads = i8x16.eq(v, lead);
        const behind = i8x16.shuffle(leads, i8x16.splat(0), 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
        const latin = v128.andnot(i8x16.le_u(v128.sub<i8>(v, latinLow), latinSpan), i8x16.eq(v, sign));
        letters = v128.or(letters, v128.and(latin, behind));
        const strange = v128.or(i8x16.eq(v, i8x16.splat(-97)), i8x16.eq(v, i8x16.splat(-65)));
        const known = <u32>i8x16.bitmask(v128.andnot(behind, strange));
        high &= ~(known | (known >> 1));
      }
      v128.store(t, v128.xor(v, v128.and(letters, bit)));
      const end: u32 = left < 16 ? left : 16;
      const sound = min(<u32>ctz(high | 0x10000), end);
      changed |= <u32>i8x16.bitmask(letters) & ((1 << sound) - 1);
      p += sound;
      t += sound;
      if (sound == end) continue;
      const point = pointAt(p);
      const bytes: usize = point < NEAR_POINTS ? 2 : 3;
      const becomes = point == 0 ? 0 : <u32>load<u16>(table + ((<usize>(bytes == 2 ? point : point - FAR_SHIFT)) << 1));
      if (becomes == 0) {
        const same = caseless(p);
        if (same == 0) { stuck = true; break; }
        store<u32>(t, load<u32>(p));
        p += same;
        t += same;
        continue;
      }
      changed |= <u32>(becomes != point);
      putPoint(t, becomes);
      p += bytes;
      t += bytes;
    }
    if (stuck) {
      back++;
      store<u32>(todo + ((<usize>back) << 2), row);
      continue;
    }
    store<u32>(rows + (<usize>(kept++) << 2), row);
    if (changed == 0) continue;
    store<u32>(view, <u32>next);
    next = t;
  }
  store<u32>(todo, back);
  return next;
}

/** The character above ASCII at p that the table knows, else 0. */
// @ts-ignore: decorator
@inline
function pointAt(p: usize): u32 {
  const c = <u32>load<u8>(p), d = <u32>load<u8>(p, 1) & 63;
  if (c <= 0xdf) return ((c & 31) << 6) | d;
  return c == 0xe1 && d >= 0x38 ? 0x1000 | (d << 6) | (<u32>load<u8>(p, 2) & 63) : 0;
}

// @ts-ignore: decorator
@inline
function putPoint(t: usize, point: u32): void {
  const last = (0x80 | (point & 63)) << 8;
  if (point < FAR_FIRST) store<u16>(t, <u16>(0xc0 | (point >> 6) | last));
  else {
    store<u8>(t, 0xe1);
    store<u16>(t, <u16>(0x80 | ((point >> 6) & 63) | last), 1);
  }
}

/** Bytes of the character at p where none of its block has case: signs, scripts of Asia, pictures; else 0. */
function caseless(p: usize): usize {
  const c = <u32>load<u8>(p), d = <u32>load<u8>(p, 1);
  if (c == 0xe2) return d < 0x84 ? 3 : 0;
  if (c >= 0xe3 && c <= 0xed) return c == 0xea ? 0 : 3;
  return (c == 0xf0 && d >= 0x9f) || c > 0xf0 ? 4 : 0;
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
