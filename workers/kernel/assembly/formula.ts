// Recognises cells that the formula guard does not change although they start with a sign: numbers, quantities, times,
// dashes and telephone numbers. The grammar and its reasons are in the scalar reference implementation,
// workers/kernel/plain/emit-csv.ts.
import { HARMLESS_BYTES_MAX, PHONE_DIGITS_MAX, PHONE_DIGITS_MIN } from '../layout/output-program';

function isDigit(byte: u32): bool {
  return byte - 48 < 10;
}

/** Length in bytes of the space at `at` (space, U+00A0, U+202F), or 0. */
function spaceLength(at: usize, end: usize): usize {
  const byte = <u32>load<u8>(at);
  if (byte == 0x20) return 1;
  if (byte == 0xc2 && at + 1 < end && load<u8>(at, 1) == 0xa0) return 2;
  if (byte == 0xe2 && at + 2 < end && load<u8>(at, 1) == 0x80 && load<u8>(at, 2) == 0xaf) return 3;
  return 0;
}

/** Length in bytes of the currency sign at `at` ($, U+00A2 to U+00A5, U+20A0 to U+20BF), or 0. */
function currencyLength(at: usize, end: usize): usize {
  const byte = <u32>load<u8>(at);
  if (byte == 0x24) return 1;
  if (byte == 0xc2 && at + 1 < end && <u32>load<u8>(at, 1) - 0xa2 < 4) return 2;
  if (byte == 0xe2 && at + 2 < end && load<u8>(at, 1) == 0x82 && <u32>load<u8>(at, 2) - 0xa0 < 32) return 3;
  return 0;
}

function isPlainNumber(start: usize, end: usize): bool {
  let at = start + 1;
  if (at < end) at += spaceLength(at, end);
  const sign: usize = at < end ? currencyLength(at, end) : 0;
  if (sign > 0) {
    at += sign;
    if (at < end) at += spaceLength(at, end);
  }
  if (at < end && (load<u8>(at) == 0x2e || load<u8>(at) == 0x2c)) at++;
  if (at >= end || !isDigit(load<u8>(at))) return false;
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (isDigit(byte)) {
      at++;
      continue;
    }
    const length: usize = byte == 0x2e || byte == 0x2c || byte == 0x27 ? 1 : spaceLength(at, end);
    if (length == 0 || at + length >= end || !isDigit(load<u8>(at + length))) break;
    at += length + 1;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65 && isDigit(load<u8>(at - 1))) {
    at++;
    if (at < end && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at++;
    if (at >= end || !isDigit(load<u8>(at))) return false;
    while (at < end && isDigit(load<u8>(at))) at++;
  }
  if (at < end) {
    const space = spaceLength(at, end);
    if (at + space < end) {
      const unit: usize = load<u8>(at + space) == 0x25 ? 1 : currencyLength(at + space, end);
      if (unit > 0) at += space + unit;
    }
  }
  return isBlank(at, end);
}

function isLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26;
}

/** A number followed by a unit or words, or several numbers with commas between them. */
function isQuantity(start: usize, end: usize): bool {
  let at = start + 1;
  if (at < end) at += spaceLength(at, end);
  const sign: usize = at < end ? currencyLength(at, end) : 0;
  if (sign > 0) {
    at += sign;
    if (at < end) at += spaceLength(at, end);
  }
  if (at < end && (load<u8>(at) == 0x2e || load<u8>(at) == 0x2c)) at++;
  if (at >= end || !isDigit(load<u8>(at))) return false;
  let before: u32 = 0;
  let isBehindSeparator = false;
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    const next: u32 = at + 1 < end ? <u32>load<u8>(at, 1) : 0;
    if (byte == 0x2c || byte == 0x3b) {
      if (!isDigit(next) && next != 0x20 && next != 0x2b && next != 0x2d && next != 0x2e) return false;
      isBehindSeparator = true;
    } else if (byte != 0x20) {
      if (!isQuantityByte(byte, before, next, isBehindSeparator, at, end)) return false;
      isBehindSeparator = false;
    }
    before = byte;
  }
  return true;
}

/** True for a byte, other than a separator or a space, that may occur in a quantity. */
function isQuantityByte(byte: u32, before: u32, next: u32, isBehindSeparator: bool, at: usize, end: usize): bool {
  // Digits directly after a letter could be a cell reference.
  if (isDigit(byte)) return !isLetter(before);
  if (isLetter(byte) || byte == 0x2e || byte == 0x25 || byte == 0x24) return true;
  if (byte == 0x2b || byte == 0x2d) {
    const hasPoint = next == 0x2e || next == 0x2c;
    const first: u32 = hasPoint && at + 2 < end ? <u32>load<u8>(at, 2) : next;
    return isBehindSeparator && isDigit(first);
  }
  if (byte == 0x27) return isDigit(before) && isDigit(next);
  if (byte == 0x2f) return (isLetter(before) || before >= 0x80) && !isDigit(next) && next != 0x2b && next != 0x2d;
  // Full-width signs and brackets begin with 0xEF.
  return byte >= 0x80 && byte != 0xef;
}

/**
 * Skips blanks and invisible characters: space, tab, U+00A0, U+00AD, U+2000 to U+200F, U+2028 to U+202F, U+2060 to U+206F,
 * U+3000, U+FEFF.
 */
export function afterBlanks(start: usize, end: usize): usize {
  let at = start;
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte == 0x20 || byte == 0x09) at++;
    else if (byte == 0xc2 && at + 1 < end && (load<u8>(at, 1) == 0xa0 || load<u8>(at, 1) == 0xad)) at += 2;
    else if (byte == 0xe2 && at + 2 < end && isInvisible(load<u8>(at, 1), load<u8>(at, 2))) at += 3;
    else if (byte == 0xe3 && at + 2 < end && load<u8>(at, 1) == 0x80 && load<u8>(at, 2) == 0x80) at += 3;
    else if (byte == 0xef && at + 2 < end && load<u8>(at, 1) == 0xbb && load<u8>(at, 2) == 0xbf) at += 3;
    else break;
  }
  return at;
}

function isInvisible(second: u32, third: u32): bool {
  return (second == 0x80 && (third - 0x80 < 16 || third - 0xa8 < 8)) || (second == 0x81 && third - 0xa0 < 16);
}

/** The ASCII sign that corresponds to the full-width sign at `at`, or 0. */
export function wideSign(at: usize, end: usize): u32 {
  if (at + 2 >= end || load<u8>(at) != 0xef || load<u8>(at, 1) != 0xbc) return 0;
  const last = <u32>load<u8>(at, 2);
  return last == 0x9d || last == 0x8b || last == 0x8d || last == 0xa0 ? last - 0x60 : 0;
}

/** True if the mode `auto` leaves this cell unchanged. Its full-width sign ends with the byte at `start`. */
export function isHarmlessWide(start: usize, end: usize): bool {
  return end - start <= HARMLESS_BYTES_MAX && (isPlainNumber(start, end) || isQuantity(start, end));
}

function isBlank(start: usize, end: usize): bool {
  let at = start;
  while (at < end && load<u8>(at) == 0x20) at++;
  return at == end;
}

/** Number of digits from `at` on. */
function digitsLength(at: usize, end: usize): usize {
  const start = at;
  while (at < end && isDigit(load<u8>(at))) at++;
  return at - start;
}

/** True for a colon and two digits from 00 to 59 at `at`. */
function isSixtieth(at: usize, end: usize): bool {
  return at + 2 < end && load<u8>(at) == 0x3a && <u32>load<u8>(at, 1) - 48 < 6 && isDigit(load<u8>(at, 2));
}

function isTime(start: usize, end: usize): bool {
  let at = start + 1;
  const hours = digitsLength(at, end);
  if (hours == 0 || hours > 4 || !isSixtieth(at + hours, end)) return false;
  at += hours + 3;
  if (isSixtieth(at, end)) {
    at += 3;
    if (at < end && (load<u8>(at) == 0x2e || load<u8>(at) == 0x2c)) {
      const digits = digitsLength(at + 1, end);
      if (digits > 0) at += digits + 1;
    }
  }
  return isBlank(at, end);
}

/** A cell of dashes means a missing value. */
function isNothing(start: usize, end: usize): bool {
  let at = start;
  while (at < end && load<u8>(at) == 0x2d) at++;
  return at > start && isBlank(at, end);
}

function isTelephone(start: usize, end: usize): bool {
  if (load<u8>(start) != 0x2b || start + 1 >= end || !isDigit(load<u8>(start, 1))) return false;
  let digits: u32 = 0;
  let at = start + 1;
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (isDigit(byte)) {
      digits++;
      at++;
    } else if (byte == 0x28 || byte == 0x29 || (byte >= 0x2d && byte <= 0x2f)) {
      at++;
    } else {
      const length = spaceLength(at, end);
      if (length == 0) return false;
      at += length;
    }
  }
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX;
}

/** Maximum number of bytes after the plus that isShortTelephone can check. */
const SHORT_BYTES_MAX: u32 = 16;

/**
 * Fast check for short telephone numbers with ASCII spaces, the most common form. True: it is one. False: undecided.
 */
// @ts-ignore: decorator
@inline
export function isShortTelephone(start: usize, end: usize): bool {
  const length = <u32>(end - start) - 1;
  if (length > SHORT_BYTES_MAX || load<u8>(start) != 0x2b || !isDigit(load<u8>(start, 1))) return false;
  const bytes = v128.load(start, 1), asked = (<u32>1 << length) - 1;
  // The subtraction turns range checks into one unsigned <=, which is a single SIMD instruction, unlike <.
  const digits = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(9));
  const parentheses = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x28)), i8x16.splat(1));
  // The characters from - to /.
  const marks = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x2d)), i8x16.splat(2));
  const others = v128.or(v128.or(parentheses, marks), i8x16.eq(bytes, i8x16.splat(0x20)));
  if ((~<u32>i8x16.bitmask(v128.or(digits, others)) & asked) != 0) return false;
  return popcnt(<u32>i8x16.bitmask(digits) & asked) >= PHONE_DIGITS_MIN;
}

function isHarmlessText(start: usize, end: usize): bool {
  if (isPlainNumber(start, end) || isTime(start, end) || isNothing(start, end)) return true;
  return isTelephone(start, end) || isQuantity(start, end);
}

/** True if `auto` does not guard the cell [start, end), which starts with + or -. */
export function isHarmlessSigned(start: usize, end: usize): bool {
  if (isShortTelephone(start, end)) return true;
  return end - start <= HARMLESS_BYTES_MAX && isHarmlessText(start, end);
}
