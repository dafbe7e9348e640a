// Builds the row table of a CSV batch from the structurals of the scan, and converts raw fields into clean cells.
import { CR, LF } from '../layout/scan';
import {
  BEFORE,
  EMPTY_IS_NULL,
  EVENTS,
  EVENT_BYTES,
  EVENT_LENGTH,
  EVENT_ROW,
  EVENT_STRAYS,
  LENGTH_FITS,
  LENGTH_LONG,
  LENGTH_SHORT,
  MAY_BE_STRAY,
  PLAIN,
  RAGGED_FAILS,
  ROWS,
  STOP,
  STOP_AT,
  STOP_COLUMNS,
  STOP_RAGGED,
  STOP_STRAY,
  STOP_SWALLOWED,
  STRAY_FAILS,
  STRUCTURALS,
} from '../layout/ragged-rows';
import { NEXT, POSITION, WANTED } from '../layout/materialise';
import { isNullText, mayBeNullText } from './cell';

// Builds the row table of a batch from the structurals of uniform rows (RawTable in workers/batch/batch.ts).

/** Returns 1 if every `columns`-th structural ends a row. If no other structural is a row end, all rows are uniform. */
export function rowsAreUniform(structurals: usize, rows: u32, columns: u32): u32 {
  const step = (<usize>columns) << 2;
  let at = structurals + step - 4;
  for (let row: u32 = 0; row < rows; row++) {
    const byte = <u32>load<u8>(<usize>load<u32>(at));
    if (byte != LF && byte != CR) return 0;
    at += step;
  }
  return 1;
}

/**
 * Writes `rows` rows of `columns` + 1 entries to `table` (and overwrites 12 bytes after them). `before`: address of the
 * byte before the first row. Removes the CR of a CRLF from the last field. Returns the end of the last row. Throughput
 * of reading, UTF-8 check, scan and this function together: 2.2 to 2.7 GB/s on orders of 12 columns, 3 on 100 narrow
 * columns (see scan.ts).
 */
export function indexRows(structurals: usize, before: u32, rows: u32, columns: u32, table: usize): u32 {
  const step = (<usize>columns) << 2;
  for (let row: u32 = 0; row < rows; row++) {
    store<u32>(table, before);
    table += 4;
    for (let i: usize = 0; i < step; i += 16) v128.store(table + i, v128.load(structurals + i));
    structurals += step;
    table += step;
    before = load<u32>(structurals - 4);
    if (<u32>load<u8>(<usize>before) == LF && <u32>load<u8>(<usize>before - 1) == CR) store<u32>(table - 4, before - 1);
  }
  return before;
}

// Builds the row table from structurals if rows may be blank, too short or too long, or contain misplaced quotes.
// Processes one row at a time and records events to be reported.

/** Returned instead of a number of stray fields: one of them contains line breaks. */
const SWALLOWED: u32 = u32.MAX_VALUE;

/**
 * Writes up to `rowsMax` rows of `columns` + 1 entries to `table` from the structurals before `end` (the last one is a
 * row end). Stops before a row that must fail. Sets PLAIN to 0 if a field is missing.
 */
export function indexRaggedRows(
  state: usize,
  end: usize,
  rowsMax: u32,
  columns: u32,
  columnsMax: u32,
  table: usize,
  events: usize,
  rules: u32,
  quote: u32,
): void {
  let at = <usize>load<u32>(state, STRUCTURALS);
  let before = load<u32>(state, BEFORE);
  let rows: u32 = 0;
  let event = events;
  while (rows < rowsMax && at < end) {
    let after = at;
    let rowEnd: u32;
    let byte: u32;
    do {
      rowEnd = load<u32>(after);
      after += 4;
      byte = <u32>load<u8>(<usize>rowEnd);
    } while (byte != LF && byte != CR);
    const fields = <u32>((after - at) >> 2);
    const content = rowEnd - <u32>(byte == LF && rowEnd - before > 1 && <u32>load<u8>(<usize>rowEnd - 1) == CR);
    const blank = fields == 1 && content == before + 1;
    if (blank && columns != 1) {
      at = after;
      before = rowEnd;
      continue;
    }
    const extra = fields > columns && hasExtra(at, fields, columns, content, quote);
    const strays = rules & MAY_BE_STRAY ? countStrays(state, at, fields, before, content, quote) : 0;
    const short = fields < columns;
    const stop =
      fields > columnsMax
        ? STOP_COLUMNS
        : strays == SWALLOWED
          ? STOP_SWALLOWED
          : rules & RAGGED_FAILS && (extra || short)
            ? STOP_RAGGED
            : rules & STRAY_FAILS && strays != 0
              ? STOP_STRAY
              : 0;
    if (stop != 0) {
      store<u32>(state, stop, STOP);
      break;
    }
    if (extra || short || strays != 0) {
      store<u32>(event, rows, EVENT_ROW);
      store<u32>(event, extra ? LENGTH_LONG : short ? LENGTH_SHORT : LENGTH_FITS, EVENT_LENGTH);
      store<u32>(event, strays, EVENT_STRAYS);
      event += EVENT_BYTES;
    }
    const missing = short || (blank && (rules & EMPTY_IS_NULL) == 0);
    writeRow(table, at, blank && missing ? 0 : fields, columns, before, content);
    if (missing) store<u32>(state, 0, PLAIN);
    table += (<usize>columns + 1) << 2;
    rows++;
    at = after;
    before = rowEnd;
  }
  store<u32>(state, <u32>at, STRUCTURALS);
  store<u32>(state, before, BEFORE);
  store<u32>(state, rows, ROWS);
  store<u32>(state, <u32>((event - events) / EVENT_BYTES), EVENTS);
}

function writeRow(table: usize, at: usize, fields: u32, columns: u32, before: u32, content: u32): void {
  store<u32>(table, before);
  let last = before;
  for (let column: u32 = 0; column < columns; column++) {
    if (column < fields) last = column + 1 == fields ? content : load<u32>(at + ((<usize>column) << 2));
    table += 4;
    store<u32>(table, last);
  }
}

function hasExtra(at: usize, fields: u32, columns: u32, content: u32, quote: u32): bool {
  for (let field = columns; field < fields; field++) {
    const start = load<u32>(at + ((<usize>field) << 2) - 4) + 1;
    const bytes = (field + 1 == fields ? content : load<u32>(at + ((<usize>field) << 2))) - start;
    const empty =
      bytes == 0 || (bytes == 2 && <u32>load<u8>(<usize>start) == quote && <u32>load<u8>(<usize>start, 1) == quote);
    if (!empty) return true;
  }
  return false;
}

/**
 * Number of fields with text after their closing quote. The address of the first one goes to STOP_AT. If one of them
 * contains line breaks, returns SWALLOWED, and STOP_AT is the address of that field.
 */
function countStrays(state: usize, at: usize, fields: u32, before: u32, content: u32, quote: u32): u32 {
  let strays: u32 = 0;
  let start = <usize>before + 1;
  for (let field: u32 = 0; field < fields; field++) {
    const end = <usize>(field + 1 == fields ? content : load<u32>(at + ((<usize>field) << 2)));
    if (start < end && <u32>load<u8>(start) == quote && isStray(start, end, quote)) {
      if (holdsLineBreak(start, end)) {
        store<u32>(state, <u32>start, STOP_AT);
        return SWALLOWED;
      }
      if (strays == 0) store<u32>(state, <u32>start, STOP_AT);
      strays++;
    }
    start = end + 1;
  }
  return strays;
}

function isStray(start: usize, end: usize, quote: u32): bool {
  for (let p = start + 1; p < end; p++) {
    if (<u32>load<u8>(p) != quote) continue;
    if (p + 1 == end) return false;
    if (<u32>load<u8>(p, 1) != quote) return true;
    p++;
  }
  return true;
}

/**
 * True if a stray field contains a line break. The line break is then inside the quotes, because text after a closing
 * quote ends at the row's end.
 */
function holdsLineBreak(start: usize, end: usize): bool {
  for (let p = start; p < end; p++) if (<u32>load<u8>(p) == LF || <u32>load<u8>(p) == CR) return true;
  return false;
}

// Converts one field of a raw table into clean views for the live rows: removes quotes, replaces doubled quotes by
// single ones, and resolves null texts.

/**
 * Continues from POSITION to `live`, or until a cell does not fit before `limit`. WANTED is then the number of bytes it
 * needs, otherwise 0. Throughput: 1.3 GB/s from file to views for all 12 columns of orders, a bit less than half of it
 * spent here, and 0.9 for 8 quoted columns. `entries`: address of the field's first entry. `step`: bytes from row to
 * row. `texts` 0: only the empty text means null.
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
      const after = bareViews(at, selectionEnd, entries, step, views, quote);
      store<u32>(state, <u32>((after - selection) >> 2), POSITION);
    }
    if (load<u32>(state, POSITION) >= live) return;
    anyViews(state, entries, step, selection, live, views, limit, quote, emptyIsNull, texts);
    if (load<u32>(state, WANTED) != 0) return;
  }
}

/** Writes the views of unquoted texts. Returns the selection address of the first other cell, or the end. */
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

/**
 * Writes the views of cells of any form. Stops at the end, or at a cell that does not fit. It also stops after an
 * unquoted text that can be used directly as a view, because bareViews handles a sequence of those faster.
 */
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

/**
 * Length of the content of a field that begins with a quote. Returns -1 if text after the closing quote makes the
 * quotes literal.
 */
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
