// Functions on dates and instants: CEL's selectors, and our own.

import { nativeDate } from '../../batch/native-cell.ts';
import { KIND_NUMBER } from '../../kernel/layout/cells.ts';
import { compileDatePattern, type DatePattern } from '../../values/date-pattern.ts';
import { instantsOfLocal, type TimeZone, timeZone } from '../../values/time-zone.ts';
import {
  addMonths,
  type CalendarDate,
  civilDate,
  type DateFields,
  type Duration,
  dayOfYear,
  durationNanos,
  endOfMonth,
  fieldsOfTimestamp,
  isoWeek,
  isoWeekday,
  monthsBetween,
  startOfMonth,
  Timestamp,
  timestampOf,
  timestampOfFields,
} from '../../values/timestamp.ts';
import { DATE, DURATION, INT, STRING, TIMESTAMP, type Type } from '../check/type.ts';
import { BAD_ARGUMENT, type Integer, NOT_A_DATE, narrowInteger, TIME_OUT_OF_RANGE } from '../compile/value.ts';
import {
  type Constants,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  type Overload,
  overload,
} from './definition.ts';
import { dateOf, inTime } from './operator.ts';

// CEL's selectors on instants and durations (such as getFullYear) with time zones.

/** Number of zones that a call caches if the zone is not a literal. */
const ZONES_KEPT_MAX = 64;

/** A cached lookup of zones; throws BAD_ARGUMENT for an unknown zone. */
function zoneCache(): (name: string) => TimeZone {
  const kept = new Map<string, TimeZone>();
  return (name) => {
    let zone = kept.get(name);
    if (zone === undefined) {
      const found = timeZone(name);
      if (found === null) throw BAD_ARGUMENT;
      zone = found;
      if (kept.size >= ZONES_KEPT_MAX) kept.clear();
      kept.set(name, zone);
    }
    return zone;
  };
}

/** Returns a check of the literal zone at a position. */
function checkZone(position: number) {
  return (constants: Constants): string | null => {
    const name = constants[position];
    return typeof name === 'string' && timeZone(name) === null
      ? `The time zone ${JSON.stringify(name)} is unknown. Write a name such as "Europe/Berlin" or an offset such as "+02:00".`
      : null;
  };
}

/**
 * Defines a selector of the local time of an instant (`local` is in seconds, counted as if it were UTC); UTC if no
 * zone is given.
 */
function selector(
  name: string,
  result: string,
  select: (local: number, nanos: number) => number,
  more: readonly Overload[] = [],
): DocumentedFunction {
  const zoned = (_context: Context) => {
    const zoneOf = zoneCache();
    return (at: Timestamp, zone: string) => select(at.seconds + zoneOf(zone).offsetAt(at.seconds), at.nanos);
  };
  const definition = define(
    name,
    'method',
    [
      overload([TIMESTAMP], INT, (at: Timestamp) => select(at.seconds, at.nanos)),
      { parameters: [TIMESTAMP, STRING], result: INT, prepare: zoned },
      ...more,
    ],
    { check: checkZone(1) },
  );
  const part = name.slice('get'.length);
  return documented(
    `instant.${name}([zone])`,
    `${part} of an instant in UTC or in a time zone. As in CEL, months and days of the week count from 0.`,
    `timestamp("2024-02-29T23:30:15.25Z").${name}()`,
    result,
    definition,
  );
}

const day = (local: number) => Math.floor(local / 86400);
const secondOfDay = (local: number) => local - day(local) * 86400;
const ofDuration = (divisor: bigint) =>
  overload([DURATION], INT, (span: Duration) => narrowInteger(durationNanos(span) / divisor));

export const TIME_FUNCTIONS: readonly DocumentedFunction[] = [
  selector('getFullYear', '2024', (local) => civilDate(day(local)).year),
  selector('getMonth', '1', (local) => civilDate(day(local)).month - 1),
  selector('getDate', '29', (local) => civilDate(day(local)).day),
  selector('getDayOfMonth', '28', (local) => civilDate(day(local)).day - 1),
  selector('getDayOfWeek', '4', (local) => isoWeekday(day(local)) % 7),
  selector('getDayOfYear', '59', (local) => dayOfYear(day(local)) - 1),
  selector('getHours', '23', (local) => Math.floor(secondOfDay(local) / 3600), [ofDuration(3_600_000_000_000n)]),
  selector('getMinutes', '30', (local) => Math.floor(secondOfDay(local) / 60) % 60, [ofDuration(60_000_000_000n)]),
  selector('getSeconds', '15', (local) => secondOfDay(local) % 60, [ofDuration(1_000_000_000n)]),
  selector('getMilliseconds', '250', (_local, nanos) => Math.floor(nanos / 1_000_000), [
    overload([DURATION], INT, (span: Duration) => narrowInteger((durationNanos(span) % 1_000_000_000n) / 1_000_000n)),
  ]),
];

// Our functions on dates and instants. An instant is read in its own offset (to_timezone sets the offset).

const SECONDS_PER_DAY = 86400;

/** Maximum number of days or months that may be added: more than the whole range of dates. */
const SHIFT_MAX = 4_000_000;

function localDays(at: Timestamp): number {
  return Math.floor((at.seconds + at.offsetSeconds) / SECONDS_PER_DAY);
}

/** Defines a function that computes a number from the day of a date or instant. */
function ofDay(name: string, select: (days: number) => number): FunctionDefinition {
  return define(name, 'both', [
    overload([DATE], INT, (date: CalendarDate) => select(date.days)),
    overload([TIMESTAMP], INT, (at: Timestamp) => select(localDays(at))),
  ]);
}

/**
 * Defines a function that computes a day in the month of a date or instant. The result is always a date, so that all
 * instants of a month give the same result.
 */
function dayOfMonth(name: string, select: (days: number) => number): FunctionDefinition {
  return define(name, 'both', [
    overload([DATE], DATE, (date: CalendarDate) => dateOf(select(date.days))),
    overload([TIMESTAMP], DATE, (at: Timestamp) => dateOf(select(localDays(at)))),
  ]);
}

/** Defines a function that moves the day; an instant keeps its time of day. */
function shift(name: string, move: (days: number, by: number) => number): FunctionDefinition {
  const by = (count: Integer) => {
    const number = Number(count);
    if (Math.abs(number) > SHIFT_MAX) throw TIME_OUT_OF_RANGE;
    return number;
  };
  return define(name, 'both', [
    overload([DATE, INT], DATE, (date: CalendarDate, count: Integer) => dateOf(move(date.days, by(count)))),
    overload([TIMESTAMP, INT], TIMESTAMP, (at: Timestamp, count: Integer) => {
      const days = localDays(at);
      const moved = dateOf(move(days, by(count))).days - days;
      return inTime(timestampOf(at.seconds + moved * SECONDS_PER_DAY, at.nanos, at.offsetSeconds));
    }),
  ]);
}

function between(name: string, count: (from: number, to: number) => number): FunctionDefinition {
  return define(name, 'function', [
    overload([DATE, DATE], INT, (from: CalendarDate, to: CalendarDate) => count(from.days, to.days)),
    overload([TIMESTAMP, TIMESTAMP], INT, (from: Timestamp, to: Timestamp) => count(localDays(from), localDays(to))),
    overload([TIMESTAMP, DATE], INT, (from: Timestamp, to: CalendarDate) => count(localDays(from), to.days)),
    overload([DATE, TIMESTAMP], INT, (from: CalendarDate, to: Timestamp) => count(from.days, localDays(to))),
  ]);
}

function patternOfConstants(constants: Constants): DatePattern | { problem: string } {
  const [, pattern, locale] = constants;
  return compileDatePattern(String(pattern), typeof locale === 'string' ? { locale } : {});
}

const NO_DATE =
  'The date pattern needs a year, a month and a day, as in dd.MM.yyyy, or a year with a month and no time, as in MM/yyyy.';

function checkDatePattern(needsDate: boolean) {
  return (constants: Constants): string | null => {
    if (typeof constants[1] !== 'string') return null;
    const pattern = patternOfConstants(constants);
    if ('problem' in pattern) return `The date pattern is wrong: ${pattern.problem}.`;
    return needsDate && !pattern.hasDate ? NO_DATE : null;
  };
}

function compiled(constants: Constants): DatePattern {
  const pattern = patternOfConstants(constants);
  if ('problem' in pattern) throw BAD_ARGUMENT;
  return pattern;
}

/**
 * A pattern with a time returns an instant (UTC if the text has no offset), a pattern without a time returns a date.
 */
function parser(_context: Context, constants: Constants) {
  const pattern = compiled(constants);
  return (text: string) => {
    const fields = pattern.parse(text);
    if (fields === null) throw NOT_A_DATE;
    return parsedValue(fields, pattern);
  };
}

/**
 * In a named zone, a local time that occurs twice is the earlier instant, and one that does not exist is an error, as in
 * parse_date.
 */
function parsedValue(fields: DateFields, { hasTime }: DatePattern): Timestamp | CalendarDate {
  if (!hasTime) return dateOf(fields.days);
  if (fields.zone === undefined) return inTime(timestampOfFields(fields, 0));
  const local = fields.days * SECONDS_PER_DAY + fields.second;
  const { kind, earlier } = instantsOfLocal(fields.zone, local);
  if (kind === 'gap') throw NOT_A_DATE;
  return inTime(timestampOf(earlier, fields.nanos, local - earlier));
}

/** A native date is used unchanged; a whole number is parsed as the text of its digits. */
function parsedNative(constants: Constants) {
  const pattern = compiled(constants);
  return (text: string, kind: number) => {
    const isDigits = kind === KIND_NUMBER && /^[0-9]+$/.test(text);
    const fields = isDigits ? pattern.parse(text) : nativeDate(text, kind);
    if (fields === null) throw NOT_A_DATE;
    return parsedValue(fields, pattern);
  };
}

function parsedType(constants: Constants): Type {
  const pattern = patternOfConstants(constants);
  return !('problem' in pattern) && pattern.hasTime ? TIMESTAMP : DATE;
}

function formatter(_context: Context, constants: Constants) {
  const pattern = compiled(constants);
  return (value: CalendarDate | Timestamp) => {
    const midnight = (days: number): DateFields => ({ days, second: 0, nanos: 0, offsetSeconds: 0 });
    return pattern.format(value instanceof Timestamp ? fieldsOfTimestamp(value) : midnight(value.days));
  };
}

function toZone(_context: Context) {
  const zoneOf = zoneCache();
  return (at: Timestamp, zone: string) => new Timestamp(at.seconds, at.nanos, zoneOf(zone).offsetAt(at.seconds));
}

export const EXTRA_DATE_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'year(date)',
    'The year.',
    'year(date("2024-02-29"))',
    '2024',
    ofDay('year', (days) => civilDate(days).year),
  ),
  documented(
    'month(date)',
    'The month, 1 to 12.',
    'month(date("2024-02-29"))',
    '2',
    ofDay('month', (days) => civilDate(days).month),
  ),
  documented(
    'day(date)',
    'The day of the month.',
    'day(date("2024-02-29"))',
    '29',
    ofDay('day', (days) => civilDate(days).day),
  ),
  documented(
    'weekday(date)',
    '1 for Monday to 7 for Sunday.',
    'weekday(date("2024-02-29"))',
    '4',
    ofDay('weekday', isoWeekday),
  ),
  documented(
    'iso_week(date)',
    'The week of the year, according to ISO 8601.',
    'iso_week(date("2024-12-30"))',
    '1',
    ofDay('iso_week', (days) => isoWeek(days).week),
  ),
  documented(
    'add_days(date, count)',
    'The date a number of days later.',
    'add_days(date("2024-02-28"), 2)',
    '2024-03-01',
    shift('add_days', (days, by) => days + by),
  ),
  documented(
    'add_months(date, count)',
    'The date a number of months later; the last day if the month is shorter.',
    'add_months(date("2024-01-31"), 1)',
    '2024-02-29',
    shift('add_months', addMonths),
  ),
  documented(
    'start_of_month(date)',
    'The first day of the month; a date, also for an instant.',
    'start_of_month(date("2024-02-29"))',
    '2024-02-01',
    dayOfMonth('start_of_month', startOfMonth),
  ),
  documented(
    'end_of_month(date)',
    'The last day of the month; a date, also for an instant.',
    'end_of_month(date("2024-02-01"))',
    '2024-02-29',
    dayOfMonth('end_of_month', endOfMonth),
  ),
  documented(
    'days_between(from, to)',
    'Number of calendar days from one date to the other, negative if the other is earlier.',
    'days_between(date("2024-02-28"), date("2024-03-01"))',
    '2',
    between('days_between', (from, to) => to - from),
  ),
  documented(
    'months_between(from, to)',
    'Number of whole months from one date to the other, negative if the other is earlier.',
    'months_between(date("2024-01-31"), date("2024-03-30"))',
    '1',
    between('months_between', monthsBetween),
  ),
  documented(
    'parse_date(text, pattern[, locale])',
    'Parses a date, or an instant (UTC) if the pattern has a time. The whole text must match; a space in the pattern matches any single space. The locale is the language of names.',
    'parse_date("29.02.2024", "dd.MM.yyyy")',
    '2024-02-29',
    define(
      'parse_date',
      'both',
      [
        { parameters: [STRING, STRING], result: DATE, refine: parsedType, prepare: parser, native: parsedNative },
        {
          parameters: [STRING, STRING, STRING],
          result: DATE,
          refine: parsedType,
          prepare: parser,
          native: parsedNative,
        },
      ],
      { literals: [1, 2], check: checkDatePattern(true) },
    ),
  ),
  documented(
    'format_date(date, pattern[, locale])',
    'Formats a date or an instant; the locale is the language of names.',
    'format_date(date("2024-02-29"), "d. MMMM yyyy", "de")',
    '29. Februar 2024',
    define(
      'format_date',
      'both',
      [DATE, TIMESTAMP].flatMap((type) => [
        { parameters: [type, STRING], result: STRING, prepare: formatter },
        { parameters: [type, STRING, STRING], result: STRING, prepare: formatter },
      ]),
      { literals: [1, 2], check: checkDatePattern(false) },
    ),
  ),
  documented(
    'to_timezone(instant, zone)',
    'The same instant in another time zone, for format_date, day and similar functions. A cell of a workbook shows the local time of that zone; other outputs use UTC.',
    'to_timezone(timestamp("2024-02-29T23:30:00Z"), "Europe/Berlin")',
    '2024-03-01T00:30:00+01:00',
    define('to_timezone', 'both', [{ parameters: [TIMESTAMP, STRING], result: TIMESTAMP, prepare: toZone }], {
      check: checkZone(1),
    }),
  ),
];
