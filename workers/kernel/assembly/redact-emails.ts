// Puts a text in the place of e-mail addresses. Plain twin, which treats cells where an address would go on with a byte above
// 127: findPersonalData in values/personal-data.ts.
import { copy, viewOf } from './cell';

/** Characters of a name before the at sign, and of a label of the domain behind it, at most; labels behind the first. */
const NAME_MAX: usize = 64;
const LABEL_MAX: usize = 63;
const LABELS_MAX: u32 = 8;

const AT: u32 = 64;
const DOT: u32 = 46;

/** Whether a search ended at a character beyond ASCII, which may be a letter. */
let isWide: bool = false;

/** Gives the next free address, 0 when it does not fit. A cell that is too long gets a length above the ceiling. */
export function redactEmails(views: usize, rows: usize, count: u32, put: usize, putBytes: usize, cellBytesMax: usize, next: usize, limit: usize, todo: usize): usize {
  let kept: u32 = 0, back: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i), row = <u32>((view - views) >> 3);
    const s = <usize>load<u32>(view), e = s + <usize>load<u32>(view, 4);
    let o = next, from = s;
    isWide = false;
    for (let at = nextAt(s, e); at < e; at = nextAt(max(from, at + 1), e)) {
      const start = nameStart(from, at), end = start == at ? 0 : domainEnd(at + 1, e);
      if (isWide) break;
      if (end == 0) continue;
      if (o + (start - from) + putBytes + 32 > limit) return 0;
      if (o - next <= cellBytesMax) o = copy(copy(o, from, start), put, put + putBytes);
      from = end;
    }
    if (isWide) {
      store<u32>(todo + ((<usize>(++back)) << 2), row);
      continue;
    }
    store<u32>(rows + ((<usize>(kept++)) << 2), row);
    if (from == s) continue;
    if (o + (e - from) + 16 > limit) return 0;
    o = copy(o, from, e);
    const length = o - next;
    store<u64>(view, <u64>next | ((<u64>(length > cellBytesMax ? cellBytesMax + 1 : length)) << 32));
    // One byte stands behind each cell, so that an empty one differs from one that did not change.
    next = o + 1;
  }
  store<u32>(todo, back);
  return next;
}

/** The first at sign from p on, e when there is none. */
// @ts-ignore: decorator
@inline
function nextAt(p: usize, e: usize): usize {
  const wanted = i8x16.splat(<i8>AT);
  for (; p < e; p += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), wanted));
    if (mask != 0) return min(p + <usize>ctz(mask), e);
  }
  return e;
}

// @ts-ignore: decorator
@inline
function isLabel(c: u32): bool {
  return (c | 0x20) - 97 < 26 || c - 48 < 10 || c == 45;
}

/** Where the name before the at sign begins. */
function nameStart(from: usize, at: usize): usize {
  const least = at - from > NAME_MAX ? at - NAME_MAX : from;
  let p = at;
  for (; p > least; p--) {
    const c = <u32>load<u8>(p - 1);
    // Also . _ % and +.
    if (!isLabel(c) && c != DOT && c != 95 && c != 37 && c != 43) break;
  }
  if (p > least && <u32>load<u8>(p - 1) >= 0x80) isWide = true;
  return p;
}

/** Where the domain ends that begins at p; 0 when it is none. */
function domainEnd(p: usize, e: usize): usize {
  let end = labelEnd(p, e), labels: u32 = 0;
  if (end == p) return 0;
  for (; labels < LABELS_MAX && end < e && <u32>load<u8>(end) == DOT; labels++) {
    const next = labelEnd(end + 1, e);
    if (next == end + 1) break;
    end = next;
  }
  return labels == 0 ? 0 : end;
}

function labelEnd(p: usize, e: usize): usize {
  const most = e - p > LABEL_MAX ? p + LABEL_MAX : e;
  while (p < most && isLabel(<u32>load<u8>(p))) p++;
  if (p < most && <u32>load<u8>(p) >= 0x80) isWide = true;
  return p;
}
