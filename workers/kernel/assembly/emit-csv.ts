// Writes live rows as CSV by a program that workers/output/csv-program.ts lays out in memory (layout: emit-layout.ts).
// Each row is written whole or not at all: before each step the worst length of its cells is compared with the room left.
import {
  CELL_CLASSES,
  DECIMAL_MARK,
  DELIMITER,
  DELIMITER_LENGTH,
  FALSE_AT,
  FALSE_LENGTH,
  FLAG_QUOTE,
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
  META_NULL,
  NULL_LENGTH,
  OUT_NEXT,
  QUOTE,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  RUNS_ONLY,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  STOP_AT_FORMULA,
  TRUE_AT,
  TRUE_LENGTH,
} from './emit-layout';
import { bare, field, holdsSpecial, putNull, quoted, text } from './csv-text';
import { copyOver } from './emit-copy';
import { emitRuns, run } from './emit-runs';
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
  const delimiters = i8x16.splat(<i8>delimiter);
  const classes = <usize>load<u32>(program, CELL_CLASSES);
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
    let step = steps;
    for (; step < stepsEnd; step += STEP_BYTES) {
      const kind = load<u32>(step, KIND);
      let next: usize;
      if (kind == KIND_RUN) next = run(program, step, row, at, limit);
      else if (kind == KIND_FIELD) next = fields(program, step, row, at, limit);
      else if (kind == KIND_VIEWS) next = view(program, step, classes, delimiters, physical, at, limit);
      else next = cell(program, step, kind, physical, at, limit);
      if (next == 0) break;
      store<u32>(next, delimiter);
      at = next + delimiterLength;
    }
    if (step < stepsEnd || at + CELL_EXTRA_BYTES > limit) {
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

/** A cell of clean text. 0 = no room. */
// @ts-ignore: decorator
@inline
function view(program: usize, step: usize, classes: usize, delimiters: v128, physical: usize, out: usize, limit: usize): usize {
  const at = <usize>load<u32>(step, SOURCE) + (physical << 3);
  const start = <usize>load<u32>(at);
  const length = <usize>load<u32>(at, 4);
  const nullLength = <usize>load<u32>(step, NULL_LENGTH);
  if (out + length * 2 + nullLength + CELL_EXTRA_BYTES > limit) return 0;
  // Almost all are of 1 to 31 bytes, none of which matters.
  if (length - 1 < 31 && load<u8>(classes + <usize>load<u8>(start)) == 0 && !(load<u32>(step, FLAGS) & FLAG_QUOTE)) {
    const low = v128.load(start), high = v128.load(start, 16);
    v128.store(out, low);
    v128.store(out, high, 16);
    const special = specialMask(low, delimiters) | (specialMask(high, delimiters) << 16);
    if ((special & ((1 << <u32>length) - 1)) == 0) return out + length;
  }
  return anyView(program, step, classes, start, length, out);
}

/** Bytes that are the delimiter's first, a quote or a line's end. */
// @ts-ignore: decorator
@inline
function specialMask(bytes: v128, delimiters: v128): u32 {
  const lines = v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d)));
  const marks = v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)));
  return <u32>i8x16.bitmask(v128.or(lines, marks));
}

function anyView(program: usize, step: usize, classes: usize, start: usize, length: usize, out: usize): usize {
  if (start == 0) return putNull(step, out);
  const guarded = load<u8>(classes + <usize>load<u8>(start)) != 0;
  if (length == 0 || guarded || load<u32>(step, FLAGS) & FLAG_QUOTE) {
    return text(program, step, start, start + length, false, out);
  }
  const next = bare(program, start, start + length, false, out);
  return next != 0 ? next : quoted(start, start + length, false, false, out);
}

/** A typed cell. 0 = no room. */
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
  return typed(program, step, kind, load<i64>(<usize>load<u32>(step, SOURCE) + (physical << 3)), meta, out);
}

function typed(program: usize, step: usize, kind: u32, value: i64, scale: u32, out: usize): usize {
  const flags = load<u32>(step, FLAGS);
  if ((flags & (FLAG_QUOTE | FLAG_SCAN)) == 0) return typedText(program, kind, value, scale, out);
  const start = out + 1;
  const end = typedText(program, kind, value, scale, start);
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
