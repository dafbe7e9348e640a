// Numbers that are dates: days since the start of 1900 or of 1904, with the time as a fraction.
import {
  MEANING_DATE as DATE,
  MEANING_DATE_TIME as DATE_TIME,
  MEANING_TIME as TIME,
} from '../../kernel/layout/sheet.ts';
import { DAY_MAX, dateText, dayNumber } from '../../values/calendar.ts';

const DAY_MILLISECONDS = 86_400_000;

/** The day that 1900 never had, and that its calendar counts all the same (Lotus 1-2-3). */
const FALSE_LEAP_DAY = 60;

export interface SerialText {
  /** MEANING of the text, which may be another than that of the format. */
  readonly meaning: number;
  readonly text: string;
}

/** Null for what is no date: below the first day, the false leap day, or behind the year 9999. */
export function serialText(serial: number, meaning: number, is1904: boolean): SerialText | null {
  if (!(serial >= 0)) return null;
  const milliseconds = Math.round(serial * DAY_MILLISECONDS);
  const day = Math.floor(milliseconds / DAY_MILLISECONDS);
  const time = milliseconds - day * DAY_MILLISECONDS;
  const isTimeOnly = day === 0 && (meaning === TIME || (!is1904 && (meaning === DATE_TIME || time > 0)));
  if (isTimeOnly) return { meaning: TIME, text: timeText(time) };
  if (!is1904 && (day === 0 || day === FALSE_LEAP_DAY)) return null;
  const days = is1904 ? dayNumber(1904, 1, 1) + day : dayNumber(1899, 12, day > FALSE_LEAP_DAY ? 30 : 31) + day;
  if (days > DAY_MAX) return null;
  if (meaning === DATE && time === 0) return { meaning: DATE, text: dateText(days) };
  return { meaning: DATE_TIME, text: `${dateText(days)}T${timeText(time)}` };
}

/** `13:05:00`, with a fraction only where there is one. */
function timeText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = milliseconds % 1000;
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(3, '0').replace(/0+$/, '')}`;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${fraction}`;
}
