// Additional functions for durations, times of day, and instants as numbers. A time of day is the duration since
// midnight, so that times can be compared and subtracted like durations.

import { nativeDuration, nativeTime } from '../../batch/native-cell.ts';
import type { DatePattern } from '../../values/date-pattern.ts';
import { Decimal, decimalFromNumber } from '../../values/decimal.ts';
import {
  compileDurationPattern,
  compileTimePattern,
  type DurationUnit,
  durationIn,
  durationOfCount,
  fieldsOfTime,
  isDurationUnit,
  readDuration,
  readTime,
  TIME_FORMATS,
  type TimeOfDay,
} from '../../values/durations.ts';
import {
  type CalendarDate,
  civilDate,
  Duration,
  epochFields,
  epochOf,
  isoWeek,
  Timestamp,
  timestampOfFields,
} from '../../values/timestamp.ts';
import { DATE, DECIMAL, DOUBLE, DURATION, INT, STRING, TIMESTAMP } from '../check/type.ts';
import { BAD_ARGUMENT, type Integer, NOT_A_DURATION, NOT_A_TIME, TIME_OUT_OF_RANGE } from '../compile/value.ts';
import { type Constants, type Context, type DocumentedFunction, define, documented, overload } from './definition.ts';
import { inTime } from './operator.ts';

const SECONDS_PER_DAY = 86_400;

/** The unit of a literal argument, which has been checked. */
function unitOf(constants: Constants): DurationUnit {
  const unit = String(constants[1]);
  if (!isDurationUnit(unit)) throw BAD_ARGUMENT;
  return unit;
}

function checkUnit(constants: Constants): string | null {
  const unit = constants[1];
  return typeof unit !== 'string' || isDurationUnit(unit) ? null : 'The unit is "ms", "s", "min", "h" or "d".';
}

function epochUnitOf(constants: Constants): 's' | 'ms' {
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

/** Defines a function that computes a number from the local day of a date or instant. */
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
    'The year of the week in iso_week.',
    'iso_year(date("2024-12-30"))',
    '2025',
    ofDay('iso_year', (days) => isoWeek(days).year),
  ),
  documented(
    'to_epoch(date, unit)',
    'Seconds ("s") or milliseconds ("ms") since 1970 in UTC. A date counts as its midnight.',
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
    'The instant for seconds ("s") or milliseconds ("ms") since 1970 in UTC. For whole columns, use parse_date with epoch.',
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
    'Parses a time of day as the duration since midnight; without a pattern, like the operation parse_time.',
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
    'Formats a time of day.',
    'format_time(parse_time("14:30"), "h:mm a")',
    '2:30 PM',
    define('format_time', 'both', [{ parameters: [DURATION, STRING], result: STRING, prepare: timeWriter }], {
      literals: [1],
      check: checkTimePattern,
    }),
  ),
  documented(
    'time_of_day(instant)',
    'The duration since midnight in the time zone of the instant (to_timezone sets it).',
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
    'Parses a duration in common notations: 1:30:00, 1:30 (hours and minutes), 90 min, 1h 30m, PT1H30M.',
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
    'The duration of a number of milliseconds ("ms"), seconds ("s"), minutes ("min"), hours ("h") or days ("d").',
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
    'A duration as a decimal number of units, rounded half to even to ten decimal places; units as in duration_of.',
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
    'Formats a duration with d, H, m, s and S. The largest unit has no limit, and parts smaller than the smallest unit are cut off. The default is H:mm:ss.',
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
