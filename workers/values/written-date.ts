// Writes a day and its time by the pieces of a date pattern.
import { type CivilDate, civilDate, isoWeek, isoWeekday } from './calendar.ts';
import type { DateFields } from './date-fields.ts';
import type { DatePart } from './date-pattern-parts.ts';
import type { DateNames } from './month-names.ts';
import { offsetText } from './timestamp.ts';
import { zoneTextOf } from './zone-text.ts';

/** The text of a day and its time. */
export function writeDate(parts: readonly DatePart[], names: DateNames, fields: DateFields): string {
  const date = civilDate(fields.days);
  let text = '';
  for (const part of parts) text += part.letter === '' ? part.literal : formatPart(part, names, fields, date);
  return text;
}

function formatPart({ letter, count }: DatePart, names: DateNames, fields: DateFields, date: CivilDate): string {
  const { year, month, day } = date;
  const hour = Math.floor(fields.second / 3600);
  const digits = (value: number) => (count === 2 && value < 10 ? `0${value}` : String(value));
  if (letter === 'y') return count === 2 ? digits(year % 100) : String(year).padStart(4, '0');
  if (letter === 'Y') return String(isoWeek(fields.days).year).padStart(4, '0');
  if (letter === 'w') return digits(isoWeek(fields.days).week);
  if (letter === 'e') return String(isoWeekday(fields.days));
  if (letter === 'Q') return `${count === 3 ? 'Q' : ''}${Math.ceil(month / 3)}`;
  if (letter === 'M' && count >= 3) return (count === 3 ? names.monthsShort : names.months)[month - 1]!;
  if (letter === 'M') return digits(month);
  if (letter === 'd') return digits(day);
  if (letter === 'E') return (count === 4 ? names.weekdays : names.weekdaysShort)[isoWeekday(fields.days) - 1]!;
  if (letter === 'H') return digits(hour);
  if (letter === 'h') return digits(hour % 12 === 0 ? 12 : hour % 12);
  if (letter === 'm') return digits(Math.floor(fields.second / 60) % 60);
  if (letter === 's') return digits(fields.second % 60);
  if (letter === 'S') return String(fields.nanos).padStart(9, '0').slice(0, count);
  if (letter === 'a') return hour < 12 ? 'AM' : 'PM';
  if (letter === 'z') return zoneTextOf(fields.offsetSeconds ?? 0);
  const offset = offsetText(fields.offsetSeconds ?? 0);
  if (offset === 'Z') return letter === 'X' ? 'Z' : '+00:00'.replace(':', count === 1 ? '' : ':');
  return count === 3 || count === 5 ? offset : offset.replace(':', '');
}
