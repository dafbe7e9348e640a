// Values of cells from files that know the kind of each cell (kernel/layout/cells.ts). Such cells have
// canonical texts. They are read by their kind alone, regardless of the Template's settings for other texts.
import { KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TIME } from '../kernel/layout/cells.ts';
import { type Decimal, parseDecimal } from '../values/decimal.ts';
import { type DurationReading, durationOfCount, parseTimeText, type TimeOfDay } from '../values/durations.ts';
import { type DateFields, type Duration, durationOf, parseDateText, parseOffset } from '../values/timestamp.ts';

const SECONDS_PER_HOUR = 3600;
const SECONDS_PER_DAY = 86_400;
/** The day 1899-12-31, and the number of days after it for which workbooks and the calendar agree. */
const DAY_ZERO_OF_1900 = -25_568;
const DAYS_BEFORE_LEAP = 59;
const DATE_LENGTH = 10;
const NANOS_DIGITS = 9;

/** A number in JSON notation, with its scale as written. Null if it has more digits than a decimal allows. */
export function nativeNumber(text: string): Decimal | null {
  return parseDecimal(text, true);
}

/** A date, or a date with a time, unchanged. Null for other kinds. A date is its midnight, without a zone. */
export function nativeDate(text: string, kind: number): DateFields | null {
  if (kind !== KIND_DATE && kind !== KIND_DATETIME) return null;
  const days = parseDateText(text.slice(0, DATE_LENGTH));
  if (days === null) return null;
  if (kind === KIND_DATE) return { days, second: 0, nanos: 0, offsetSeconds: null };
  const match = /^T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9})0*)?(Z|[+-][0-9]{2}:[0-9]{2})?$/.exec(
    text.slice(DATE_LENGTH),
  );
  if (match === null) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return {
    days,
    second: hours * SECONDS_PER_HOUR + minutes * 60 + seconds,
    nanos: Number((match[4] ?? '').padEnd(NANOS_DIGITS, '0')),
    offsetSeconds: match[5] === undefined ? null : match[5] === 'Z' ? 0 : parseOffset(match[5]),
  };
}

/** A time, or the time of a date with a time. Null for other kinds. */
export function nativeTime(text: string, kind: number): TimeOfDay | null {
  return kind === KIND_TIME ? parseTimeText(text) : kind === KIND_DATETIME ? nativeDate(text, kind) : null;
}

/**
 * The duration of a time is the time since midnight; a number has the unit of numbers without a unit. In a workbook,
 * a duration of more than 24 hours is a date in 1900 with a time, because workbooks count days from there.
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

// A text cell with a native kind other than text: its canonical text and its kind. Used only by code that moves cells
// as values (the stored type `text_with_kind`). Text cells with kind text are plain strings there, too.

export class NativeText {
  readonly text: string;
  /** One of the kinds in kernel/layout/cells.ts, except KIND_TEXT. */
  readonly kind: number;

  constructor(text: string, kind: number) {
    this.text = text;
    this.kind = kind;
  }

  toString(): string {
    return this.text;
  }
}
