// The operation `parse_date`: texts become dates or times.
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets } from '../execution/cells/cell-targets.ts';
import { readDatesEdit } from '../execution/cells/date-cells.ts';
import { type DateParameters, dateParameters } from '../execution/cells/date-parameters.ts';
import { type DateReading, dateReader, nativeDateReader } from '../execution/cells/date-reading.ts';
import { convertEdit } from '../execution/cells/value-cells.ts';
import { VotedCells } from '../execution/cells/voted-cells.ts';
import { META_PREFIX } from '../template/meta-variables.ts';
import type { Scope } from '../template/scope.ts';
import {
  ambiguousDateText,
  compileDatePattern,
  type DatePattern,
  type DatePatternOptions,
} from '../values/date-pattern.ts';
import { localeProblem } from '../values/month-names.ts';
import { type TimeZone, timeZone } from '../values/time-zone.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** What is known before the file: its default year may stand above the table. */
interface Plan {
  readonly targets: readonly CellTarget[];
  readonly reading: DateReading;
  readonly given: DateParameters;
}

export const parseDate = defineOperation({
  name: 'parse_date',
  summary: 'Reads texts as dates or times by patterns; the whole text must match.',
  knownAs: [{ names: ['date', 'to_date', 'parse_dates'], form: 'columns: ..., formats: [dd.MM.yyyy]' }],
  parameters: dateParameters,
  cells: true,
  memory: ({ ambiguous }) => (ambiguous === 'column_vote' ? 'B' : 'R'),
  examples: [
    {
      title: 'The order of day and month from the column',
      operation: {
        op: 'parse_date',
        columns: ['booked', 'valued'],
        formats: ['dd/MM/yyyy', 'MM/dd/yyyy', 'yyyy-MM-dd'],
        ambiguous: 'column_vote',
      },
      input: {
        columns: ['booked', 'valued'],
        rows: [
          ['01/02/2026', '01/02/2026'],
          ['01/31/2026', '2026-03-05'],
          ['02/03/2026', '28/02/2026'],
          ['12/25/2026', null],
        ],
      },
      output: {
        columns: ['booked', 'valued'],
        rows: [
          ['2026-01-02', '2026-02-01'],
          ['2026-01-31', '2026-03-05'],
          ['2026-02-03', '2026-02-28'],
          ['2026-12-25', null],
        ],
      },
    },
    {
      title: 'Dates of a bank statement',
      operation: { op: 'parse_date', columns: ['day'], formats: ['dd.MM.yyyy', 'yyyy-MM-dd'] },
      input: { columns: ['day'], rows: [['31.01.2026'], ['2026-02-01'], ['31.02.2026'], [null], ['1.2.26']] },
      output: { columns: ['day'], rows: [['2026-01-31'], ['2026-02-01'], [null], [null], [null]] },
    },
    {
      title: 'Days without a year, quarters and weeks',
      operation: {
        op: 'parse_date',
        columns: 'day',
        formats: ['dd.MM.', 'yyyy-QQQ', 'QQQ yyyy', "YYYY-'W'ww", "YYYY-'W'ww-e"],
        default_year: 2026,
      },
      input: {
        columns: ['day'],
        rows: [['31.01.'], ['29.02.'], ['2026-Q3'], ['Q4 2026'], ['2026-W07'], ['2026-W07-3'], ['2025-W53'], [null]],
      },
      output: {
        columns: ['day'],
        rows: [['2026-01-31'], [null], ['2026-07-01'], ['2026-10-01'], ['2026-02-09'], ['2026-02-11'], [null], [null]],
      },
    },
    {
      title: 'Milliseconds since 1970',
      operation: { op: 'parse_date', columns: 'at', epoch: 'ms' },
      input: { columns: ['at'], rows: [['1767225600250'], ['-1'], ['soon']] },
      output: { columns: ['at'], rows: [['2026-01-01T00:00:00.25Z'], ['1969-12-31T23:59:59.999Z'], [null]] },
    },
    {
      title: 'Local times and days of a workbook',
      operation: {
        op: 'parse_date',
        columns: 'at',
        formats: ['dd.MM.yyyy HH:mm'],
        timezone: 'Europe/Berlin',
        excel_serial: '1900',
      },
      input: { columns: ['at'], rows: [['31.07.2026 12:00'], ['45000.5']] },
      output: { columns: ['at'], rows: [['2026-07-31T10:00:00Z'], ['2023-03-15T11:00:00Z']] },
    },
  ],
  effect(given, scope): Plan | null {
    const reading = planReading(given, scope);
    // Also where a pattern is wrong: what follows must not be that the column is text.
    const hasTime = given.epoch !== undefined || given.formats?.some((format) => /h/i.test(format)) === true;
    const makes = reading?.type ?? given.type ?? (hasTime ? 'datetime' : 'date');
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes });
    return reading === null ? null : { targets, reading, given };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { targets, given } = plan;
    const reading = { ...plan.reading, patterns: patternsOf(plan, context) };
    if (given.ambiguous !== 'column_vote') {
      const edits = targets.map((target) => readingEdit(reading, target, context));
      return startCellOperator(context, targets, edits);
    }
    return new VotedCells<DatePattern>(context, targets, {
      patterns: reading.patterns,
      matches: (pattern, text) => pattern.parse(text) !== null,
      contradict: (one, other) => ambiguousDateText(one, other) !== null,
      readers(patterns) {
        const elected = { ...reading, patterns };
        return { read: dateReader(elected), native: nativeDateReader(elected) };
      },
    });
  },
});

/** The year may be known with the file only: above or below its table. What is no year there reads no cell. */
function patternsOf({ reading, given }: Plan, { meta }: OperatorContext): readonly DatePattern[] {
  if (typeof given.default_year !== 'object') return reading.patterns;
  const text = meta[given.default_year.meta]?.trim() ?? '';
  const year = /^[0-9]{4}$/.test(text) ? Number(text) : Number.NaN;
  return reading.patterns.map((pattern) => {
    const compiled = pattern.lacksYear ? compileDatePattern(pattern.source, patternOptions(given, year)) : pattern;
    if ('problem' in compiled) throw new Error('a planned pattern is refused');
    return compiled;
  });
}

/** Kernels read what needs no zone, by the first pattern that matches. */
function readingEdit(reading: DateReading, target: CellTarget, context: OperatorContext): CellEdit {
  const { patterns, type, zone, toZone, onlySure } = reading;
  const [read, native] = [dateReader(reading), nativeDateReader(reading)];
  const isPlain = !onlySure && (type === 'date' ? toZone === null : zone === null);
  return isPlain
    ? readDatesEdit(context, target, patterns, type === 'datetime', read, native)
    : convertEdit(context, target, read, native);
}

function patternOptions(given: DateParameters, year: number): DatePatternOptions {
  return {
    locale: given.locale ?? 'en',
    ...(given.two_digit_year !== undefined && { twoDigitYearPivot: given.two_digit_year.pivot }),
    ...(given.default_year !== undefined && { defaultYear: year }),
  };
}

function planReading(given: DateParameters, scope: Scope): DateReading | null {
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
