// Decimal digits of whole numbers, two at a time, and the civil date of a day number: for every kernel that writes texts.

/** "00" to "99". */
const PAIRS: usize = memory.data<u8>([
  48, 48, 48, 49, 48, 50, 48, 51, 48, 52, 48, 53, 48, 54, 48, 55, 48, 56, 48, 57, 49, 48, 49, 49, 49, 50, 49, 51, 49, 52,
  49, 53, 49, 54, 49, 55, 49, 56, 49, 57, 50, 48, 50, 49, 50, 50, 50, 51, 50, 52, 50, 53, 50, 54, 50, 55, 50, 56, 50, 57,
  51, 48, 51, 49, 51, 50, 51, 51, 51, 52, 51, 53, 51, 54, 51, 55, 51, 56, 51, 57, 52, 48, 52, 49, 52, 50, 52, 51, 52, 52,
  52, 53, 52, 54, 52, 55, 52, 56, 52, 57, 53, 48, 53, 49, 53, 50, 53, 51, 53, 52, 53, 53, 53, 54, 53, 55, 53, 56, 53, 57,
  54, 48, 54, 49, 54, 50, 54, 51, 54, 52, 54, 53, 54, 54, 54, 55, 54, 56, 54, 57, 55, 48, 55, 49, 55, 50, 55, 51, 55, 52,
  55, 53, 55, 54, 55, 55, 55, 56, 55, 57, 56, 48, 56, 49, 56, 50, 56, 51, 56, 52, 56, 53, 56, 54, 56, 55, 56, 56, 56, 57,
  57, 48, 57, 49, 57, 50, 57, 51, 57, 52, 57, 53, 57, 54, 57, 55, 57, 56, 57, 57,
]);

const UNITS: usize = memory.data<u32>([0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000]);

const EIGHT_DIGITS: u64 = 100_000_000;

/** Days from 0000-03-01, where the shifted calendar begins, to 1970-01-01. */
const EPOCH_SHIFT: i64 = 719_468;

/** Days that the shifted calendar counts in 32 bits, far beyond the year 9999. */
const SHORT_DAYS_MAX: u64 = 0x3fffffff;

/** How many digits a number has; 0 has one. */
// @ts-ignore: decorator
@inline
export function digitCount(value: u32): u32 {
  // 1233 / 4096 is log10(2), rounded up.
  const guess = ((32 - <u32>clz(value | 1)) * 1233) >> 12;
  return guess + <u32>(value >= load<u32>(UNITS + ((<usize>guess) << 2)) || value == 0 ? 1 : 0);
}

/** The two digits of a number below 100, as they lie in memory. */
// @ts-ignore: decorator
@inline
export function twoDigits(value: u32): u32 {
  return <u32>load<u16>(PAIRS + ((<usize>value) << 1));
}

// @ts-ignore: decorator
@inline
export function putPair(out: usize, value: u32): void {
  store<u16>(out, load<u16>(PAIRS + ((<usize>value) << 1)));
}

/** Digits of a number with the last at `end` - 1, zeros before them from `out` on. */
// @ts-ignore: decorator
@inline
function fillDigits(out: usize, end: usize, value: u32): void {
  let at = end;
  while (at >= out + 2) {
    const next = value / 100;
    at -= 2;
    putPair(at, value - next * 100);
    value = next;
  }
  if (at > out) store<u8>(at - 1, <u8>(48 + value));
}

/** Digits of a magnitude, at least `width` of them (zeros before). Gives the address behind them. */
export function putDigits(out: usize, magnitude: u64, width: u32): usize {
  if (magnitude >> 32 == 0) {
    const value = <u32>magnitude;
    const end = out + <usize>max(digitCount(value), width);
    fillDigits(out, end, value);
    return end;
  }
  const high = magnitude / EIGHT_DIGITS;
  const middle = putDigits(out, high, width > 8 ? width - 8 : 1);
  fillDigits(middle, middle + 8, <u32>(magnitude - high * EIGHT_DIGITS));
  return middle + 8;
}

/** The eight digits of a number below 10 to the 8, as values from 0 to 9, the first in the lowest byte; without branches. */
// @ts-ignore: decorator
@inline
export function eightDigits(value: u32): u64 {
  const high = value / 10_000;
  const fours = <u64>high | ((<u64>(value - high * 10_000)) << 32);
  // A quotient by 100, and below one by 10, as a product: exact for all that four and two digits say.
  const hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
  const twos = hundreds + ((fours - hundreds * 100) << 16);
  const tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
  return tens + ((twos - tens * 10) << 8);
}

/** What `setCivil` found. */
export let civilYear: i32 = 0;
export let civilMonth: u32 = 0;
export let civilDay: u32 = 0;

/**
 * The civil date of a day. Short ones as Neri and Schneider have it (Euclidean affine functions and their application to
 * calendar algorithms, 2023, figure 12): the months of a year that begins with March are nearly a straight line.
 */
export function setCivil(days: i64): void {
  const shifted = days + EPOCH_SHIFT;
  if (<u64>shifted > SHORT_DAYS_MAX) {
    setFarCivil(shifted);
    return;
  }
  const quarters = 4 * <u32>shifted + 3;
  const century = quarters / 146_097;
  const ofCentury = (quarters - century * 146_097) | 3;
  const product = 2_939_745 * <u64>ofCentury;
  const dayOfYear = <u32>product / 2_939_745 / 4;
  const line = 2141 * dayOfYear + 197_913;
  const isNextYear = <u32>(dayOfYear >= 306);
  civilDay = (line & 0xffff) / 2141 + 1;
  civilMonth = (line >> 16) - 12 * isNextYear;
  civilYear = <i32>(100 * century + <u32>(product >> 32) + isNextYear);
}

/** Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days. */
function setFarCivil(shifted: i64): void {
  const era = <i32>((shifted >= 0 ? shifted : shifted - 146_096) / 146_097);
  const dayOfEra = <u32>(shifted - <i64>era * 146_097);
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const shiftedMonth = (5 * dayOfYear + 2) / 153;
  civilDay = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1;
  civilMonth = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  civilYear = <i32>yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0);
}
