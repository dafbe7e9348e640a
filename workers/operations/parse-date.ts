// The operation `parse_date`: parses texts as dates or times.
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets } from '../execution/cells/cell-targets.ts';
import {
  type DateReading,
  dateKernel,
  dateReader,
  nativeDateReader,
  readDatesEdits,
  zonedDatesEdits,
} from '../execution/cells/dates.ts';
import { dateParameters, patternsOf, planReading } from '../execution/cells/plan-dates.ts';
import { VotedCells } from '../execution/cells/read-cells.ts';
import { convertEdit } from '../execution/cells/value-cells.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import { ambiguousDateText, type DatePattern } from '../values/date-pattern.ts';

export const parseDate = defineOperation({
  name: 'parse_date',
  purpose:
    'parses texts as dates or times with `formats`, or as instants counted since 1970 (`epoch`); the whole text must match',
  summary: 'Parses texts as dates or times with patterns. The whole text must match.',
  knownAs: [
    {
      names: 'date to_date parse_dates datetime to_datetime strptime as_date parse_datetime parse_timestamp date_parse',
      form: 'columns: ..., formats: [dd.MM.yyyy]',
    },
    { names: 'sec2gmt sec2gmtdate sec2date from_unixtime', form: 'columns: ..., epoch: s' },
  ],
  parameters: dateParameters,
  cells: true,
  memory: ({ ambiguous }) => (ambiguous === 'column_vote' ? 'B' : 'R'),
  examples: [
    {
      title: 'Detect the order of day and month from the column',
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
      title: 'Dates of ISO 8601 need no formats',
      operation: { op: 'parse_date', columns: 'day' },
      input: { columns: ['day'], rows: [['2026-01-31'], ['20260201'], ['2026-02-30'], [null]] },
      output: { columns: ['day'], rows: [['2026-01-31'], ['2026-02-01'], [null], [null]] },
    },
    {
      title: 'Milliseconds since 1970',
      operation: { op: 'parse_date', columns: 'at', epoch: 'ms' },
      input: { columns: ['at'], rows: [['1767225600250'], ['-1'], ['soon']] },
      output: { columns: ['at'], rows: [['2026-01-01T00:00:00.25Z'], ['1969-12-31T23:59:59.999Z'], [null]] },
    },
    {
      title: 'Local times, and day numbers of a workbook',
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
    // Sets the type even if a pattern is invalid, so that the following operations do not report that the column is
    // text.
    const hasTime = given.epoch !== undefined || given.formats?.some((format) => /h/i.test(format)) === true;
    const makes = reading?.type ?? given.type ?? (hasTime ? 'datetime' : 'date');
    const targets = cellTargets(scope, { columns: given.columns, into: given.into, takes: ['text'], makes });
    for (const { target } of targets) scope.setClock(target, given.to_timezone);
    return reading === null ? null : { targets, reading, given };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { targets, given } = plan;
    const reading = { ...plan.reading, patterns: patternsOf(plan, context) };
    if (given.ambiguous !== 'column_vote') {
      return startCellOperator(context, targets, targets.map(readingEdits(reading, context)));
    }
    return new VotedCells<DatePattern>(context, targets, {
      patterns: reading.patterns,
      matches: (pattern, text) => pattern.parse(text) !== null,
      contradict: (one, other) => ambiguousDateText(one, other) !== null,
      kernelOf: (pattern) => dateKernel(context, pattern, reading.type === 'datetime'),
      edit: (target, patterns) => readingEdits({ ...reading, patterns }, context)(target),
    });
  },
});

/** Kernels parse what they can with the first matching pattern; time zones are applied afterwards. */
function readingEdits(reading: DateReading, context: OperatorContext): (target: CellTarget) => CellEdit {
  const { patterns, type, zone, toZone, onlySure } = reading;
  const [read, native] = [dateReader(reading), nativeDateReader(reading)];
  const isPlain = !onlySure && (type === 'date' ? toZone === null : zone === null);
  if (isPlain) return readDatesEdits(context, patterns, type === 'datetime', read, native);
  return zonedDatesEdits(context, reading) ?? ((target) => convertEdit(context, target, read, native));
}
