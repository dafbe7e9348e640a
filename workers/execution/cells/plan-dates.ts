// The parameters of `parse_date`, and the plan that follows from them.
import { type Static, Type } from '../../bundled/type-box.ts';
import { columnSet } from '../../template/base-parameters.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { Scope } from '../../template/scope.ts';
import { META_PREFIX } from '../../template/template.ts';
import {
  ambiguousDateText,
  compileDatePattern,
  type DatePattern,
  type DatePatternOptions,
} from '../../values/date-pattern.ts';
import { localeProblem } from '../../values/month-names.ts';
import { type TimeZone, timeZone } from '../../values/time-zone.ts';
import { intoParameter } from './cell-targets.ts';
import type { DateReading } from './dates.ts';

// The parameters of `parse_date`: how texts are interpreted as dates.

export const dateParameters = Type.Object({
  columns: columnSet,
  formats: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 20,
      description:
        "Patterns such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm`; the first one that matches the whole text is used. Without `formats`, `epoch` and `excel_serial`, dates of ISO 8601 are read (`2026-01-31`, `20260131`), and with `type: datetime` also times (`2026-01-31T10:15:30.5+02:00`, `2026-01-31 10:15`, `2026-01-31 10:15:30 +0200`, `2026-01-31 10:15:30 UTC`). A space in a pattern matches any single space, for example the no-break spaces that programs write before AM and PM. A pattern of a longer period gives its first day: `yyyy` a year, `MM/yyyy` or `MMMM yyyy` a month, `yyyy-QQQ` (2026-Q3) or `QQQ yyyy` a quarter, `YYYY-'W'ww` (2026-W07) a week of ISO 8601. `YYYY-'W'ww-e` is a day of a week, and `yyyy-DDD` a day of the year. A fraction after a decimal separator (`ss.SSS`) may have any number of digits, `a` reads AM and PM in any form (`pm`, `p. m.`, `P`), and 24:00 is midnight at the end of the day.",
    }),
  ),
  default_year: Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: 9999 }),
        Type.Object({ meta: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      ],
      {
        description:
          'The year for patterns without a year, such as `dd.MM.`: a number, or `{meta: year}` for four digits that `input.preamble` or `input.footer` finds in the file.',
      },
    ),
  ),
  epoch: Type.Optional(
    Type.Enum(['s', 'ms', 'us', 'ns'], {
      description:
        'Also reads seconds, milliseconds, microseconds or nanoseconds since 1970 in UTC; without `formats`, only these.',
    }),
  ),
  type: Type.Optional(
    Type.Enum(['date', 'datetime'], {
      description: 'Type of the result; by default `datetime` if a pattern has hours.',
    }),
  ),
  timezone: Type.Optional(
    Type.String({ description: 'Time zone of times without an offset, such as `Europe/Berlin`; by default UTC.' }),
  ),
  to_timezone: Type.Optional(
    Type.String({
      description: 'Time zone that determines the day of a date, and the local time of a datetime in workbooks.',
    }),
  ),
  two_digit_year: Type.Optional(
    Type.Object(
      { pivot: Type.Integer({ minimum: 0, maximum: 99, description: 'Larger years belong to the previous century.' }) },
      {
        additionalProperties: false,
        description:
          '`{pivot: 68}` (the default): two-digit years above 68 belong to the previous century, so 69 is 1969 and 68 is 2068.',
      },
    ),
  ),
  excel_serial: Type.Optional(
    Type.Enum(['off', '1900', '1904', 1900, 1904], {
      default: 'off',
      description:
        'Also reads day numbers of spreadsheets. Their times are rounded to seconds, or to milliseconds if they have at least 9 decimal places.',
    }),
  ),
  locale: Type.Optional(Type.String({ default: 'en', description: 'Language of the names of months and days.' })),
  ambiguous: Type.Optional(
    Type.Enum(['first', 'error', 'column_vote'], {
      description:
        'Required if two patterns can read one text as different days. `first`: the first pattern is used. `error`: such a text is AMBIGUOUS_DATE. `column_vote`: of such patterns, only the one that reads the most cells of the column is used (of equal ones the first), so a column never mixes two orders; this needs all rows before the first row of the output.',
    }),
  ),
  dst: Type.Optional(
    Type.Enum(['error', 'earlier', 'later', 'shift'], {
      description:
        'Local times that do not exist (DATE_IN_DST_GAP) or exist twice (DATE_IN_DST_OVERLAP) because of a daylight saving change. `error`: both are row errors. `earlier`, `later`: the earlier or the later of the two instants, with the offsets before and after the change. `shift`: a time that does not exist is moved forward by the length of the change, and of a time that exists twice the earlier instant is used. By default, a time that does not exist is an error, and of a time that exists twice the earlier instant is used. The report and the summary of `run` count all such cells by these codes, including those that were converted.',
    }),
  ),
  into: intoParameter,
});

type DateParameters = Static<typeof dateParameters>;

// Plans the parsing of texts as dates, and reports invalid parameters.

/** Facts known before the file arrives: the default year may be above the table. */
export interface PlannedDates {
  readonly reading: DateReading;
  readonly given: DateParameters;
}

/** The year may be in the file, above or below the table. If it is not a valid year, no cell can be parsed. */
export function patternsOf({ reading, given }: PlannedDates, { meta }: OperatorContext): readonly DatePattern[] {
  if (typeof given.default_year !== 'object') return reading.patterns;
  const text = meta[given.default_year.meta]?.trim() ?? '';
  const year = /^[0-9]{4}$/.test(text) ? Number(text) : Number.NaN;
  return reading.patterns.map((pattern) => {
    const compiled = pattern.lacksYear ? compileDatePattern(pattern.source, patternOptions(given, year)) : pattern;
    if ('problem' in compiled) throw new Error('a planned pattern is refused');
    return compiled;
  });
}

function patternOptions(given: DateParameters, year: number): DatePatternOptions {
  return {
    locale: given.locale ?? 'en',
    ...(given.two_digit_year !== undefined && { twoDigitYearPivot: given.two_digit_year.pivot }),
    ...(given.default_year !== undefined && { defaultYear: year }),
  };
}

/** Returns null after a problem. */
export function planReading(given: DateParameters, scope: Scope): DateReading | null {
  const [zone, toZone] = [zoneOf(given.timezone, '/timezone', scope), zoneOf(given.to_timezone, '/to_timezone', scope)];
  const unknown = localeProblem(given.locale ?? 'en');
  if (unknown !== null) scope.problem('/locale', 'BAD_VALUE', unknown);
  const isValid = checkSources(given, scope);
  if (unknown !== null || !isValid) return null;
  const patterns = planPatterns(given, scope);
  if (patterns === null) return null;
  if (given.ambiguous === undefined && given.formats !== undefined) refuseAmbiguous(patterns, scope);
  const hasTime = given.epoch !== undefined || patterns.some((pattern) => pattern.hasTime);
  return {
    patterns,
    type: given.type ?? (hasTime ? 'datetime' : 'date'),
    zone,
    toZone,
    epoch: given.epoch ?? null,
    excelSerial: serialSystem(given),
    onlySure: given.ambiguous === 'error',
    dst: given.dst ?? 'undeclared',
  };
}

function serialSystem({ excel_serial = 'off' }: DateParameters): '1900' | '1904' | null {
  const system = String(excel_serial);
  return system === '1900' || system === '1904' ? system : null;
}

/** No number may mean two different days. */
function checkSources(given: DateParameters, scope: Scope): boolean {
  const serial = serialSystem(given);
  if (given.epoch !== undefined && serial !== null) {
    scope.problem('/epoch', 'BAD_VALUE', 'A number is either of "epoch" or of "excel_serial": leave one of them out.');
    return false;
  }
  const meta = typeof given.default_year === 'object' ? given.default_year.meta : null;
  if (meta === null || scope.variables.has(META_PREFIX + meta)) return true;
  const message = 'No value of this name is declared in input.preamble or input.footer.';
  scope.problem('/default_year/meta', 'UNKNOWN_NAME', message);
  return false;
}

/** A leap year, used while the year is unknown, so that any text may be a date. */
const ANY_YEAR = 2012;

function planPatterns(given: DateParameters, scope: Scope): readonly DatePattern[] | null {
  const patterns: DatePattern[] = [];
  const { formats = isoFormats(given), default_year = ANY_YEAR } = given;
  const options = patternOptions(given, typeof default_year === 'number' ? default_year : ANY_YEAR);
  for (const [index, format] of formats.entries()) {
    const pattern = compileDatePattern(format, options);
    if ('problem' in pattern)
      scope.problem(`/formats/${index}`, 'BAD_PATTERN', `The date pattern is refused: ${pattern.problem}.`);
    else if (!pattern.hasDate) scope.problem(`/formats/${index}`, 'BAD_PATTERN', NO_DAY);
    else patterns.push(pattern);
  }
  return patterns.length < formats.length ? null : patterns;
}

const ISO_DATES: readonly string[] = ['yyyy-MM-dd', 'yyyyMMdd'];
const ISO_TIMES: readonly string[] = ['HH:mm:ss', 'HH:mm:ss.SSSSSS', 'HH:mm'].flatMap((time) => [`${time}X`, time]);

/** Forms of git, Ruby and web shops: the offset or the zone follows a space (`2026-01-31 10:15:30 +0200`). */
const SPACED_TIMES: readonly string[] = ['HH:mm:ss', 'HH:mm:ss.SSSSSS'].flatMap((time) => [`${time} X`, `${time} z`]);

/** Formats of ISO 8601. No text fits two of them. They are used if nothing else is declared. */
function isoFormats({ type, epoch, excel_serial = 'off' }: DateParameters): readonly string[] {
  if (epoch !== undefined || excel_serial !== 'off') return [];
  if (type !== 'datetime') return ISO_DATES;
  const times = ["yyyy-MM-dd'T'", 'yyyy-MM-dd '].flatMap((day) => ISO_TIMES.map((time) => day + time));
  return [...times, ...ISO_DATES, ...SPACED_TIMES.map((time) => `yyyy-MM-dd ${time}`)];
}

const NO_DAY =
  'The pattern needs a year, a month and a day, such as dd.MM.yyyy, or a year with a month, a quarter or a week and no time, such ' +
  "as MM/yyyy, yyyy-QQQ or YYYY-'W'ww (M is the month, m the minute). Without a " +
  'year the pattern needs default_year; times alone are for parse_time.';

function refuseAmbiguous(patterns: readonly DatePattern[], scope: Scope): void {
  for (const [index, second] of patterns.entries()) {
    for (const first of patterns.slice(0, index)) {
      const text = first.source === second.source ? null : ambiguousDateText(first, second);
      if (text === null) continue;
      const message = `"${first.source}" and "${second.source}" read ${JSON.stringify(text)} as different days. Set "ambiguous" to "column_vote", "first" or "error".`;
      scope.problem(`/formats/${index}`, 'AMBIGUOUS_FORMATS', message);
    }
  }
}

function zoneOf(name: string | undefined, pointer: string, scope: Scope): TimeZone | null {
  const zone = name === undefined ? null : timeZone(name);
  if (name !== undefined && zone === null)
    scope.problem(
      pointer,
      'UNKNOWN_ZONE',
      'The time zone is unknown. Write a name such as "Europe/Berlin" or an offset such as "+02:00".',
    );
  return zone;
}
