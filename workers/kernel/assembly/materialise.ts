// Turns one field of a raw table into clean views for the live rows: quotes stripped, doubled quotes undone, null texts
// resolved.
import { NEXT, POSITION, WANTED } from '../layout/materialise';
import { isNullText, mayBeNullText } from './null-texts';

/**
 * Goes on from POSITION to `live`, or until a cell does not fit before `limit` (WANTED tells how much it needs, else 0).
 * All 12 columns of orders: 1.3 GB/s from file to views, of which the views are a bit less than half; 8 quoted columns 0.9.
 * `entries`: address of the field's first entry; `step`: bytes from row to row. `texts` 0: none but the empty text.
 */
export function materialise(
  state: usize,
  entries: usize,
  step: usize,
  selection: usize,
  live: u32,
  views: usize,
  limit: usize,
  quote: u32,
  emptyIsNull: u32,
  texts: usize,
): void {
  const selectionEnd = selection + ((<usize>live) << 2);
  store<u32>(state, 0, WANTED);
  for (;;) {
    if (texts == 0) {
      const at = selection + ((<usize>load<u32>(state, POSITION)) << 2);
      const behind = bareViews(at, selectionEnd, entries, step, views, quote);
      store<u32>(state, <u32>((behind - selection) >> 2), POSITION);
    }
    if (load<u32>(state, POSITION) >= live) return;
    anyViews(state, entries, step, selection, live, views, limit, quote, emptyIsNull, texts);
    if (load<u32>(state, WANTED) != 0) return;
  }
}

/** The views of bare texts. Gives the place in the selection of the first cell that is none, or its end. */
function bareViews(at: usize, end: usize, entries: usize, step: usize, views: usize, quote: u32): usize {
  for (; at < end; at += 4) {
    const row = <usize>load<u32>(at);
    const entry = entries + row * step;
    const start = load<u32>(entry) + 1;
    const bytes = load<u32>(entry, 4) - start;
    if (<i32>bytes <= 0) break;
    if (<u32>load<u8>(<usize>start) == quote) break;
    const view = views + (row << 3);
    store<u32>(view, start);
    store<u32>(view, bytes, 4);
  }
  return at;
}

/** The views of any cells: up to the end, to one for which there is no room, or, where bare texts are views as they are, behind one of these. */
function anyViews(
  state: usize,
  entries: usize,
  step: usize,
  selection: usize,
  live: u32,
  views: usize,
  limit: usize,
  quote: u32,
  emptyIsNull: u32,
  texts: usize,
): void {
  let position = load<u32>(state, POSITION);
  let next = <usize>load<u32>(state, NEXT);
  let wanted: usize = 0;
  let bare = false;
  for (; position < live && !bare; position++) {
    const row = <usize>load<u32>(selection + ((<usize>position) << 2));
    const entry = entries + row * step;
    let start = <usize>load<u32>(entry) + 1;
    const end = <usize>load<u32>(entry, 4);
    const view = views + (row << 3);
    if (end <= start) {
      store<u64>(view, end < start || emptyIsNull ? 0 : <u64>start);
      continue;
    }
    let bytes = <u32>(end - start);
    bare = texts == 0;
    if (<u32>load<u8>(start) == quote) {
      bare = false;
      const inner = quotedBytes(start, end, quote);
      if (inner >= 0) {
        if (<u32>inner == bytes - 2) start++;
        else if (next + bytes > limit) {
          wanted = <usize>bytes;
          break;
        } else {
          undouble(start + 1, end - 1, next, quote);
          start = next;
          next += <usize>inner;
        }
        bytes = <u32>inner;
      }
    }
    const missing =
      bytes == 0 ? emptyIsNull != 0 : texts != 0 && mayBeNullText(texts, bytes) && isNullText(texts, start, bytes);
    store<u64>(view, missing ? 0 : <u64>start | ((<u64>bytes) << 32));
  }
  store<u32>(state, position, POSITION);
  store<u32>(state, <u32>next, NEXT);
  store<u32>(state, <u32>wanted, WANTED);
}

/** Bytes of the content of a field that begins with a quote, or -1 when text behind its closing quote makes it literal. */
function quotedBytes(start: usize, end: usize, quote: u32): i32 {
  const quotes = i8x16.splat(<i8>quote);
  let doubled: i32 = 0;
  let p = start + 1;
  const last = end - 1;
  if (p > last || <u32>load<u8>(last) != quote) return -1;
  while (p < last) {
    const hits = <u32>i8x16.bitmask(i8x16.eq(v128.load(p), quotes));
    if (hits == 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz(hits);
    if (p >= last) break;
    if (p + 1 == last || <u32>load<u8>(p, 1) != quote) return -1;
    doubled++;
    p += 2;
  }
  return <i32>(last - start) - 1 - doubled;
}

function undouble(from: usize, to: usize, target: usize, quote: u32): void {
  while (from < to) {
    const byte = <u32>load<u8>(from++);
    store<u8>(target++, <u8>byte);
    if (byte == quote) from++;
  }
}
