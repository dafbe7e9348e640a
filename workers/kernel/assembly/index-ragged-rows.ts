// Turns structurals into the row table where rows may be blank, short, long, or hold quotes out of place: one row at a
// time, noting what is to be reported.
import { BEFORE, EMPTY_IS_NULL, EVENT_BYTES, EVENT_EXTRA, EVENT_ROW, EVENT_STRAYS, EVENTS, MAY_BE_STRAY, PLAIN, RAGGED_FAILS, ROWS, STOP, STOP_AT, STOP_COLUMNS, STOP_RAGGED, STOP_STRAY, STRAY_FAILS, STRUCTURALS } from '../layout/ragged-rows';
import { CR, LF } from '../layout/scan';

/**
 * Makes up to `rowsMax` rows of `columns` + 1 entries at `table` from the structurals before `end` (which ends with a
 * row end). Stops before a row that must fail. PLAIN becomes 0 when a field is missing.
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
    let behind = at;
    let rowEnd: u32;
    let byte: u32;
    do {
      rowEnd = load<u32>(behind);
      behind += 4;
      byte = <u32>load<u8>(<usize>rowEnd);
    } while (byte != LF && byte != CR);
    const fields = <u32>((behind - at) >> 2);
    const content = rowEnd - <u32>(byte == LF && rowEnd - before > 1 && <u32>load<u8>(<usize>rowEnd - 1) == CR);
    const blank = fields == 1 && content == before + 1;
    if (blank && columns != 1) {
      at = behind;
      before = rowEnd;
      continue;
    }
    const extra = fields > columns && hasExtra(at, fields, columns, content, quote);
    const strays = rules & MAY_BE_STRAY ? countStrays(state, at, fields, before, content, quote) : 0;
    const stop =
      fields > columnsMax
        ? STOP_COLUMNS
        : rules & RAGGED_FAILS && (extra || fields < columns)
          ? STOP_RAGGED
          : rules & STRAY_FAILS && strays != 0
            ? STOP_STRAY
            : 0;
    if (stop != 0) {
      store<u32>(state, stop, STOP);
      break;
    }
    if (extra || strays != 0) {
      store<u32>(event, rows, EVENT_ROW);
      store<u32>(event, <u32>extra, EVENT_EXTRA);
      store<u32>(event, strays, EVENT_STRAYS);
      event += EVENT_BYTES;
    }
    const missing = fields < columns || (blank && (rules & EMPTY_IS_NULL) == 0);
    writeRow(table, at, blank && missing ? 0 : fields, columns, before, content);
    if (missing) store<u32>(state, 0, PLAIN);
    table += (<usize>columns + 1) << 2;
    rows++;
    at = behind;
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

/** Fields with text behind their closing quote; the first one's address goes to STOP_AT. */
function countStrays(state: usize, at: usize, fields: u32, before: u32, content: u32, quote: u32): u32 {
  let strays: u32 = 0;
  let start = <usize>before + 1;
  for (let field: u32 = 0; field < fields; field++) {
    const end = <usize>(field + 1 == fields ? content : load<u32>(at + ((<usize>field) << 2)));
    if (start < end && <u32>load<u8>(start) == quote && isStray(start, end, quote)) {
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
