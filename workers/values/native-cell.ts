// Owns the values of canonical texts: what a cell is of a file that knows its kind (kernel/layout/native-kinds.ts). They are
// read by their kind alone, whatever a Template says of the texts of its other files.
import { KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME } from '../kernel/layout/native-kinds.ts';
import { parseDateText } from './calendar.ts';
import type { DateFields } from './date-fields.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { type DurationReading, durationOfCount } from './duration-text.ts';
import { parseTimeText, type TimeOfDay } from './time-of-day.ts';
import { type Duration, durationOf, parseOffset } from './timestamp.ts';

const SECONDS_PER_HOUR = 3600;
const SECONDS_PER_DAY = 86_400;
/** 1899-12-31, and how many days a workbook counts from there as the calendar does. */
const DAY_ZERO_OF_1900 = -25_568;
const DAYS_BEFORE_LEAP = 59;
const DATE_LENGTH = 10;
const NANOS_DIGITS = 9;

/** Of a number as JSON writes it, with the scale as written; null when it has more digits than a decimal. */
export function nativeNumber(text: string): Decimal | null {
  return parseDecimal(text, true);
}

/** Of a date or a date with time, as it stands there; null for any other kind. A date is its midnight, in no zone. */
export function nativeDate(text: string, kind: number): DateFields | null {
  if (kind !== KIND_DATE && kind !== KIND_DATETIME) return null;
  const days = parseDateText(text.slice(0, DATE_LENGTH));
  if (days === null) return null;
  if (kind === KIND_DATE) return { days, second: 0, nanos: 0, offsetSeconds: null };
  const match = /^T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,18}))?(Z|[+-][0-9]{2}:[0-9]{2})?$/.exec(
    text.slice(DATE_LENGTH),
  );
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return {
    days,
    second: hours * SECONDS_PER_HOUR + minutes * 60 + seconds,
    nanos: Number((match[4] ?? '').slice(0, NANOS_DIGITS).padEnd(NANOS_DIGITS, '0')),
    offsetSeconds: match[5] === undefined ? null : match[5] === 'Z' ? 0 : parseOffset(match[5]),
  };
}

/** A time as it is, of a date with a time the time; null for any other kind. */
export function nativeTime(text: string, kind: number): TimeOfDay | null {
  return kind === KIND_TIME ? parseTimeText(text) : kind === KIND_DATETIME ? nativeDate(text, kind) : null;
}

/**
 * Of a time, since midnight; of a number, in the unit that a number alone has. A workbook's hours beyond 24 are days of 1900
 * with a time, since it counts days from there.
 */
export function nativeDuration(text: string, kind: number, reading: DurationReading): Duration | null {
  if (kind === KIND_TIME) {
    const time = parseTimeText(text);
    return time === null ? null : durationOf(time.second, time.nanos);
  }
  if (kind === KIND_NUMBER) {
    const number = reading.plain === undefined ? null : nativeNumber(text);
    return number === null ? null : durationOfCount(number, reading.plain!);
  }
  const fields = kind === KIND_DATETIME ? nativeDate(text, kind) : null;
  const days = fields === null ? -1 : fields.days - DAY_ZERO_OF_1900;
  return fields === null || days < 0 || days > DAYS_BEFORE_LEAP
    ? null
    : durationOf(days * SECONDS_PER_DAY + fields.second, fields.nanos);
}
