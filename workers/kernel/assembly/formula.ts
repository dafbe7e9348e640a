// What the formula guard lets through although it starts with a sign: plain numbers, times, dashes and telephone numbers. The grammar
// and its reasons are in the plain twin, workers/kernel/plain/formula.ts.
import { HARMLESS_BYTES_MAX, PHONE_DIGITS_MAX, PHONE_DIGITS_MIN } from '../layout/formula';


function isDigit(byte: u32): bool {
  return byte - 48 < 10;
}

/** Length of the space at `at` (space, U+00A0, U+202F), 0 when there is none. */
function spaceLength(at: usize, end: usize): usize {
  const byte = <u32>load<u8>(at);
  if (byte == 0x20) return 1;
  if (byte == 0xc2 && at + 1 < end && load<u8>(at, 1) == 0xa0) return 2;
  if (byte == 0xe2 && at + 2 < end && load<u8>(at, 1) == 0x80 && load<u8>(at, 2) == 0xaf) return 3;
  return 0;
}

/** Length of the currency sign at `at` ($, U+00A2 to U+00A5, U+20A0 to U+20BF), 0 when there is none. */
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

function isBlank(start: usize, end: usize): bool {
  let at = start;
  while (at < end && load<u8>(at) == 0x20) at++;
  return at == end;
}

/** Digits from `at` on. */
function digitsLength(at: usize, end: usize): usize {
  const start = at;
  while (at < end && isDigit(load<u8>(at))) at++;
  return at - start;
}

/** Whether a colon and 00 to 59 stand at `at`. */
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

/** Dashes stand for a value that is not there. */
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

/** Bytes that isShortTelephone looks at behind the plus. */
const SHORT_BYTES_MAX: u32 = 16;

/** True for a short telephone number with spaces of ASCII, as most are; false says nothing. */
// @ts-ignore: decorator
@inline
export function isShortTelephone(start: usize, end: usize): bool {
  const length = <u32>(end - start) - 1;
  if (length > SHORT_BYTES_MAX || load<u8>(start) != 0x2b || !isDigit(load<u8>(start, 1))) return false;
  const bytes = v128.load(start, 1), asked = (<u32>1 << length) - 1;
  // Of unsigned bytes the processor compares these at once, and those that are less only by a way about.
  const digits = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(9));
  const parentheses = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x28)), i8x16.splat(1));
  // From - to /.
  const marks = i8x16.le_u(i8x16.sub(bytes, i8x16.splat(0x2d)), i8x16.splat(2));
  const others = v128.or(v128.or(parentheses, marks), i8x16.eq(bytes, i8x16.splat(0x20)));
  if ((~<u32>i8x16.bitmask(v128.or(digits, others)) & asked) != 0) return false;
  return popcnt(<u32>i8x16.bitmask(digits) & asked) >= PHONE_DIGITS_MIN;
}

/** True for a cell [start, end) starting with + or - that `auto` lets through. */
export function isHarmlessSigned(start: usize, end: usize): bool {
  if (isShortTelephone(start, end)) return true;
  return end - start <= HARMLESS_BYTES_MAX && (isPlainNumber(start, end) || isTime(start, end) || isNothing(start, end) || isTelephone(start, end));
}
