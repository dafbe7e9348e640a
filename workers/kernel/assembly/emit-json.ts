// Writes live rows as JSON objects, and texts inside JSON strings.
import { TYPED_BYTES_MAX, copyOver, maskOf, putDate, putDatetime, putDecimal, putInteger } from './emit-cells';
import {
  META_NULL,
  KIND_BOOLEAN as NATIVE_BOOLEAN,
  KIND_JSON as NATIVE_JSON,
  KIND_NUMBER as NATIVE_NUMBER,
} from '../layout/cells';
import { isNull } from './emit-csv';
import {
  BEGAN_AT,
  CELL_CLASSES,
  EMPTY_IS_NULL,
  FLAGS,
  FLAG_NUMBER_STRING,
  FLAG_STRING,
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
  STEPS,
  STEP_BYTES,
  TAIL_AT,
  TAIL_LENGTH,
} from '../layout/output-program';

// Writes texts inside JSON strings, escaped as JSON.stringify does, and copies JSON values.

/** Maximum length of one escaped byte: \u00XX. */
export const ESCAPE_BYTES_MAX: usize = 6;

/**
 * Copies [start, end) into a JSON string. Escapes quotes, backslashes and characters below U+0020, and copies all
 * others. With `doubled` the text is the inside of a quoted CSV field, in which two quotes mean one.
 */
function putEscaped(out: usize, start: usize, end: usize, doubled: bool): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const space = i8x16.splat(0x20);
  let at = start;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const marks = v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash));
    const left = end - at;
    const mask = maskOf(<u32>i8x16.bitmask(v128.or(marks, i8x16.lt_u(bytes, space))), left);
    if (mask == 0) {
      const length: usize = left < 16 ? left : 16;
      at += length;
      out += length;
      continue;
    }
    const clean = <usize>ctz(mask);
    const byte = <u32>load<u8>(at + clean);
    out = putEscape(out + clean, byte);
    at += clean + (doubled && byte == 0x22 ? 2 : 1);
  }
  return out;
}

/**
 * Like putEscaped, but faster for texts without escapes: always copies the first 32 bytes, so up to 32 bytes are
 * overwritten.
 */
// @ts-ignore: decorator
@inline
export function putCommon(out: usize, start: usize, end: usize, doubled: bool): usize {
  const low = v128.load(start);
  const high = v128.load(start, 16);
  v128.store(out, low);
  v128.store(out, high, 16);
  const length = end - start;
  let mask = escapedBytes(low) | (escapedBytes(high) << 16);
  if (length < 32) mask &= (1 << (<u32>length)) - 1;
  if (mask != 0) return putEscaped(out, start, end, doubled);
  return length <= 32 ? out + length : putEscaped(out + 32, start + 32, end, doubled);
}

/** Bit mask of the bytes that JSON escapes. */
// @ts-ignore: decorator
@inline
function escapedBytes(bytes: v128): u32 {
  const marks = v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c)));
  const controls = i8x16.eq(i8x16.min_u(bytes, i8x16.splat(0x1f)), bytes);
  return <u32>i8x16.bitmask(v128.or(marks, controls));
}

function putEscape(out: usize, byte: u32): usize {
  let letter: u32 = 0;
  if (byte == 0x22 || byte == 0x5c) letter = byte;
  else if (byte == 0x0a) letter = 0x6e;
  else if (byte == 0x0d) letter = 0x72;
  else if (byte == 0x09) letter = 0x74;
  else if (byte == 0x08) letter = 0x62;
  else if (byte == 0x0c) letter = 0x66;
  if (letter != 0) {
    store<u16>(out, <u16>(0x5c | (letter << 8)));
    return out + 2;
  }
  const low = byte & 15;
  store<u32>(out, 0x3030755c);
  store<u8>(out, <u8>(0x30 + (byte >> 4)), 4);
  store<u8>(out, <u8>(low < 10 ? 0x30 + low : 0x57 + low), 5);
  return out + 6;
}

/** Copies a JSON value on one line. In valid JSON, bytes below U+0020 can only be white space between tokens. */
function putJson(out: usize, start: usize, end: usize): usize {
  const space = i8x16.splat(0x20);
  let target = out;
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at);
    v128.store(target, v128.bitselect(space, bytes, i8x16.lt_u(bytes, space)));
    target += 16;
  }
  return out + (end - start);
}

/** Copies a text of the program. */
function putText(out: usize, at: usize, length: usize): usize {
  return copyOver(out, at, at + length);
}

// Writes live rows as JSON objects. workers/output/json/json-writer.ts builds the program in memory
// (layout/output-program.ts). Each row is written completely or not at all, as in emit-csv.ts.

/** Extra bytes of a value in addition to its own and its prefix: a comma, the closing quote, `null`. */
const VALUE_EXTRA_BYTES: usize = 16;

const BRACE: u8 = 0x7b;
const COMMA: u8 = 0x2c;
const POINT: u32 = 0x2e;
const NULL_TEXT: u32 = 0x6c6c756e;
const TRUE_TEXT: u32 = 0x65757274;
const FALSE_TEXT: u64 = 0x65736c6166;

/** Like emitCsv (emit-csv.ts), but without the formula guard. */
export function emitJson(program: usize, selection: usize, from: u32, to: u32, out: usize, limit: usize): u32 {
  const rawAt = <usize>load<u32>(program, RAW_AT);
  const strideBytes = <usize>load<u32>(program, RAW_STRIDE_BYTES);
  const rowText = <usize>load<u32>(program, ROW_AT);
  const rowLength = <usize>load<u32>(program, ROW_LENGTH);
  const tailText = <usize>load<u32>(program, TAIL_AT);
  const tailLength = <usize>load<u32>(program, TAIL_LENGTH);
  const classes = <usize>load<u32>(program, CELL_CLASSES);
  // 256 if the file has no quotes, because no byte has this value.
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

/** Fast path for most texts, which are not missing and fit. Returns 0 if the general path is needed. */
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

/** Executes one step of a row. Returns 0 if it does not fit. */
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

/** Writes a cell of a typed file as a string, or without quotes if its canonical text is valid JSON. */
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
  // Drops the opening quote, with which a string's prefix ends.
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

/**
 * Writes key and colon. If members can be omitted, the comma depends on the preceding byte. Otherwise it is part of the
 * prefix.
 */
function prefix(program: usize, step: usize, out: usize): usize {
  if (load<u32>(program, OMIT_NULLS) != 0 && load<u8>(out - 1) != BRACE) store<u8>(out++, COMMA);
  return putText(out, <usize>load<u32>(step, PREFIX_AT), <usize>load<u32>(step, PREFIX_LENGTH));
}

function closeString(step: usize, out: usize): usize {
  if (!(load<u32>(step, FLAGS) & FLAG_STRING)) return out;
  store<u8>(out, <u8>QUOTE);
  return out + 1;
}

/**
 * Begins or ends an object whose members may all be omitted. Such an object is omitted, too. `opened`: the step that
 * began it.
 */
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
