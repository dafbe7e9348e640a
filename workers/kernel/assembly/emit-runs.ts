// Writes live rows as CSV where all of a row is neighbouring raw fields of plain rows and the delimiter stays the same, as
// select, filter and rename leave it: most fields leave as they came, which their first bytes tell, and are copied range by
// range.
import { bare, empty, field, isFormula, isNull, putNull, text } from './csv-text';
import { copyOver, copyRange, copyShort, copyWide, SPECIAL } from './emit-copy';
import { isShortTelephone } from './formula';
import {
  CELL_CLASSES,
  CLASS_QUOTE,
  CLASS_SIGN,
  DELIMITER,
  EMPTY_IS_SPECIAL,
  GUARDED,
  HEAD_BYTES,
  LINE_ENDING,
  LINE_ENDING_LENGTH,
  OUT_NEXT,
  RAW_AT,
  RAW_STRIDE_BYTES,
  ROOM,
  RUN_CLASSES,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
} from '../layout/output-program';

/** Room that a row's end takes. */
const LINE_BYTES: usize = 16;

/** As emitCsv (emit-csv.ts), for programs with RUNS_ONLY. */
export function emitRuns(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
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
      if (next + (end - start) + <usize>load<u32>(step, ROOM) > limit) break;
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
 * Neighbouring raw fields as one range; a field that looks different under the output's rules is written by itself. What
 * lies before and behind it is still copied in one piece.
 */
export function copyRun(program: usize, step: usize, row: usize, out: usize): usize {
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
      // Most quotes are not needed, so the copy without them is tried at once.
      if (fieldStart > start) out = copyOver(out, start, fieldStart);
      start = fieldStart;
      const isCommon = fieldEnd - fieldStart > 2 && load<u8>(cellClasses + <usize>load<u8>(fieldStart, 1)) == 0;
      if (isCommon) next = bareInside(fieldStart + 1, fieldEnd - 1, out, delimiters, quotes, feeds, returns);
      else next = unquoted(program, step, fieldStart + 1, fieldEnd - 1, out);
      if (next == 0) continue;
    } else {
      // Most signs stand before telephone numbers.
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

/** Copies while it looks for what needs quotes; 0 when it met that. The delimiter is one byte. */
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

/** True when an unquoted field of a run does not leave as the bytes that it is. */
function isAltered(program: usize, start: usize, end: usize): bool {
  if (start >= end) return load<u32>(program, EMPTY_IS_SPECIAL) != 0;
  return isNull(program, start, end) || isFormula(program, start, end);
}

/** The inside of a quoted field of a run; 0 when it leaves as it came, with its quotes. */
function unquoted(program: usize, step: usize, start: usize, end: usize, out: usize): usize {
  if (start == end) return empty(program, step, out);
  if (load<u8>(<usize>load<u32>(program, CELL_CLASSES) + <usize>load<u8>(start)) != 0) {
    if (isNull(program, start, end)) return putNull(step, out);
    if (isFormula(program, start, end)) return text(program, step, start, end, true, out);
  }
  return bare(program, start, end, false, out);
}
