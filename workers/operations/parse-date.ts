// The operation `parse_date`: texts become dates or times.
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { readDatesEdit } from '../execution/cells/date-cells.ts';
import { CellFault, convertEdit, type NativeReader } from '../execution/cells/value-cells.ts';
import { VotedCells } from '../execution/cells/voted-cells.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { KIND_DATE, KIND_NUMBER } from '../kernel/layout/native-kinds.ts';
import type { Scope } from '../template/scope.ts';
import { CalendarDate, DAY_MAX, DAY_MIN } from '../values/calendar.ts';
import type { DateFields } from '../values/date-fields.ts';
import { ambiguousDateText, compileDatePattern, type DatePattern } from '../values/date-pattern.ts';
import { localeProblem } from '../values/month-names.ts';
import { nativeDate } from '../values/native-cell.ts';
import { instantOfLocal, type TimeZone, timeZone } from '../values/time-zone.ts';
import { timestampOf } from '../values/timestamp.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

const DAY_SECONDS = 86_400;

/** Day numbers of Excel's day 0; in the system of 1900 days count from 1, and 1900 is taken for a leap year. */
const EXCEL_1900_ZERO = -25_569;
const EXCEL_1904_ZERO = -24_107;

/** In the system of 1900: serials below are one day behind, 60 is a day that never was. */
const EXCEL_LEAP_SERIAL = 60;

const parameters = Type.Object({
  columns: columnSet,
  formats: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 20,
    description:
      'Patterns such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm`; the first that the whole text matches counts. A space in a ' +
      'pattern is any one space of the text, such as the no-break ones that programs put before AM and PM. A pattern ' +
      'without a day, such as `MM/yyyy` or `MMMM yyyy`, reads the first of the month.',
  }),
  type: Type.Optional(
    Type.Enum(['date', 'datetime'], { description: 'The type of the result; `datetime` when a pattern has hours.' }),
  ),
  timezone: Type.Optional(
    Type.String({ description: 'Zone of times without an offset, such as `Europe/Berlin`; UTC unless set.' }),
  ),
  to_timezone: Type.Optional(Type.String({ description: 'Zone in which the day of a date is counted.' })),
  two_digit_year: Type.Optional(
    Type.Object(
      { pivot: Type.Integer({ minimum: 0, maximum: 99, description: 'Years above are of the century before.' }) },
      {
        additionalProperties: false,
        description:
          '`{pivot: 68}`: years of two digits above it are of the century before, 69 is 1969 and 68 is 2068, as unless set.',
      },
    ),
  ),
  excel_serial: Type.Optional(
    Type.Enum(['off', '1900', '1904', 1900, 1904], {
      default: 'off',
      description: 'Also takes day numbers of a workbook.',
    }),
  ),
  locale: Type.Optional(Type.String({ default: 'en', description: 'Language of the names of months and days.' })),
  ambiguous: Type.Optional(
    Type.Enum(['first', 'error', 'column_vote'], {
      description:
        'Needed when two patterns can read one text as different days. `first`: the first of them counts; `error`: such a ' +
        'text is AMBIGUOUS_DATE; `column_vote`: of such patterns only the one that reads most cells of the column is used ' +
        'for it (of equal ones the first), so a column is never read in two orders; it needs all rows before the first ' +
        'comes out.',
    }),
  ),
  dst: Type.Optional(
    Type.Enum(['error', 'shift'], {
      default: 'error',
      description: 'A local time that a change of the clock left out: DATE_IN_DST_GAP, or moved on by an hour.',
    }),
  ),
  into: intoParameter,
});

type Parameters = Static<typeof parameters>;

interface Reading {
  readonly patterns: readonly DatePattern[];
  readonly type: 'date' | 'datetime';
  readonly zone: TimeZone | null;
  readonly toZone: TimeZone | null;
  readonly given: Parameters;
}

export const parseDate = defineOperation({
  name: 'parse_date',
  summary: 'Reads texts as dates or times by patterns; the whole text must match.',
  knownAs: [{ names: ['date', 'to_date', 'parse_dates'], form: 'columns: ..., formats: [dd.MM.yyyy]' }],
  parameters,
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
  effect(given, scope) {
    const reading = planReading(given, scope);
    // Also where a pattern is wrong: what follows must not be that the column is text.
    const makes =
      reading?.type ?? given.type ?? (given.formats.some((format) => /h/i.test(format)) ? 'datetime' : 'date');
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes });
    return reading === null ? null : { targets, reading };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { targets, reading } = plan;
    if (reading.given.ambiguous !== 'column_vote') {
      const edits = targets.map((target) => readingEdit(reading, target, context));
      return startCellOperator(context, targets, edits);
    }
    return new VotedCells<DatePattern>(context, targets, {
      patterns: reading.patterns,
      matches: (pattern, text) => pattern.parse(text) !== null,
      contradict: (one, other) => ambiguousDateText(one, other) !== null,
      readers(patterns) {
        const elected = { ...reading, patterns };
        return { read: dateReader(elected), native: nativeReader(elected) };
      },
    });
  },
});

/** Kernels read what needs no zone, by the first pattern that matches. */
function readingEdit(reading: Reading, target: CellTarget, context: OperatorContext): CellEdit {
  const { patterns, type, zone, toZone, given } = reading;
  const [read, native] = [dateReader(reading), nativeReader(reading)];
  const isPlain = given.ambiguous !== 'error' && (type === 'date' ? toZone === null : zone === null);
  return isPlain
    ? readDatesEdit(context, target, patterns, type === 'datetime', read, native)
    : convertEdit(context, target, read, native);
}

function planReading(given: Parameters, scope: Scope): Reading | null {
  const options = {
    locale: given.locale ?? 'en',
    ...(given.two_digit_year === undefined ? {} : { twoDigitYearPivot: given.two_digit_year.pivot }),
  };
  const [zone, toZone] = [zoneOf(given.timezone, '/timezone', scope), zoneOf(given.to_timezone, '/to_timezone', scope)];
  const unknown = localeProblem(options.locale);
  if (unknown !== null) {
    scope.problem('/locale', 'BAD_VALUE', unknown);
    return null;
  }
  const patterns: DatePattern[] = [];
  for (const [index, format] of given.formats.entries()) {
    const pattern = compileDatePattern(format, options);
    if ('problem' in pattern)
      scope.problem(`/formats/${index}`, 'BAD_PATTERN', `The date pattern is refused: ${pattern.problem}.`);
    else if (!pattern.hasDate)
      scope.problem(
        `/formats/${index}`,
        'BAD_PATTERN',
        'The pattern needs a year, a month and a day, such as dd.MM.yyyy, or no day and no time, such as MM/yyyy (M is the month, m the minute).',
      );
    else patterns.push(pattern);
  }
  if (patterns.length < given.formats.length) return null;
  if (given.ambiguous === undefined) refuseAmbiguous(patterns, scope);
  const type = given.type ?? (patterns.some(({ hasTime }) => hasTime) ? 'datetime' : 'date');
  return { patterns, type, zone, toZone, given };
}

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

/**
 * A date that the file knows as such is taken as it is, the time of a day too where a time is wanted. A whole number is
 * read as the text of its digits (20260131), any other by `excel_serial` alone: a pattern with a point must not read it.
 */
function nativeReader(reading: Reading): NativeReader {
  const read = dateReader(reading);
  const serial = serialSystem(reading);
  return (text, kind) => {
    if (kind === KIND_NUMBER && /^[0-9]+$/.test(text)) return read(text);
    const fields = kind !== KIND_NUMBER || serial === 'off' ? nativeDate(text, kind) : excelFields(text, serial);
    if (fields === null) return new CellFault('NOT_A_DATE');
    // A day has no zone in which it could be another.
    return kind === KIND_DATE && reading.type === 'date' ? new CalendarDate(fields.days) : result(fields, reading);
  };
}

function serialSystem({ given }: Reading): 'off' | '1900' | '1904' {
  return String(given.excel_serial ?? 'off') as 'off' | '1900' | '1904';
}

function dateReader(reading: Reading): (value: unknown) => unknown {
  const { patterns, given } = reading;
  const serial = serialSystem(reading);
  return (value) => {
    const text = (value as string).trim();
    let found: DateFields | null = null;
    for (const pattern of patterns) {
      const fields = pattern.parse(text);
      if (fields === null) continue;
      if (found === null) found = fields;
      else if (fields.days !== found.days || fields.second !== found.second) return new CellFault('AMBIGUOUS_DATE');
      if (given.ambiguous !== 'error') break;
    }
    found ??= serial === 'off' ? null : excelFields(text, serial);
    return found === null ? new CellFault('NOT_A_DATE') : result(found, reading);
  };
}

function result(fields: DateFields, { type, zone, toZone, given }: Reading): unknown {
  if (type === 'date' && toZone === null) return new CalendarDate(fields.days);
  const local = fields.days * DAY_SECONDS + fields.second;
  let seconds = local - (fields.offsetSeconds ?? 0);
  if (fields.offsetSeconds === null && zone !== null) {
    const instant = instantOfLocal(zone, local);
    if (instant.kind === 'gap' && given.dst !== 'shift') return new CellFault('DATE_IN_DST_GAP');
    seconds = instant.seconds;
  }
  if (type === 'date') return new CalendarDate(Math.floor((seconds + toZone!.offsetAt(seconds)) / DAY_SECONDS));
  return timestampOf(seconds, fields.nanos) ?? new CellFault('OUT_OF_RANGE');
}

function excelFields(text: string, system: '1900' | '1904'): DateFields | null {
  if (!/^[0-9]{1,7}(?:\.[0-9]{1,12})?$/.test(text)) return null;
  const serial = Number(text);
  const day = Math.floor(serial);
  if (system === '1900' && (day === EXCEL_LEAP_SERIAL || day === 0)) return null;
  const early = system === '1900' && day < EXCEL_LEAP_SERIAL ? 1 : 0;
  const days = day + early + (system === '1900' ? EXCEL_1900_ZERO : EXCEL_1904_ZERO);
  if (days < DAY_MIN || days > DAY_MAX) return null;
  return {
    days,
    second: Math.min(DAY_SECONDS - 1, Math.round((serial - day) * DAY_SECONDS)),
    nanos: 0,
    offsetSeconds: null,
  };
}
