// Owns the arithmetic of the proleptic Gregorian calendar on day numbers (0 is 1970-01-01). It knows no time zones, no
// patterns and no locale.

/** Day number of 0001-01-01 and of 9999-12-31: the range of every date and datetime. */
export const DAY_MIN = -719162;
/** Day number of 9999-12-31. */
export const DAY_MAX = 2932896;

/** A year (1 to 9999), a month (1 to 12) and a day of the month (1 to 31). */
export interface CivilDate {
  year: number;
  month: number;
  day: number;
}

/** A date without a time: `days` since 1970-01-01. */
export class CalendarDate {
  readonly days: number;

  constructor(days: number) {
    this.days = days;
  }

  toString(): string {
    return dateText(this.days);
  }
}

/** Day number of a date that exists; Howard Hinnant, chrono-Compatible Low-Level Date Algorithms. */
export function dayNumber(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

/** The date of a day number. */
export function civilDate(days: number): CivilDate {
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Whether the three numbers name a day between 0001-01-01 and 9999-12-31. */
export function isDate(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** 28 to 31. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Every fourth year, without the hundreds, with the four hundreds. */
function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** The same day `months` later (earlier when negative), or the last day of that month where it is shorter. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = civilDate(days);
  const index = year * 12 + (month - 1) + months;
  const newYear = Math.floor(index / 12);
  const newMonth = index - newYear * 12 + 1;
  return dayNumber(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

/** Whole months from the one day to the other; negative when `to` is earlier. addMonths(from, result) never passes `to`. */
export function monthsBetween(from: number, to: number): number {
  const a = civilDate(from);
  const b = civilDate(to);
  let months = (b.year - a.year) * 12 + (b.month - a.month);
  if (months > 0 && addMonths(from, months) > to) months--;
  if (months < 0 && addMonths(from, months) < to) months++;
  return months;
}

/** 1 (Monday) to 7 (Sunday), as ISO 8601 numbers them. */
export function isoWeekday(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** 1 for the first of January. */
export function dayOfYear(days: number): number {
  return days - dayNumber(civilDate(days).year, 1, 1) + 1;
}

/** Year and week of ISO 8601: the week belongs to the year of its Thursday. */
export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days + 4 - isoWeekday(days);
  const { year } = civilDate(thursday);
  return { year, week: Math.floor((thursday - dayNumber(year, 1, 1)) / 7) + 1 };
}

/** Day of a week of ISO 8601, `weekday` from 1 (Monday); null where the year has no such week, or the range of dates ends. */
export function dayOfIsoWeek(year: number, week: number, weekday: number): number | null {
  if (!(year >= 1 && year <= 9999 && week >= 1 && week <= 53 && weekday >= 1 && weekday <= 7)) return null;
  const fourth = dayNumber(year, 1, 4);
  const monday = fourth - isoWeekday(fourth) + 1 + (week - 1) * 7;
  if (week === 53 && isoWeek(monday).week !== 53) return null;
  const day = monday + weekday - 1;
  return day < DAY_MIN || day > DAY_MAX ? null : day;
}

/** First day of the month. */
export function startOfMonth(days: number): number {
  return days - civilDate(days).day + 1;
}

/** Last day of the month. */
export function endOfMonth(days: number): number {
  const { year, month } = civilDate(days);
  return dayNumber(year, month, daysInMonth(year, month));
}

/** `2024-02-29`. */
export function dateText(days: number): string {
  const { year, month, day } = civilDate(days);
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}

/** Reads `2024-02-29` and nothing else; the day number, or null. */
export function parseDateText(text: string): number | null {
  if (text.length !== 10 || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  return isDate(year, month, day) ? dayNumber(year, month, day) : null;
}
