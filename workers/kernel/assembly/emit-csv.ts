// Writes live rows as CSV: cell by cell, or in one copy per row if the cells are neighbouring raw fields.
import {
  CELL_CLASSES,
  CLASS_BLANK,
  CLASS_GUARD,
  CLASS_NULL,
  CLASS_QUOTE,
  CLASS_SIGN,
  DECIMAL_MARK,
  DELIMITER,
  DELIMITER_LENGTH,
  EMPTY_IS_NULL,
  EMPTY_IS_SPECIAL,
  FALSE_AT,
  FALSE_LENGTH,
  FLAGS,
  FLAG_GUARD,
  FLAG_KINDS,
  FLAG_QUOTE,
  FLAG_QUOTE_EMPTY,
  FLAG_QUOTE_NATIVE,
  FLAG_SCAN,
  GUARDED,
  HEAD_BYTES,
  KIND,
  KIND_DATE,
  KIND_DATETIME,
  KIND_DECIMAL,
  KIND_FIELD,
  KIND_INTEGER,
  KIND_RUN,
  KIND_VIEWS,
  LINE_ENDING,
  LINE_ENDING_LENGTH,
  NULLS_AT,
  NULLS_COUNT,
  NULL_AT,
  NULL_LENGTH,
  OUT_NEXT,
  QUOTE,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  EXTRA_BYTES_MAX,
  RUNS_ONLY,
  RUN_CLASSES,
  SECOND,
  SOURCE,
  STEPS,
  STEP_BYTES,
  STOP_AT_FORMULA,
  TRUE_AT,
  TRUE_LENGTH,
} from '../layout/output-program';
import {
  SPECIAL,
  TYPED_BYTES_MAX,
  copyOver,
  copyRange,
  copyShort,
  copyWide,
  maskOf,
  putDate,
  putDatetime,
  putDecimal,
  putInteger,
} from './emit-cells';
import { afterBlanks, isHarmlessSigned, isHarmlessWide, isShortTelephone, wideSign } from './formula';
import { KIND_JSON, KIND_TEXT, META_NULL } from '../layout/cells';

// Writes text cells as CSV: null, empty, unquoted or quoted, with the formula guard. layout/output-program.ts describes
// the program.

/** Writes the content of a raw field. If the field is quoted, its quotes are removed first. */
function field(program: usize, step: usize, start: usize, end: usize, out: usize): usize {
  let doubled = false;
  if (start < end && load<u32>(program, RAW_QUOTE) == QUOTE && load<u8>(start) == <u8>QUOTE) {
    doubled = true;
    start++;
    end--;
  }
  return start >= end
    ? empty(program, step, out)
    : isNull(program, start, end)
      ? putNull(step, out)
      : text(program, step, start, end, doubled, out);
}

function putNull(step: usize, out: usize): usize {
  const start = <usize>load<u32>(step, NULL_AT);
  return copyOver(out, start, start + <usize>load<u32>(step, NULL_LENGTH));
}

function empty(program: usize, step: usize, out: usize): usize {
  if (load<u32>(program, EMPTY_IS_NULL)) return putNull(step, out);
  return emptyText(step, out);
}

function emptyText(step: usize, out: usize): usize {
  if (!(load<u32>(step, FLAGS) & (FLAG_QUOTE | FLAG_QUOTE_EMPTY))) return out;
  store<u16>(out, 0x2222);
  return out + 2;
}

/** Writes a text. With `doubled` the text is the inside of a quoted field, so its quotes are doubled. */
function text(program: usize, step: usize, start: usize, end: usize, doubled: bool, out: usize): usize {
  if (start == end) return emptyText(step, out);
  const flags = load<u32>(step, FLAGS);
  const guarded = flags & FLAG_GUARD ? isFormula(program, start, end) : false;
  if (guarded) store<u32>(program, load<u32>(program, GUARDED) + 1, GUARDED);
  if (!(flags & FLAG_QUOTE)) {
    const next = bare(program, start, end, guarded, out);
    if (next != 0) return next;
  }
  return quoted(start, end, guarded, doubled, out);
}

/** Copies the text while searching for bytes that need quotes. Returns 0 if it finds one. */
function bare(program: usize, start: usize, end: usize, guarded: bool, out: usize): usize {
  let target = out;
  if (guarded) store<u8>(target++, 0x27);
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at);
    v128.store(target + (at - start), bytes);
    const mask = maskOf(specialBytes(program, bytes), end - at);
    if (mask != 0 && isSpecial(program, at, mask, end)) return 0;
  }
  return target + (end - start);
}

function quoted(start: usize, end: usize, guarded: bool, doubled: bool, out: usize): usize {
  store<u8>(out++, <u8>QUOTE);
  if (guarded) store<u8>(out++, 0x27);
  if (doubled) out = copyOver(out, start, end);
  else {
    const quotes = i8x16.splat(<i8>QUOTE);
    let at = start;
    while (at < end) {
      const bytes = v128.load(at);
      v128.store(out, bytes);
      const left = end - at;
      const mask = maskOf(<u32>i8x16.bitmask(i8x16.eq(bytes, quotes)), left);
      const length = mask != 0 ? <usize>ctz(mask) + 1 : left < 16 ? left : 16;
      at += length;
      out += length;
      if (mask != 0) store<u8>(out++, <u8>QUOTE);
    }
  }
  store<u8>(out, <u8>QUOTE);
  return out + 1;
}

function isFormula(program: usize, start: usize, end: usize): bool {
  const classes = <usize>load<u32>(program, CELL_CLASSES);
  const kind = <u32>load<u8>(classes + <usize>load<u8>(start)) & (CLASS_GUARD | CLASS_SIGN | CLASS_BLANK);
  if (kind == 0) return false;
  if (kind == CLASS_BLANK) return isFormulaBehindBlanks(classes, start, end);
  return (kind & CLASS_GUARD) != 0 || !isHarmlessSigned(start, end);
}

/** True for a sign after blanks, or a full-width sign, if `isFormula` would guard the cell. */
function isFormulaBehindBlanks(classes: usize, start: usize, end: usize): bool {
  const at = afterBlanks(start, end);
  if (at >= end) return false;
  const wide = wideSign(at, end);
  const sign = wide != 0 ? wide : <u32>load<u8>(at);
  const kind = <u32>load<u8>(classes + <usize>sign) & (CLASS_GUARD | CLASS_SIGN);
  if (kind == 0 || sign == 0) return false;
  if ((kind & CLASS_GUARD) != 0) return true;
  return !(wide != 0 ? isHarmlessWide(at + 2, end) : isHarmlessSigned(at, end));
}

/** True if a non-empty text is one of the texts that mean "missing". */
export function isNull(program: usize, start: usize, end: usize): bool {
  if (!(load<u8>(<usize>load<u32>(program, CELL_CLASSES) + <usize>load<u8>(start)) & CLASS_NULL)) return false;
  let entry = <usize>load<u32>(program, NULLS_AT);
  const entryEnd = entry + ((<usize>load<u32>(program, NULLS_COUNT)) << 3);
  for (; entry < entryEnd; entry += 8) {
    const length = <usize>load<u32>(entry, 4);
    if (length == end - start && memory.compare(<usize>load<u32>(entry), start, length) == 0) return true;
  }
  return false;
}

function holdsSpecial(program: usize, start: usize, end: usize): bool {
  for (let at = start; at < end; at += 16) {
    const mask = maskOf(specialBytes(program, v128.load(at)), end - at);
    if (mask != 0 && isSpecial(program, at, mask, end)) return true;
  }
  return false;
}

/** Bit mask of the delimiter's first byte, quotes, CR and LF. */
function specialBytes(program: usize, bytes: v128): u32 {
  const delimiters = i8x16.eq(bytes, v128.load8_splat(program + DELIMITER));
  const quotes = i8x16.eq(bytes, i8x16.splat(<i8>QUOTE));
  const lines = v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d)));
  return <u32>i8x16.bitmask(v128.or(v128.or(delimiters, quotes), lines));
}

/** In a delimiter of several bytes, the first byte alone does not count. */
function isSpecial(program: usize, at: usize, mask: u32, end: usize): bool {
  const length = <usize>load<u32>(program, DELIMITER_LENGTH);
  if (length == 1) return true;
  const wanted = load<u32>(program, DELIMITER);
  const keep: u32 = length == 4 ? 0xffffffff : (1 << ((<u32>length) << 3)) - 1;
  for (let rest = mask; rest != 0; rest &= rest - 1) {
    const hit = at + <usize>ctz(rest);
    const byte = load<u8>(hit);
    if (byte == <u8>QUOTE || byte == 0x0a || byte == 0x0d) return true;
    if (hit + length <= end && (load<u32>(hit) & keep) == wanted) return true;
  }
  return false;
}

// Writes live rows as CSV if all cells of a row are neighbouring raw fields of plain rows and the delimiter is
// unchanged, for example after select, filter and rename. Most fields are unchanged, which their first bytes show, so
// whole ranges are copied.

/** Extra bytes of a line ending. */
const LINE_BYTES: usize = 16;

/** Like emitCsv, for programs with RUNS_ONLY. */
function emitRuns(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const rawAt = <usize>load<u32>(program, RAW_AT);
  const strideBytes = <usize>load<u32>(program, RAW_STRIDE_BYTES);
  const delimiter = load<u8>(program, DELIMITER);
  const lineEnding = load<u32>(program, LINE_ENDING);
  const lineEndingLength = <usize>load<u32>(program, LINE_ENDING_LENGTH);
  const classes = <usize>load<u32>(program, RUN_CLASSES);
  const steps = program + HEAD_BYTES;
  const stepsEnd = steps + <usize>load<u32>(program, STEPS) * STEP_BYTES;
  let at = out;
  let position = from;
  for (; position < to; position++) {
    const row = rawAt + <usize>load<u32>(selection + ((<usize>position) << 2)) * strideBytes;
    const guardedBefore = load<u32>(program, GUARDED);
    let next = at;
    let step = steps;
    for (; step < stepsEnd; step += STEP_BYTES) {
      let entry = row + <usize>load<u32>(step, SOURCE);
      const lastEntry = row + <usize>load<u32>(step, SECOND);
      const start = <usize>load<u32>(entry) + 1;
      const end = <usize>load<u32>(lastEntry, 4);
      if (next + (end - start) + <usize>load<u32>(step, EXTRA_BYTES_MAX) > limit) break;
      let kinds = <u32>load<u8>(classes + <usize>load<u8>(start));
      for (entry += 4; entry <= lastEntry; entry += 4) kinds |= <u32>load<u8>(classes + <usize>load<u8>(<usize>load<u32>(entry), 1));
      next = kinds == 0 ? copyRange(next, start, end) : copyRun(program, step, row, next);
      store<u8>(next++, delimiter);
    }
    if (step < stepsEnd || next + LINE_BYTES > limit) {
      store<u32>(program, guardedBefore, GUARDED);
      break;
    }
    store<u32>(next - 1, lineEnding);
    at = next - 1 + lineEndingLength;
  }
  store<u32>(program, <u32>at, OUT_NEXT);
  return position - from;
}

/**
 * Copies neighbouring raw fields as one range. A field that changes under the output's rules is written separately, and
 * the fields before and after it are still copied as ranges.
 */
function copyRun(program: usize, step: usize, row: usize, out: usize): usize {
  let entry = row + <usize>load<u32>(step, SOURCE);
  const lastEntry = row + <usize>load<u32>(step, SECOND);
  const end = <usize>load<u32>(lastEntry, 4);
  let start = <usize>load<u32>(entry) + 1;
  const classes = <usize>load<u32>(program, RUN_CLASSES);
  const cellClasses = <usize>load<u32>(program, CELL_CLASSES);
  const emptyIsSpecial = load<u32>(program, EMPTY_IS_SPECIAL);
  const delimiter = load<u8>(program, DELIMITER);
  const delimiters = i8x16.splat(delimiter), quotes = v128.load8_splat(SPECIAL);
  const feeds = v128.load8_splat(SPECIAL, 1), returns = v128.load8_splat(SPECIAL, 2);
  for (; entry <= lastEntry; entry += 4) {
    const fieldStart = <usize>load<u32>(entry) + 1;
    const kind = load<u8>(classes + <usize>load<u8>(fieldStart));
    if (kind == 0 && emptyIsSpecial == 0) continue;
    const fieldEnd = <usize>load<u32>(entry, 4);
    let next: usize;
    if (kind & CLASS_QUOTE) {
      // Most quotes are unnecessary, so the unquoted copy is tried first.
      if (fieldStart > start) out = copyOver(out, start, fieldStart);
      start = fieldStart;
      const isCommon = fieldEnd - fieldStart > 2 && load<u8>(cellClasses + <usize>load<u8>(fieldStart, 1)) == 0;
      if (isCommon) next = bareInside(fieldStart + 1, fieldEnd - 1, out, delimiters, quotes, feeds, returns);
      else next = unquoted(program, step, fieldStart + 1, fieldEnd - 1, out);
      if (next == 0) continue;
    } else {
      // Most cells with a sign are telephone numbers.
      if (kind == CLASS_SIGN && isShortTelephone(fieldStart, fieldEnd)) continue;
      if (!isAltered(program, fieldStart, fieldEnd)) continue;
      if (fieldStart > start) out = copyOver(out, start, fieldStart);
      next = field(program, step, fieldStart, fieldEnd, out);
    }
    out = next;
    start = fieldEnd + 1;
    if (entry < lastEntry) store<u8>(out++, delimiter);
  }
  return start > end ? out : copyWide(out, start, end);
}

/**
 * Copies the text while searching for bytes that need quotes. Returns 0 if it finds one. For delimiters of one byte.
 */
// @ts-ignore: decorator
@inline
function bareInside(start: usize, end: usize, out: usize, delimiters: v128, quotes: v128, feeds: v128, returns: v128): usize {
  const length = end - start;
  for (let i: usize = 0; i < length; i += 32) {
    const bare = <usize>ctz(copyShort(out + i, start + i, delimiters, quotes, feeds, returns));
    if (bare < min<usize>(length - i, 32)) return 0;
  }
  return out + length;
}

/** True if an unquoted field of a run must be changed. */
function isAltered(program: usize, start: usize, end: usize): bool {
  if (start >= end) return load<u32>(program, EMPTY_IS_SPECIAL) != 0;
  return isNull(program, start, end) || isFormula(program, start, end);
}

/** Writes the inside of a quoted field of a run. Returns 0 if the field keeps its quotes and is unchanged. */
function unquoted(program: usize, step: usize, start: usize, end: usize, out: usize): usize {
  if (start == end) return empty(program, step, out);
  if (load<u8>(<usize>load<u32>(program, CELL_CLASSES) + <usize>load<u8>(start)) != 0) {
    if (isNull(program, start, end)) return putNull(step, out);
    if (isFormula(program, start, end)) return text(program, step, start, end, true, out);
  }
  return bare(program, start, end, false, out);
}

// Writes live rows as CSV. workers/output/csv/csv-program.ts builds the program in memory (layout/output-program.ts).
// Each row is written completely or not at all: before each step, the maximum length of its cells is compared with the
// free memory.

/** Extra bytes of a cell (doubled in the worst case): two quotes, the guard's mark, delimiter, line ending. */
const CELL_EXTRA_BYTES: usize = 16;

/**
 * Writes the rows at positions [from, to) of the selection to [out, limit) and returns the number of rows written.
 * Overwrites up to 16 bytes after `limit`. Sets the program's OUT_NEXT to the address after the last row, and adds the
 * guarded formulas to GUARDED. With STOP_AT_FORMULA, it stops after the first row with a formula.
 */
export function emitCsv(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const rawAt = <usize>load<u32>(program, RAW_AT);
  const strideBytes = <usize>load<u32>(program, RAW_STRIDE_BYTES);
  const delimiter = load<u32>(program, DELIMITER);
  const delimiterLength = <usize>load<u32>(program, DELIMITER_LENGTH);
  // Loaded from memory, because the compiler would otherwise recompute them for each cell.
  const delimiters = v128.load8_splat(program, DELIMITER), quotes = v128.load8_splat(SPECIAL);
  const feeds = v128.load8_splat(SPECIAL, 1), returns = v128.load8_splat(SPECIAL, 2);
  const classes = <usize>load<u32>(program, CELL_CLASSES), runClasses = <usize>load<u32>(program, RUN_CLASSES);
  const emptyIsSpecial = load<u32>(program, EMPTY_IS_SPECIAL);
  const steps = program + HEAD_BYTES;
  const stepsEnd = steps + <usize>load<u32>(program, STEPS) * STEP_BYTES;
  const stopAtFormula = load<u32>(program, STOP_AT_FORMULA) != 0;
  let at = out;
  let position = from;
  if (load<u32>(program, RUNS_ONLY)) {
    position += emitRuns(program, selection, from, to, out, limit);
    at = <usize>load<u32>(program, OUT_NEXT);
  }
  for (; position < to; position++) {
    const physical = <usize>load<u32>(selection + ((<usize>position) << 2));
    const row = rawAt + physical * strideBytes;
    const guardedBefore = load<u32>(program, GUARDED);
    const rowOut = at;
    let next = at;
    for (let step = steps; step < stepsEnd; step += STEP_BYTES) {
      const kind = load<u32>(step, KIND);
      if (kind == KIND_VIEWS) {
        const view = <usize>load<u32>(step, SOURCE) + (physical << 3);
        const start = <usize>load<u32>(view), length = <usize>load<u32>(view, 4);
        if (at + length * 2 + <usize>load<u32>(step, NULL_LENGTH) + CELL_EXTRA_BYTES > limit) next = 0;
        else {
          // Almost all cells have 1 to 31 bytes and need no special treatment.
          const isShort = length - 1 < 31 && (load<u8>(classes + <usize>load<u8>(start)) | (load<u8>(step, FLAGS) & <u8>FLAG_QUOTE)) == 0;
          if (isShort && <usize>ctz(copyShort(at, start, delimiters, quotes, feeds, returns)) >= length) next = at + length;
          else next = anyView(program, step, classes, physical, start, length, at);
        }
      } else if (kind == KIND_RUN) {
        let entry = row + <usize>load<u32>(step, SOURCE);
        const lastEntry = row + <usize>load<u32>(step, SECOND);
        const start = <usize>load<u32>(entry) + 1, end = <usize>load<u32>(lastEntry, 4);
        if (at + (end - start) + <usize>load<u32>(step, EXTRA_BYTES_MAX) > limit) next = 0;
        else {
          let kinds = emptyIsSpecial | <u32>load<u8>(runClasses + <usize>load<u8>(start));
          for (entry += 4; entry <= lastEntry; entry += 4) kinds |= <u32>load<u8>(runClasses + <usize>load<u8>(<usize>load<u32>(entry), 1));
          next = kinds == 0 ? copyRange(at, start, end) : copyRun(program, step, row, at);
        }
      } else if (kind == KIND_FIELD) next = fields(program, step, row, at, limit);
      else next = cell(program, step, kind, physical, at, limit);
      if (next == 0) break;
      store<u32>(next, delimiter);
      at = next + delimiterLength;
    }
    if (next == 0 || at + CELL_EXTRA_BYTES > limit) {
      at = rowOut;
      store<u32>(program, guardedBefore, GUARDED);
      break;
    }
    if (stepsEnd > steps) at -= delimiterLength;
    store<u32>(at, load<u32>(program, LINE_ENDING));
    at += <usize>load<u32>(program, LINE_ENDING_LENGTH);
    if (stopAtFormula && load<u32>(program, GUARDED) != guardedBefore) {
      position++;
      break;
    }
  }
  store<u32>(program, <u32>at, OUT_NEXT);
  return position - from;
}

/**
 * Writes neighbouring raw fields and inspects each completely, because the output's delimiter or quoting differs from
 * the input's. Returns 0 if they do not fit.
 */
function fields(program: usize, step: usize, row: usize, out: usize, limit: usize): usize {
  let entry = row + <usize>load<u32>(step, SOURCE);
  const lastEntry = row + <usize>load<u32>(step, SECOND);
  const bytes = <usize>load<u32>(lastEntry, 4) - <usize>load<u32>(entry);
  const cells = ((lastEntry - entry) >> 2) + 1;
  if (out + bytes * 2 + cells * (<usize>load<u32>(step, NULL_LENGTH) + CELL_EXTRA_BYTES) > limit) return 0;
  const classes = <usize>load<u32>(program, CELL_CLASSES);
  const quote = load<u32>(program, RAW_QUOTE);
  const forced = (load<u32>(step, FLAGS) & FLAG_QUOTE) != 0;
  const delimiter = load<u32>(program, DELIMITER);
  const delimiterLength = <usize>load<u32>(program, DELIMITER_LENGTH);
  for (; entry <= lastEntry; entry += 4) {
    const start = <usize>load<u32>(entry) + 1;
    const end = <usize>load<u32>(entry, 4);
    const first = <u32>load<u8>(start);
    if (forced || first == quote || start >= end || load<u8>(classes + <usize>first) != 0) {
      out = field(program, step, start, end, out);
    } else {
      const next = bare(program, start, end, false, out);
      out = next != 0 ? next : quoted(start, end, false, false, out);
    }
    store<u32>(out, delimiter);
    out += delimiterLength;
  }
  return out - delimiterLength;
}

function anyView(
  program: usize,
  step: usize,
  classes: usize,
  physical: usize,
  start: usize,
  length: usize,
  out: usize,
): usize {
  if (start == 0) return putNull(step, out);
  const guarded = load<u8>(classes + <usize>load<u8>(start)) != 0;
  const flags = load<u32>(step, FLAGS);
  if (length == 0 || guarded || flags & (FLAG_QUOTE | FLAG_KINDS)) {
    if (flags & FLAG_KINDS && isNativeValue(load<u8>(<usize>load<u32>(step, SECOND) + physical))) {
      const native = flags & FLAG_QUOTE_NATIVE ? 0 : bare(program, start, start + length, false, out);
      return native != 0 ? native : quoted(start, start + length, false, false, out);
    }
    return text(program, step, start, start + length, false, out);
  }
  const next = bare(program, start, start + length, false, out);
  return next != 0 ? next : quoted(start, start + length, false, false, out);
}

/** Same rule as the function of this name in workers/output/cell-content.ts. */
// @ts-ignore: decorator
@inline
function isNativeValue(kind: u32): bool {
  return kind != KIND_TEXT && kind != KIND_JSON;
}

/** Writes a typed cell. Returns 0 if it does not fit. */
// @ts-ignore: decorator
@inline
function cell(program: usize, step: usize, kind: u32, physical: usize, out: usize, limit: usize): usize {
  if (out + <usize>load<u32>(step, NULL_LENGTH) + TYPED_BYTES_MAX * 2 > limit) return 0;
  const meta = load<u8>(<usize>load<u32>(step, SECOND) + physical);
  if (meta == META_NULL) return putNull(step, out);
  if (kind > KIND_DATETIME) {
    const length = <usize>(meta ? load<u32>(step, TRUE_LENGTH) : load<u32>(step, FALSE_LENGTH));
    if (out + length + CELL_EXTRA_BYTES > limit) return 0;
    const start = <usize>(meta ? load<u32>(step, TRUE_AT) : load<u32>(step, FALSE_AT));
    return copyOver(out, start, start + length);
  }
  const value = load<i64>(<usize>load<u32>(step, SOURCE) + (physical << 3));
  const flags = load<u32>(step, FLAGS) & (FLAG_QUOTE | FLAG_SCAN);
  const end = typedText(program, kind, value, meta, out + <usize>(flags != 0));
  return flags == 0 ? end : withQuotes(program, flags, out, end);
}

/** Quotes the text, which is stored from `out` + 1 to `end`, or moves it to `out` if it needs no quotes. */
function withQuotes(program: usize, flags: u32, out: usize, end: usize): usize {
  const start = out + 1;
  if (!(flags & FLAG_QUOTE) && !holdsSpecial(program, start, end)) {
    memory.copy(out, start, end - start);
    return end - 1;
  }
  store<u8>(out, <u8>QUOTE);
  store<u8>(end, <u8>QUOTE);
  return end + 1;
}

// @ts-ignore: decorator
@inline
function typedText(program: usize, kind: u32, value: i64, scale: u32, out: usize): usize {
  if (kind == KIND_INTEGER) return putInteger(out, value);
  if (kind == KIND_DECIMAL) return putDecimal(out, value, scale, load<u32>(program, DECIMAL_MARK));
  return kind == KIND_DATE ? putDate(out, value) : putDatetime(out, value);
}
