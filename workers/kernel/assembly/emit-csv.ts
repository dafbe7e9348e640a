// Writes live rows as CSV by a program that workers/output/csv/csv-program.ts lays out in memory (layout/output-program.ts).
// Each row is written whole or not at all: before each step the worst length of its cells is compared with the room left.
import { META_NULL } from '../layout/cells';
import { KIND_JSON, KIND_TEXT } from '../layout/native-kinds';
import {
  CELL_CLASSES,
  DECIMAL_MARK,
  DELIMITER,
  DELIMITER_LENGTH,
  EMPTY_IS_SPECIAL,
  FALSE_AT,
  FALSE_LENGTH,
  FLAG_KINDS,
  FLAG_QUOTE,
  FLAG_QUOTE_NATIVE,
  FLAG_SCAN,
  FLAGS,
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
  NULL_LENGTH,
  OUT_NEXT,
  QUOTE,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  ROOM,
  RUN_CLASSES,
  RUNS_ONLY,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  STOP_AT_FORMULA,
  TRUE_AT,
  TRUE_LENGTH,
} from '../layout/output-program';
import { bare, field, holdsSpecial, putNull, quoted, text } from './csv-text';
import { copyOver, copyRange, copyShort, SPECIAL } from './emit-copy';
import { copyRun, emitRuns } from './emit-runs';
import { putDate, putDatetime, putDecimal, putInteger, TYPED_BYTES_MAX } from './emit-typed';

/** Room that a cell takes beside its own bytes, doubled at worst: two quotes, the guard's mark, delimiter, line ending. */
const CELL_EXTRA_BYTES: usize = 16;

/**
 * Writes the rows at positions [from, to) of the selection to [out, limit) and gives the number of rows written. Up to 16
 * bytes behind `limit` are overwritten. The program's OUT_NEXT is then the address behind the last row; GUARDED grew by
 * the formulas guarded. With STOP_AT_FORMULA it ends behind the first row that held one.
 */
export function emitCsv(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const rawAt = <usize>load<u32>(program, RAW_AT);
  const strideBytes = <usize>load<u32>(program, RAW_STRIDE_BYTES);
  const delimiter = load<u32>(program, DELIMITER);
  const delimiterLength = <usize>load<u32>(program, DELIMITER_LENGTH);
  // From memory, as the compiler would make them anew for each cell.
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
          // Almost all are of 1 to 31 bytes, none of which matters.
          const isShort = length - 1 < 31 && (load<u8>(classes + <usize>load<u8>(start)) | (load<u8>(step, FLAGS) & <u8>FLAG_QUOTE)) == 0;
          if (isShort && <usize>ctz(copyShort(at, start, delimiters, quotes, feeds, returns)) >= length) next = at + length;
          else next = anyView(program, step, classes, physical, start, length, at);
        }
      } else if (kind == KIND_RUN) {
        let entry = row + <usize>load<u32>(step, SOURCE);
        const lastEntry = row + <usize>load<u32>(step, SECOND);
        const start = <usize>load<u32>(entry) + 1, end = <usize>load<u32>(lastEntry, 4);
        if (at + (end - start) + <usize>load<u32>(step, ROOM) > limit) next = 0;
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

/** Neighbouring raw fields, each looked at in full: the output's delimiter or quoting is another. 0 = no room. */
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

/** As the function of the same name in workers/output/native-kind.ts. */
// @ts-ignore: decorator
@inline
function isNativeValue(kind: u32): bool {
  return kind != KIND_TEXT && kind != KIND_JSON;
}

/** A typed cell. 0 = no room. */
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

/** Puts quotes around the text behind `out` and up to `end`, or moves it to `out`. */
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
