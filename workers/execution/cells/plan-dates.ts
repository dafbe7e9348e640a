// Plans how texts are read as dates, and says what of the parameters cannot be.
import type { OperatorContext } from '../../operations/operation.ts';
import { META_PREFIX } from '../../template/meta-variables.ts';
import type { Scope } from '../../template/scope.ts';
import {
  ambiguousDateText,
  compileDatePattern,
  type DatePattern,
  type DatePatternOptions,
} from '../../values/date-pattern.ts';
import { localeProblem } from '../../values/month-names.ts';
import { type TimeZone, timeZone } from '../../values/time-zone.ts';
import type { DateParameters } from './date-parameters.ts';
import type { DateReading } from './date-reading.ts';

/** What is known before the file: its default year may stand above the table. */
export interface PlannedDates {
  readonly reading: DateReading;
  readonly given: DateParameters;
}

/** The year may be known with the file only: above or below its table. What is no year there reads no cell. */
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

/** Null after a problem. */
export function planReading(given: DateParameters, scope: Scope): DateReading | null {
  const [zone, toZone] = [zoneOf(given.timezone, '/timezone', scope), zoneOf(given.to_timezone, '/to_timezone', scope)];
  const unknown = localeProblem(given.locale ?? 'en');
  if (unknown !== null) scope.problem('/locale', 'BAD_VALUE', unknown);
  const isSound = checkSources(given, scope);
  if (unknown !== null || !isSound) return null;
  const patterns = planPatterns(given, scope);
  if (patterns === null) return null;
  if (given.ambiguous === undefined) refuseAmbiguous(patterns, scope);
  const hasTime = given.epoch !== undefined || patterns.some((pattern) => pattern.hasTime);
  return {
    patterns,
    type: given.type ?? (hasTime ? 'datetime' : 'date'),
    zone,
    toZone,
    epoch: given.epoch ?? null,
    excelSerial: serialSystem(given),
    onlySure: given.ambiguous === 'error',
    shiftsGaps: given.dst === 'shift',
  };
}

function serialSystem({ excel_serial = 'off' }: DateParameters): '1900' | '1904' | null {
  const system = String(excel_serial);
  return system === '1900' || system === '1904' ? system : null;
}

/** Something must say how texts are read, and no number may mean two days. */
function checkSources(given: DateParameters, scope: Scope): boolean {
  const serial = serialSystem(given);
  if (given.formats === undefined && given.epoch === undefined && serial === null) {
    scope.problem('', 'MISSING', 'Write "formats" such as [dd.MM.yyyy], or "epoch": s or ms, or "excel_serial".');
    return false;
  }
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

/** A leap year, while the year is not known: with it all texts may be dates. */
const ANY_YEAR = 2012;

function planPatterns(given: DateParameters, scope: Scope): readonly DatePattern[] | null {
  const patterns: DatePattern[] = [];
  const { formats = [], default_year = ANY_YEAR } = given;
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

const NO_DAY =
  'The pattern needs a year, a month and a day, such as dd.MM.yyyy, or no day and no time, such as MM/yyyy, yyyy-QQQ or ' +
  "YYYY-'W'ww (M is the month, m the minute). Without a year it needs default_year; times alone are for parse_time.";

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
