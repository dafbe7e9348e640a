// Kernels that change single letters of text cells: upper and lower case, and removal of accents.
import { ACCENT_POINTS, AS_IT_IS, FAR_FIRST, NEAR_POINTS, TO_UPPER } from '../layout/texts';
import { hasHighByte, viewOf } from './cell';

// Upper and lower case. ASCII and Latin-1 letters change in steps of 16 bytes, and other characters by a table or in
// blocks. Remaining cells are left to the scalar implementation.

const FAR_SHIFT: u32 = FAR_FIRST - NEAR_POINTS;

/**
 * `firstLetter`: TO_UPPER or TO_LOWER. `table`: the u16 code point that each code point becomes, for U+0000 to U+07FF
 * and then U+1E00 to U+1FFF. An entry is 0 if the result depends on neighbouring characters or has another length in
 * bytes. Cells that do not change keep their view.
 */
export function changeCase(views: usize, rows: usize, count: u32, firstLetter: u32, table: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  const low = i8x16.splat(<i8>firstLetter), span = i8x16.splat(25), bit = i8x16.splat(32);
  // Latin-1 letters are the lead byte C3 and a second byte. These are the second bytes that change, and the two whose
  // result only the table knows.
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
        const after = i8x16.shuffle(leads, i8x16.splat(0), 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
        const latin = v128.andnot(i8x16.le_u(v128.sub<i8>(v, latinLow), latinSpan), i8x16.eq(v, sign));
        letters = v128.or(letters, v128.and(latin, after));
        const strange = v128.or(i8x16.eq(v, i8x16.splat(-97)), i8x16.eq(v, i8x16.splat(-65)));
        const known = <u32>i8x16.bitmask(v128.andnot(after, strange));
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

/** The non-ASCII character at p if the table contains it, otherwise 0. */
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

/**
 * Length in bytes of the character at p if its whole Unicode block is without case (symbols, Asian scripts,
 * pictographs), otherwise 0.
 */
function caseless(p: usize): usize {
  const c = <u32>load<u8>(p), d = <u32>load<u8>(p, 1);
  if (c == 0xe2) return d < 0x84 ? 3 : 0;
  if (c >= 0xe3 && c <= 0xed) return c == 0xea ? 0 : 3;
  return (c == 0xf0 && d >= 0x9f) || c > 0xf0 ? 4 : 0;
}

/**
 * Capitalises the first letter of each word (`sentences` 0) or sentence (1) and converts all others to lower case.
 * ASCII cells only.
 */
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

/** A letter begins a word unless it follows a letter, a digit, or an apostrophe after a letter. */
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

/** Capitalises the first letter of the cell, and the first letter after `.`, `!` or `?` and white space. */
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

// Changes the case of ASCII letters and keeps all other characters. Scalar reference implementation: upperAscii and
// lowerAscii in values/text-edits.ts.

const LETTERS: i8 = 26;
const CASE_BIT: i8 = 0x20;

/**
 * Changes the case of the 26 letters from `first` on. Cells without such letters keep their view. Returns the next free
 * address, or 0 if the arena is full.
 */
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

// Removes accents from letters. Scalar reference implementation: stripAccents in values/text-edits.ts, which receives
// the cells with characters outside the table.

/**
 * Replaces characters of two bytes by their entry in `table` (u16 by code point: one or two ASCII letters, AS_IT_IS, or
 * 0 to list the cell in `todo`). ASCII cells keep their view. Returns the next free address, or 0 if the arena is full.
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

/** Returns the address after the written text, or 0 if a character is not in the table. */
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
