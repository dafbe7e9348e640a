// Writes live rows as JSON objects by a program that workers/output/json/json-program.ts lays out in memory (layout/output-program.ts).
// As in emit-csv.ts a row is written whole or not at all.
import { META_NULL } from '../layout/cells';
import { KIND_BOOLEAN as NATIVE_BOOLEAN, KIND_JSON as NATIVE_JSON, KIND_NUMBER as NATIVE_NUMBER } from '../layout/native-kinds';
import { isNull } from './csv-text';
import {
  BEGAN_AT,
  CELL_CLASSES,
  EMPTY_IS_NULL,
  FLAG_NUMBER_STRING,
  FLAG_STRING,
  FLAGS,
  HEAD_BYTES,
  KIND,
  KIND_BOOLEAN,
  KIND_CLOSE,
  KIND_DATE,
  KIND_DECIMAL,
  KIND_FIELD,
  KIND_INTEGER,
  KIND_NATIVE,
  KIND_OPEN,
  KIND_VIEWS,
  OMIT_NULLS,
  OUT_NEXT,
  PREFIX_AT,
  PREFIX_LENGTH,
  QUOTE,
  RAW_AT,
  RAW_QUOTE,
  RAW_STRIDE_BYTES,
  ROW_AT,
  ROW_LENGTH,
  SECOND,
  SOURCE,
  STEP_BYTES,
  STEPS,
  TAIL_AT,
  TAIL_LENGTH,
} from '../layout/output-program';
import { TYPED_BYTES_MAX, putDate, putDatetime, putDecimal, putInteger } from './emit-typed';
import { ESCAPE_BYTES_MAX, putCommon, putEscaped, putJson, putText } from './json-text';

/** Room that a value takes beside its own bytes and its prefix: a comma, the closing quote, `null`. */
const VALUE_EXTRA_BYTES: usize = 16;

const BRACE: u8 = 0x7b;
const COMMA: u8 = 0x2c;
const POINT: u32 = 0x2e;
const NULL_TEXT: u32 = 0x6c6c756e;
const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;

/** As emitCsv (emit-csv.ts), without formulas. */
export function emitJson(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const rawAt = <usize>load<u32>(program, RAW_AT);
  const strideBytes = <usize>load<u32>(program, RAW_STRIDE_BYTES);
  const rowText = <usize>load<u32>(program, ROW_AT);
  const rowLength = <usize>load<u32>(program, ROW_LENGTH);
  const tailText = <usize>load<u32>(program, TAIL_AT);
  const tailLength = <usize>load<u32>(program, TAIL_LENGTH);
  const classes = <usize>load<u32>(program, CELL_CLASSES);
  // No byte equals 256: a file without quotes.
  const quote: u32 = load<u32>(program, RAW_QUOTE) == QUOTE ? QUOTE : 256;
  const omitNulls = load<u32>(program, OMIT_NULLS) != 0;
  const steps = program + HEAD_BYTES;
  const stepsEnd = steps + <usize>load<u32>(program, STEPS) * STEP_BYTES;
  let at = out;
  let position = from;
  for (; position < to; position++) {
    const physical = <usize>load<u32>(selection + ((<usize>position) << 2));
    const row = rawAt + physical * strideBytes;
    if (at + rowLength + tailLength + VALUE_EXTRA_BYTES > limit) break;
    let next = putText(at, rowText, rowLength);
    for (let step = steps; step < stepsEnd; step += STEP_BYTES) {
      if (!omitNulls && load<u32>(step, FLAGS) & FLAG_STRING && load<u32>(step, KIND) <= KIND_VIEWS) {
        const done = common(step, row, physical, classes, quote, next, limit);
        if (done != 0) {
          next = done;
          continue;
        }
      }
      next = member(program, step, row, physical, next, limit);
      if (next == 0) break;
    }
    if (next == 0 || next + tailLength + VALUE_EXTRA_BYTES > limit) break;
    at = putText(next, tailText, tailLength);
  }
  store<u32>(program, <u32>at, OUT_NEXT);
  return position - from;
}

/** A text that is neither missing nor without room, as most are. 0 = it is: the general way. */
// @ts-ignore: decorator
@inline
function common(
  step: usize,
  row: usize,
  physical: usize,
  classes: usize,
  quote: u32,
  out: usize,
  limit: usize,
): usize {
  const source = <usize>load<u32>(step, SOURCE);
  let start: usize;
  let end: usize;
  let doubled = false;
  if (load<u32>(step, KIND) == KIND_VIEWS) {
    const view = source + (physical << 3);
    start = <usize>load<u32>(view);
    end = start + <usize>load<u32>(view, 4);
    if (start == 0) return 0;
  } else {
    const entry = row + (source << 2);
    start = <usize>load<u32>(entry) + 1;
    end = <usize>load<u32>(entry, 4);
    if (start < end && <u32>load<u8>(start) == quote) {
      doubled = true;
      start++;
      end--;
    }
    if (start >= end || load<u8>(classes + <usize>load<u8>(start)) != 0) return 0;
  }
  const prefixLength = <usize>load<u32>(step, PREFIX_LENGTH);
  if (out + prefixLength + (end - start) * ESCAPE_BYTES_MAX + VALUE_EXTRA_BYTES > limit) return 0;
  const prefixAt = <usize>load<u32>(step, PREFIX_AT);
  v128.store(out, v128.load(prefixAt));
  if (prefixLength > 16) putText(out + 16, prefixAt + 16, prefixLength - 16);
  const next = putCommon(out + prefixLength, start, end, doubled);
  store<u8>(next, <u8>QUOTE);
  return next + 1;
}

/** One step of a row. 0 = no room. */
function member(program: usize, step: usize, row: usize, physical: usize, out: usize, limit: usize): usize {
  const kind = load<u32>(step, KIND);
  const source = <usize>load<u32>(step, SOURCE);
  if (kind == KIND_FIELD) {
    const entry = row + (source << 2);
    let start = <usize>load<u32>(entry) + 1;
    let end = <usize>load<u32>(entry, 4);
    let doubled = false;
    if (start < end && load<u32>(program, RAW_QUOTE) == QUOTE && load<u8>(start) == <u8>QUOTE) {
      doubled = true;
      start++;
      end--;
    }
    const missing = start >= end ? load<u32>(program, EMPTY_IS_NULL) != 0 : isNull(program, start, end);
    return missing ? nullMember(program, step, out, limit) : textMember(program, step, start, end, doubled, out, limit);
  }
  if (kind == KIND_VIEWS) {
    const view = source + (physical << 3);
    const start = <usize>load<u32>(view);
    if (start == 0) return nullMember(program, step, out, limit);
    return textMember(program, step, start, start + <usize>load<u32>(view, 4), false, out, limit);
  }
  if (kind == KIND_NATIVE) return nativeMember(program, step, source, physical, out, limit);
  if (kind >= KIND_OPEN) return brace(program, step, kind, source, out, limit);
  const meta = <u32>load<u8>(<usize>load<u32>(step, SECOND) + physical);
  if (meta == META_NULL) return nullMember(program, step, out, limit);
  if (out + <usize>load<u32>(step, PREFIX_LENGTH) + TYPED_BYTES_MAX + VALUE_EXTRA_BYTES > limit) return 0;
  const at = prefix(program, step, out);
  if (kind == KIND_BOOLEAN) {
    if (meta != 0) store<u32>(at, TRUE_TEXT);
    else store<u64>(at, FALSE_TEXT);
    return at + (meta != 0 ? 4 : 5);
  }
  const value = load<i64>(source + (physical << 3));
  let end: usize;
  if (kind == KIND_INTEGER) end = putInteger(at, value);
  else if (kind == KIND_DECIMAL) end = putDecimal(at, value, meta, POINT);
  else if (kind == KIND_DATE) end = putDate(at, value);
  else end = putDatetime(at, value);
  return closeString(step, end);
}

function textMember(
  program: usize,
  step: usize,
  start: usize,
  end: usize,
  doubled: bool,
  out: usize,
  limit: usize,
): usize {
  const length = end > start ? end - start : 0;
  if (out + <usize>load<u32>(step, PREFIX_LENGTH) + length * ESCAPE_BYTES_MAX + VALUE_EXTRA_BYTES > limit) return 0;
  const at = prefix(program, step, out);
  if (!(load<u32>(step, FLAGS) & FLAG_STRING)) return putJson(at, start, end);
  const next = putEscaped(at, start, end, doubled);
  store<u8>(next, <u8>QUOTE);
  return next + 1;
}

/** A cell of a file that knows types: a string, or without its quotes what its canonical text is in JSON. */
function nativeMember(program: usize, step: usize, views: usize, physical: usize, out: usize, limit: usize): usize {
  const view = views + (physical << 3);
  const start = <usize>load<u32>(view);
  if (start == 0) return nullMember(program, step, out, limit);
  const end = start + <usize>load<u32>(view, 4);
  const kind = <u32>load<u8>(<usize>load<u32>(step, SECOND) + physical);
  const number = kind == NATIVE_NUMBER && !(load<u32>(step, FLAGS) & FLAG_NUMBER_STRING);
  if (!number && kind != NATIVE_BOOLEAN && kind != NATIVE_JSON) {
    return textMember(program, step, start, end, false, out, limit);
  }
  if (out + <usize>load<u32>(step, PREFIX_LENGTH) + (end - start) + VALUE_EXTRA_BYTES > limit) return 0;
  // The prefix ends with a string's opening quote.
  return putJson(prefix(program, step, out) - 1, start, end);
}

function nullMember(program: usize, step: usize, out: usize, limit: usize): usize {
  if (load<u32>(program, OMIT_NULLS)) return out;
  if (out + <usize>load<u32>(step, PREFIX_LENGTH) + VALUE_EXTRA_BYTES > limit) return 0;
  let at = prefix(program, step, out);
  if (load<u32>(step, FLAGS) & FLAG_STRING) at--;
  store<u32>(at, NULL_TEXT);
  return at + 4;
}

/** Key and colon. Where members can be left out the comma depends on what stands before, else it is part of the prefix. */
function prefix(program: usize, step: usize, out: usize): usize {
  if (load<u32>(program, OMIT_NULLS) != 0 && load<u8>(out - 1) != BRACE) store<u8>(out++, COMMA);
  return putText(out, <usize>load<u32>(step, PREFIX_AT), <usize>load<u32>(step, PREFIX_LENGTH));
}

function closeString(step: usize, out: usize): usize {
  if (!(load<u32>(step, FLAGS) & FLAG_STRING)) return out;
  store<u8>(out, <u8>QUOTE);
  return out + 1;
}

/** Begins or ends an object whose members can all be left out: then it is left out itself. `opened`: the step that began it. */
function brace(program: usize, step: usize, kind: u32, opened: usize, out: usize, limit: usize): usize {
  if (out + <usize>load<u32>(step, PREFIX_LENGTH) + VALUE_EXTRA_BYTES > limit) return 0;
  if (kind == KIND_CLOSE) {
    if (load<u8>(out - 1) == BRACE) return <usize>load<u32>(opened, BEGAN_AT);
    store<u8>(out, 0x7d);
    return out + 1;
  }
  store<u32>(step, <u32>out, BEGAN_AT);
  return prefix(program, step, out);
}
