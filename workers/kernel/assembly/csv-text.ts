// Cells of text as CSV: null, empty, bare or quoted, with the formula guard. The program's layout is in layout/output-program.ts.
import {
  CELL_CLASSES,
  CLASS_GUARD,
  CLASS_NULL,
  CLASS_SIGN,
  DELIMITER,
  DELIMITER_LENGTH,
  EMPTY_IS_NULL,
  FLAG_GUARD,
  FLAG_QUOTE,
  FLAG_QUOTE_EMPTY,
  FLAGS,
  GUARDED,
  NULL_AT,
  NULL_LENGTH,
  NULLS_AT,
  NULLS_COUNT,
  QUOTE,
  RAW_QUOTE,
} from '../layout/output-program';
import { copyOver, maskOf } from './emit-copy';
import { isHarmlessSigned } from './formula';

/** A raw field: its content, as if nobody had ever quoted it. */
export function field(program: usize, step: usize, start: usize, end: usize, out: usize): usize {
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

export function putNull(step: usize, out: usize): usize {
  const start = <usize>load<u32>(step, NULL_AT);
  return copyOver(out, start, start + <usize>load<u32>(step, NULL_LENGTH));
}

export function empty(program: usize, step: usize, out: usize): usize {
  if (load<u32>(program, EMPTY_IS_NULL)) return putNull(step, out);
  return emptyText(step, out);
}

function emptyText(step: usize, out: usize): usize {
  if (!(load<u32>(step, FLAGS) & (FLAG_QUOTE | FLAG_QUOTE_EMPTY))) return out;
  store<u16>(out, 0x2222);
  return out + 2;
}

/** Clean text, or with `doubled` the inside of a quoted field, whose quotes are doubled. */
export function text(program: usize, step: usize, start: usize, end: usize, doubled: bool, out: usize): usize {
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

/** Copies while it looks for what needs quotes; 0 when it met that. */
export function bare(program: usize, start: usize, end: usize, guarded: bool, out: usize): usize {
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

export function quoted(start: usize, end: usize, guarded: bool, doubled: bool, out: usize): usize {
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

export function isFormula(program: usize, start: usize, end: usize): bool {
  const kind = load<u8>(<usize>load<u32>(program, CELL_CLASSES) + <usize>load<u8>(start)) & (CLASS_GUARD | CLASS_SIGN);
  return kind != 0 && ((kind & CLASS_GUARD) != 0 || !isHarmlessSigned(start, end));
}

/** True when a non-empty text is one of those that mean "missing". */
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

export function holdsSpecial(program: usize, start: usize, end: usize): bool {
  for (let at = start; at < end; at += 16) {
    const mask = maskOf(specialBytes(program, v128.load(at)), end - at);
    if (mask != 0 && isSpecial(program, at, mask, end)) return true;
  }
  return false;
}

/** Bits of the delimiter's first byte, quotes, CR and LF. */
function specialBytes(program: usize, bytes: v128): u32 {
  const delimiters = i8x16.eq(bytes, v128.load8_splat(program + DELIMITER));
  const quotes = i8x16.eq(bytes, i8x16.splat(<i8>QUOTE));
  const lines = v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d)));
  return <u32>i8x16.bitmask(v128.or(v128.or(delimiters, quotes), lines));
}

/** The first byte of a delimiter of several bytes is not yet the delimiter. */
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
