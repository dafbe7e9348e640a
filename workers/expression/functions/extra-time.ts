// Owns our functions on durations, times of the day and instants as numbers. A time of the day is the duration since
// midnight, so that times are compared, and subtracted from each other, as durations are.
import { type CalendarDate, civilDate, isoWeek } from '../../values/calendar.ts';
import { timestampOfFields } from '../../values/date-fields.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import { Decimal, decimalFromNumber } from '../../values/decimal.ts';
import {
  type DurationUnit,
  durationIn,
  durationOfCount,
  isDurationUnit,
  readDuration,
} from '../../values/duration-text.ts';
import { type EpochUnit, epochFields, epochOf } from '../../values/epoch.ts';
import { nativeDuration, nativeTime } from '../../values/native-cell.ts';
import { compileTimePattern, fieldsOfTime, readTime, TIME_FORMATS, type TimeOfDay } from '../../values/time-of-day.ts';
import { Duration, Timestamp } from '../../values/timestamp.ts';
import { compileDurationPattern } from '../../values/written-duration.ts';
import { DATE, DECIMAL, DOUBLE, DURATION, INT, STRING, TIMESTAMP } from '../check/type.ts';
import { BAD_ARGUMENT, NOT_A_DURATION, NOT_A_TIME, TIME_OUT_OF_RANGE } from '../compile/evaluation-error.ts';
import type { Integer } from '../compile/value.ts';
import { type Constants, type Context, type DocumentedFunction, define, documented, overload } from './definition.ts';
import { inTime } from './operator.ts';

const SECONDS_PER_DAY = 86_400;

/** The unit of a literal argument, which the check has seen. */
function unitOf(constants: Constants): DurationUnit {
  const unit = String(constants[1]);
  if (!isDurationUnit(unit)) throw BAD_ARGUMENT;
  return unit;
}

function checkUnit(constants: Constants): string | null {
  const unit = constants[1];
  return typeof unit !== 'string' || isDurationUnit(unit) ? null : 'The unit is "ms", "s", "min", "h" or "d".';
}

function epochUnitOf(constants: Constants): EpochUnit {
  return constants[1] === 'ms' ? 'ms' : 's';
}

function checkEpoch(constants: Constants): string | null {
  const unit = constants[1];
  return typeof unit !== 'string' || unit === 's' || unit === 'ms' ? null : 'The unit is "s" or "ms".';
}

function timePatterns(constants: Constants): readonly DatePattern[] {
  const sources = constants[1] === undefined ? TIME_FORMATS : [String(constants[1])];
  return sources.map((source) => {
    const pattern = compileTimePattern(source);
    if ('problem' in pattern) throw BAD_ARGUMENT;
    return pattern;
  });
}

function checkTimePattern(constants: Constants): string | null {
  if (typeof constants[1] !== 'string') return null;
  const pattern = compileTimePattern(constants[1]);
  return 'problem' in pattern ? `The time pattern is wrong: ${pattern.problem}.` : null;
}

function sinceMidnight(time: TimeOfDay | null): Duration {
  if (time === null) throw NOT_A_TIME;
  return new Duration(time.second, time.nanos);
}

function timeReader(_context: Context, constants: Constants) {
  const patterns = timePatterns(constants);
  return (text: string) => sinceMidnight(readTime(text, patterns));
}

function timeWriter(_context: Context, constants: Constants) {
  const [pattern] = timePatterns(constants);
  return ({ seconds, nanos }: Duration) => {
    if (seconds < 0 || seconds >= SECONDS_PER_DAY) throw TIME_OUT_OF_RANGE;
    return pattern!.format(fieldsOfTime({ second: seconds, nanos }));
  };
}

function durationPattern(constants: Constants) {
  return compileDurationPattern(constants[1] === undefined ? 'H:mm:ss' : String(constants[1]));
}

function durationWriter(_context: Context, constants: Constants) {
  const pattern = durationPattern(constants);
  if ('problem' in pattern) throw BAD_ARGUMENT;
  return (duration: Duration) => pattern.format(duration);
}

function checkDurationPattern(constants: Constants): string | null {
  const pattern = durationPattern(constants);
  return 'problem' in pattern ? `The pattern of a duration is wrong: ${pattern.problem}.` : null;
}

function known(duration: Duration | null): Duration {
  if (duration === null) throw NOT_A_DURATION;
  return duration;
}

function counted(number: Decimal | null, unit: DurationUnit): Duration {
  return inTime(number === null ? null : durationOfCount(number, unit));
}

/** The same number out of a date or an instant, by its own clock. */
function ofDay(name: string, select: (days: number) => number) {
  return define(name, 'both', [
    overload([DATE], INT, (date: CalendarDate) => select(date.days)),
    overload([TIMESTAMP], INT, (at: Timestamp) =>
      select(Math.floor((at.seconds + at.offsetSeconds) / SECONDS_PER_DAY)),
    ),
  ]);
}

export const EXTRA_TIME_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'quarter(date)',
    'The quarter of the year, 1 to 4.',
    'quarter(date("2024-02-29"))',
    '1',
    ofDay('quarter', (days) => Math.ceil(civilDate(days).month / 3)),
  ),
  documented(
    'iso_year(date)',
    'The year to which the week of iso_week belongs.',
    'iso_year(date("2024-12-30"))',
    '2025',
    ofDay('iso_year', (days) => isoWeek(days).year),
  ),
  documented(
    'to_epoch(date, unit)',
    'Seconds ("s") or milliseconds ("ms") since 1970 in UTC; of a date those of its midnight.',
    'to_epoch(timestamp("2026-01-01T00:00:00Z"), "ms")',
    '1767225600000',
    define(
      'to_epoch',
      'both',
      [
        {
          parameters: [TIMESTAMP, STRING],
          result: INT,
          prepare: (_context, constants) => (at: Timestamp) => epochOf(at, epochUnitOf(constants)),
        },
        {
          parameters: [DATE, STRING],
          result: INT,
          prepare: (_context, constants) => (date: CalendarDate) =>
            epochOf(new Timestamp(date.days * SECONDS_PER_DAY, 0), epochUnitOf(constants)),
        },
      ],
      { literals: [1], check: checkEpoch },
    ),
  ),
  documented(
    'from_epoch(number, unit)',
    'The instant of seconds ("s") or milliseconds ("ms") since 1970 in UTC; parse_date with epoch reads whole columns.',
    'from_epoch(1767225600, "s")',
    '2026-01-01T00:00:00Z',
    define(
      'from_epoch',
      'both',
      [
        {
          parameters: [INT, STRING],
          result: TIMESTAMP,
          prepare: (_context, constants) => (count: Integer) => {
            const fields = epochFields(String(count), epochUnitOf(constants));
            return inTime(fields === null ? null : timestampOfFields(fields, 0));
          },
        },
      ],
      { literals: [1], check: checkEpoch },
    ),
  ),
  documented(
    'parse_time(text[, pattern])',
    'A time of the day, as the duration since midnight; without a pattern as the operation parse_time reads it.',
    'parse_time("2:30 PM") - parse_time("8:15") == duration("6h15m")',
    'true',
    define(
      'parse_time',
      'both',
      [[STRING], [STRING, STRING]].map((parameters) => ({
        parameters,
        result: DURATION,
        prepare: timeReader,
        native: () => (text: string, kind: number) => sinceMidnight(nativeTime(text, kind)),
      })),
      { literals: [1], check: checkTimePattern },
    ),
  ),
  documented(
    'format_time(duration, pattern)',
    'The text of a time of the day.',
    'format_time(parse_time("14:30"), "h:mm a")',
    '2:30 PM',
    define('format_time', 'both', [{ parameters: [DURATION, STRING], result: STRING, prepare: timeWriter }], {
      literals: [1],
      check: checkTimePattern,
    }),
  ),
  documented(
    'time_of_day(instant)',
    'The duration since midnight by the clock of the instant (to_timezone sets it).',
    'format_duration(time_of_day(timestamp("2024-02-29T23:30:00Z")))',
    '23:30:00',
    define('time_of_day', 'both', [
      overload([TIMESTAMP], DURATION, ({ seconds, nanos, offsetSeconds }: Timestamp) => {
        const local = seconds + offsetSeconds;
        return new Duration(local - Math.floor(local / SECONDS_PER_DAY) * SECONDS_PER_DAY, nanos);
      }),
    ]),
  ),
  documented(
    'parse_duration(text)',
    'A duration as people and programs write it: 1:30:00, 1:30 (hours and minutes), 90 min, 1h 30m, PT1H30M.',
    'parse_duration("1:30") == duration("90m")',
    'true',
    define('parse_duration', 'both', [
      overload(
        [STRING],
        DURATION,
        (text: string) => known(readDuration(text)),
        () => (text: string, kind: number) => known(nativeDuration(text, kind, {})),
      ),
    ]),
  ),
  documented(
    'duration_of(number, unit)',
    'So many milliseconds ("ms"), seconds ("s"), minutes ("min"), hours ("h") or days ("d").',
    'duration_of(1.5d, "h") == duration("90m")',
    'true',
    define(
      'duration_of',
      'both',
      [
        {
          parameters: [INT, STRING],
          result: DURATION,
          prepare: (_context, constants) => (count: Integer) => counted(new Decimal(count, 0), unitOf(constants)),
        },
        {
          parameters: [DECIMAL, STRING],
          result: DURATION,
          prepare: (_context, constants) => (count: Decimal) => counted(count, unitOf(constants)),
        },
        {
          parameters: [DOUBLE, STRING],
          result: DURATION,
          prepare: (_context, constants) => (count: number) => counted(decimalFromNumber(count), unitOf(constants)),
        },
      ],
      { literals: [1], check: checkUnit },
    ),
  ),
  documented(
    'duration_in(duration, unit)',
    'How many of a unit a duration has, a decimal, half even to ten digits; units as in duration_of.',
    'duration_in(duration("90m"), "h")',
    '1.5',
    define(
      'duration_in',
      'both',
      [
        {
          parameters: [DURATION, STRING],
          result: DECIMAL,
          prepare: (_context, constants) => (span: Duration) => inTime(durationIn(span, unitOf(constants))),
        },
      ],
      { literals: [1], check: checkUnit },
    ),
  ),
  documented(
    'format_duration(duration[, pattern])',
    'The text of a duration by d, H, m, s and S; the largest unit counts on, what is below the smallest is cut off. H:mm:ss unless said.',
    'format_duration(duration("26h5m"), "H:mm")',
    '26:05',
    define(
      'format_duration',
      'both',
      [[DURATION], [DURATION, STRING]].map((parameters) => ({ parameters, result: STRING, prepare: durationWriter })),
      { literals: [1], check: checkDurationPattern },
    ),
  ),
];
