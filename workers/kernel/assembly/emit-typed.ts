// Texts of typed cells: integers, decimals, dates and times, as both emit kernels write them.

/** Longest text of a typed cell: sign, 19 digits, mark and up to 253 zeros of a decimal's scale. */
export const TYPED_BYTES_MAX: usize = 320;

const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/** Digits of a magnitude, at least `width` of them (zeros before). Gives the address behind them. */
function putDigits(out: usize, magnitude: u64, width: i32): usize {
  let length: i32 = 1;
  for (let rest = magnitude; rest >= 10; rest /= 10) length++;
  if (length < width) length = width;
  let at = out + <usize>length;
  let rest = magnitude;
  while (at > out) {
    const next = rest / 10;
    store<u8>(--at, <u8>(48 + (rest - next * 10)));
    rest = next;
  }
  return out + <usize>length;
}

export function putInteger(out: usize, value: i64): usize {
  if (value >= 0) return putDigits(out, <u64>value, 1);
  store<u8>(out, 0x2d);
  return putDigits(out + 1, 0 - <u64>value, 1);
}

/** An unscaled value with its scale: all its places, the mark before them. */
export function putDecimal(out: usize, unscaled: i64, scale: u32, mark: u32): usize {
  if (scale == 0) return putInteger(out, unscaled);
  let start = out;
  let magnitude = <u64>unscaled;
  if (unscaled < 0) {
    store<u8>(start++, 0x2d);
    magnitude = 0 - magnitude;
  }
  const end = putDigits(start, magnitude, <i32>scale + 1);
  const point = end - <usize>scale;
  memory.copy(point + 1, point, <usize>scale);
  store<u8>(point, <u8>mark);
  return end + 1;
}

/** Days since 1970-01-01 as YYYY-MM-DD; years beyond four digits as ISO 8601's expanded ones (+012345). */
export function putDate(out: usize, days: i64): usize {
  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
  const shifted = days + 719_468;
  const era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097;
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const shiftedMonth = (5 * dayOfYear + 2) / 153;
  const day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  let at = out;
  if (year >= 0 && year <= 9999) at = putDigits(at, <u64>year, 4);
  else {
    store<u8>(at++, year < 0 ? 0x2d : 0x2b);
    at = putDigits(at, <u64>(year < 0 ? -year : year), 6);
  }
  store<u8>(at++, 0x2d);
  at = putDigits(at, <u64>month, 2);
  store<u8>(at++, 0x2d);
  return putDigits(at, <u64>day, 2);
}

/** Microseconds since 1970-01-01Z as YYYY-MM-DDThh:mm:ss[.f]Z, the fraction without zeros at its end. */
export function putDatetime(out: usize, microseconds: i64): usize {
  let days = microseconds / MICROSECONDS_PER_DAY;
  let rest = microseconds - days * MICROSECONDS_PER_DAY;
  if (rest < 0) {
    rest += MICROSECONDS_PER_DAY;
    days--;
  }
  let at = putDate(out, days);
  const seconds = <u64>rest / 1_000_000;
  const fraction = <u64>rest - seconds * 1_000_000;
  store<u8>(at++, 0x54);
  at = putDigits(at, seconds / 3600, 2);
  store<u8>(at++, 0x3a);
  at = putDigits(at, (seconds / 60) % 60, 2);
  store<u8>(at++, 0x3a);
  at = putDigits(at, seconds % 60, 2);
  if (fraction != 0) {
    store<u8>(at++, 0x2e);
    at = putDigits(at, fraction, 6);
    while (load<u8>(at - 1) == 0x30) at--;
  }
  store<u8>(at++, 0x5a);
  return at;
}
