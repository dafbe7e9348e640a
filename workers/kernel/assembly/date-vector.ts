// Dates in vectors of expressions: the number of the day, as a whole number (vector.ts).
import { DATE_DAY, DATE_MONTH, DATE_YEAR, NULL, UNKNOWN, UNKNOWN_TEXT, VECTOR_MARKS } from '../layout/expressions';
import { viewOf } from './cell';
import { checkedDate, NO_DATE } from './dates';
import { civilDay, civilMonth, civilYear, setCivil } from './digits';
import { markAt, valueAt } from './vector';

/** Bytes of 2024-02-29. */
const DATE_BYTES: u32 = 10;

/** Reads texts that are dates as ISO 8601 has them; other texts are unknown. */
export function parseDays(views: usize, rows: usize, count: u32, vector: usize): void {
  const marks = <usize>load<u32>(vector, VECTOR_MARKS);
  for (let i: u32 = 0; i < count; i++) {
    const view = viewOf(views, rows, i);
    const s = <usize>load<u32>(view);
    let mark: u32 = s == 0 ? NULL : UNKNOWN;
    if (s > <usize>UNKNOWN_TEXT && load<u32>(view, 4) == DATE_BYTES) {
      const days = daysOf(s);
      if (days != NO_DATE) {
        store<f64>(valueAt(vector, <usize>i), <f64>days);
        mark = 0;
      }
    }
    store<u8>(marks + <usize>i, <u8>mark);
  }
}

/** The day of the ten bytes at s. */
// @ts-ignore: decorator
@inline
function daysOf(s: usize): i64 {
  const ends = v128.and(v128.load(s), v128(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0));
  const digits = v128.sub<i8>(ends, i8x16.splat(48));
  // The hyphens stand where no digit may: -3 is no digit, and everything else there is wrong.
  const wrong = <u32>i8x16.bitmask(i8x16.gt_u(digits, i8x16.splat(9))) & 0x3ff;
  if (wrong != 0x90 || load<u8>(s, 4) != 0x2d || load<u8>(s, 7) != 0x2d) return NO_DATE;
  const year = digit(s, 0) * 1000 + digit(s, 1) * 100 + digit(s, 2) * 10 + digit(s, 3);
  return checkedDate(year, digit(s, 5) * 10 + digit(s, 6), digit(s, 8) * 10 + digit(s, 9), 0, 0, 0, 0, 0);
}

// @ts-ignore: decorator
@inline
function digit(s: usize, at: usize): u32 {
  return <u32>load<u8>(s + at) - 48;
}

/** The year, month, day of the month or of the week (1 for Monday) of dates. */
export function dateParts(dates: usize, part: u32, result: usize, count: u32): void {
  const marks = <usize>load<u32>(result, VECTOR_MARKS);
  for (let i: usize = 0; i < <usize>count; i++) {
    const mark = markAt(dates, i);
    store<u8>(marks + i, <u8>mark);
    if (mark != 0) continue;
    const days = <i64>load<f64>(valueAt(dates, i));
    let value: i32;
    if (part <= DATE_DAY) {
      setCivil(days);
      value = part == DATE_YEAR ? civilYear : part == DATE_MONTH ? <i32>civilMonth : <i32>civilDay;
    } else value = <i32>((((days + 3) % 7) + 7) % 7) + 1;
    store<f64>(valueAt(result, i), <f64>value);
  }
}
