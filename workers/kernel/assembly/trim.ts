// White space around and inside cells.
import { FALSE, TEXT_BYTES_MAX, TRUE, UNKNOWN, UNKNOWN_TEXT } from '../layout/expressions';
import { copy, spaceAt, spaceBefore, viewOf } from './cell';
import { isSettled, putState } from './states';

/** Narrows each view to what stands between its leading and trailing white space. Nothing is copied. */
export function trimViews(views: usize, rows: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const length = <usize>load<u32>(view, 4);
    if (length == 0) continue;
    const start = <usize>load<u32>(view);
    let s = start,
      e = start + length;
    if (!mayBeSpace(<u32>load<u8>(s)) && !mayEndSpace(<u32>load<u8>(e - 1))) continue;
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    while (e > s) {
      const n = spaceBefore(s, e);
      if (n == 0) break;
      e -= n;
    }
    if (e - s != length) {
      store<u32>(view, <u32>s);
      store<u32>(view, <u32>(e - s), 4);
    }
  }
}

/** Whether white space may begin with this byte. Without branches, as letters beyond ASCII come at any time. */
// @ts-ignore: decorator
@inline
function mayBeSpace(c: u32): bool {
  return (<u32>(c <= 32) | <u32>(c == 0xc2) | <u32>(c - 0xe1 < 3)) != 0;
}

/** Whether white space may end with this byte. */
// @ts-ignore: decorator
@inline
function mayEndSpace(c: u32): bool {
  return (<u32>(c <= 32) | <u32>(c - 0x80 < 0x30)) != 0;
}

/** Each run of white space becomes one space. Cells that are so already keep their view. */
export function collapseSpaces(views: usize, rows: usize, count: u32, next: usize, limit: usize): usize {
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view),
      e = s + <usize>load<u32>(view, 4);
    if (isCollapsed(s, e)) continue;
    if (next + (e - s) > limit) return 0;
    let o = next,
      from = s;
    while (from < e) {
      let to = from;
      while (to < e && spaceAt(to, e) == 0) to++;
      o = copy(o, from, to);
      if (to == e) break;
      store<u8>(o++, 32);
      from = to;
      while (from < e) {
        const n = spaceAt(from, e);
        if (n == 0) break;
        from += n;
      }
    }
    store<u32>(view, <u32>next);
    store<u32>(view, <u32>(o - next), 4);
    next = o;
  }
  return next;
}

/** No white space other than single spaces. */
function isCollapsed(s: usize, e: usize): bool {
  const space = i8x16.splat(32),
    nine = i8x16.splat(9),
    five = i8x16.splat(5);
  let before: u32 = 0, wide: u32 = 0;
  for (let p = s; p < e; p += 16) {
    const v = v128.load(p);
    const left = <u32>(e - p);
    const live: u32 = left < 16 ? (1 << left) - 1 : 0xffff;
    const spaces = <u32>i8x16.bitmask(i8x16.eq(v, space)) & live;
    const controls = <u32>i8x16.bitmask(i8x16.lt_u(v128.sub<i8>(v, nine), five)) & live;
    if (controls || spaces & ((spaces << 1) | before)) return false;
    before = (spaces >> 15) & 1;
    // First bytes of the wide white spaces: C2, and E1 to E3.
    const first = v128.or(i8x16.eq(v, i8x16.splat(-62)), i8x16.lt_u(v128.sub<i8>(v, i8x16.splat(-31)), i8x16.splat(3)));
    wide |= <u32>i8x16.bitmask(first) & live;
  }
  if (wide == 0) return true;
  for (let p = s; p < e; p++) if (load<u8>(p) >= 0xc2 && spaceAt(p, e) > 1) return false;
  return true;
}

/** Keeps those of `count` rows whose cell is null, empty or white space (the list is compacted). Gives how many. */
export function keepBlank(views: usize, rows: usize, count: u32): u32 {
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = views + ((<usize>row) << 3);
    let s = <usize>load<u32>(view);
    const e = s + <usize>load<u32>(view, 4);
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    if (s < e) continue;
    store<u32>(rows + ((<usize>kept) << 2), row);
    kept++;
  }
  return kept;
}

/** Keeps those of `count` rows whose cell is null or empty (the list is compacted). Gives how many. */
export function keepEmpty(views: usize, rows: usize, count: u32): u32 {
  let kept = rows;
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const view = load<u64>(views + ((<usize>row) << 3));
    store<u32>(kept, row);
    kept += (<usize>(<u32>view == 0 || view >> 32 == 0)) << 2;
  }
  return <u32>((kept - rows) >> 2);
}

/** Whether each text is null, empty or white space. */
export function matchBlank(views: usize, rows: usize, count: u32, states: usize, mode: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    if (isSettled(states, <usize>i, mode)) continue;
    const view = viewOf(views, rows, i);
    let s = <usize>load<u32>(view);
    const length = load<u32>(view, 4), e = s + <usize>length;
    if (s == <usize>UNKNOWN_TEXT || length > TEXT_BYTES_MAX) {
      putState(states, <usize>i, mode, UNKNOWN);
      continue;
    }
    while (s < e) {
      const n = spaceAt(s, e);
      if (n == 0) break;
      s += n;
    }
    putState(states, <usize>i, mode, s < e ? FALSE : TRUE);
  }
}
