// Owns our functions on dates and instants. An instant is taken in the offset that it carries (to_timezone sets it).

import { KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import {
  addMonths,
  type CalendarDate,
  civilDate,
  endOfMonth,
  isoWeek,
  isoWeekday,
  monthsBetween,
  startOfMonth,
} from '../../values/calendar.ts';
import { type DateFields, fieldsOfTimestamp, timestampOfFields } from '../../values/date-fields.ts';
import { compileDatePattern, type DatePattern } from '../../values/date-pattern.ts';
import { nativeDate } from '../../values/native-cell.ts';
import { Timestamp, timestampOf } from '../../values/timestamp.ts';
import { DATE, INT, STRING, TIMESTAMP, type Type } from '../check/type.ts';
import { BAD_ARGUMENT, NOT_A_DATE, TIME_OUT_OF_RANGE } from '../compile/evaluation-error.ts';
import type { Integer } from '../compile/value.ts';
import {
  type Constants,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  overload,
} from './definition.ts';
import { dateOf, inTime } from './operator.ts';
import { checkZone, zoneCache } from './time.ts';

const SECONDS_PER_DAY = 86400;

/** Most days or months that may be added: beyond the whole range of dates. */
const SHIFT_MAX = 4_000_000;

function localDays(at: Timestamp): number {
  return Math.floor((at.seconds + at.offsetSeconds) / SECONDS_PER_DAY);
}

/** The same number out of a date or an instant. */
function ofDay(name: string, select: (days: number) => number): FunctionDefinition {
  return define(name, 'both', [
    overload([DATE], INT, (date: CalendarDate) => select(date.days)),
    overload([TIMESTAMP], INT, (at: Timestamp) => select(localDays(at))),
  ]);
}

/** A day of the month of a date or an instant: always a date, so that all instants of a month give the same. */
function dayOfMonth(name: string, select: (days: number) => number): FunctionDefinition {
  return define(name, 'both', [
    overload([DATE], DATE, (date: CalendarDate) => dateOf(select(date.days))),
    overload([TIMESTAMP], DATE, (at: Timestamp) => dateOf(select(localDays(at)))),
  ]);
}

/** Another day: of an instant the time of day stays. */
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
  'The date pattern needs a year, a month and a day, as in dd.MM.yyyy, or no day and no time, as in MM/yyyy.';

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

/** A pattern with a time gives an instant (UTC where the text names no offset), one without gives a date. */
function parser(_context: Context, constants: Constants) {
  const pattern = compiled(constants);
  return (text: string) => {
    const fields = pattern.parse(text);
    if (fields === null) throw NOT_A_DATE;
    return pattern.hasTime ? inTime(timestampOfFields(fields, 0)) : dateOf(fields.days);
  };
}

/** A date that the file knows as such is taken as it is, a whole number as the text of its digits. */
function parsedNative(constants: Constants) {
  const pattern = compiled(constants);
  return (text: string, kind: number) => {
    const isDigits = kind === KIND_NUMBER && /^[0-9]+$/.test(text);
    const fields = isDigits ? pattern.parse(text) : nativeDate(text, kind);
    if (fields === null) throw NOT_A_DATE;
    return pattern.hasTime ? inTime(timestampOfFields(fields, 0)) : dateOf(fields.days);
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
    'The week of the year by ISO 8601.',
    'iso_week(date("2024-12-30"))',
    '1',
    ofDay('iso_week', (days) => isoWeek(days).week),
  ),
  documented(
    'add_days(date, count)',
    'Days later.',
    'add_days(date("2024-02-28"), 2)',
    '2024-03-01',
    shift('add_days', (days, by) => days + by),
  ),
  documented(
    'add_months(date, count)',
    'Months later; the last day where the month is shorter.',
    'add_months(date("2024-01-31"), 1)',
    '2024-02-29',
    shift('add_months', addMonths),
  ),
  documented(
    'start_of_month(date)',
    'The first of the month; a date also for an instant.',
    'start_of_month(date("2024-02-29"))',
    '2024-02-01',
    dayOfMonth('start_of_month', startOfMonth),
  ),
  documented(
    'end_of_month(date)',
    'The last of the month; a date also for an instant.',
    'end_of_month(date("2024-02-01"))',
    '2024-02-29',
    dayOfMonth('end_of_month', endOfMonth),
  ),
  documented(
    'days_between(from, to)',
    'Days of the calendar from one date to the other, below zero when the other is earlier.',
    'days_between(date("2024-02-28"), date("2024-03-01"))',
    '2',
    between('days_between', (from, to) => to - from),
  ),
  documented(
    'months_between(from, to)',
    'Whole months from one date to the other, below zero when the other is earlier.',
    'months_between(date("2024-01-31"), date("2024-03-30"))',
    '1',
    between('months_between', monthsBetween),
  ),
  documented(
    'parse_date(text, pattern[, locale])',
    'A date, or an instant (UTC) where the pattern has a time. The whole text must match; a space in the pattern is any one space. The locale is the language of names.',
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
    'The text of a date or instant; the locale is the language of names.',
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
    'The same instant with the clock of a zone, for format_date, day and the like; a cell shows it in UTC.',
    'to_timezone(timestamp("2024-02-29T23:30:00Z"), "Europe/Berlin")',
    '2024-03-01T00:30:00+01:00',
    define('to_timezone', 'both', [{ parameters: [TIMESTAMP, STRING], result: TIMESTAMP, prepare: toZone }], {
      check: checkZone(1),
    }),
  ),
];
