// The operation `format_date`: formats dates and times as texts.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { writeDatesEdits } from '../execution/cells/dates.ts';
import { startValueOperator } from '../execution/cells/value-cells.ts';
import { columnSet, exactlyOne } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import { compileDatePattern } from '../values/date-pattern.ts';
import { localeProblem } from '../values/month-names.ts';
import { startOfDay, type TimeZone, timeZone } from '../values/time-zone.ts';
import { CalendarDate, type DateFields, epochOf, fieldsOfTimestamp, Timestamp } from '../values/timestamp.ts';

export const formatDate = defineOperation({
  name: 'format_date',
  purpose: 'formats dates and times as texts, or as seconds or milliseconds since 1970 (`epoch`)',
  summary: 'Formats dates and times as texts with a pattern, or as integers: seconds or milliseconds since 1970.',
  knownAs: [{ names: 'strftime date_format dateformat date_to_text', form: 'columns: ..., format: dd.MM.yyyy' }],
  parameters: Type.Object(
    {
      columns: columnSet,
      format: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            "A pattern such as `dd.MM.yyyy HH:mm`, `QQQ yyyy` (Q3 2026) or `YYYY-'W'ww` (2026-W07, the week of ISO 8601).",
        }),
      ),
      epoch: Type.Optional(
        Type.Enum(['s', 'ms'], {
          description: 'Seconds or milliseconds since 1970 in UTC, as integers; smaller units are cut off.',
        }),
      ),
      locale: Type.Optional(Type.String({ default: 'en', description: 'Language of the names of months and days.' })),
      timezone: Type.Optional(
        Type.String({
          default: 'UTC',
          description: 'Time zone of the times, or (with `epoch`) the zone in which a date starts.',
        }),
      ),
      into: intoParameter,
    },
    exactlyOne(['format'], ['epoch']),
  ),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'German format',
      operation: { op: 'format_date', columns: ['day', 'at'], format: 'dd.MM.yyyy HH:mm', timezone: 'Europe/Berlin' },
      input: {
        columns: ['day', 'at'],
        types: ['date', 'datetime'],
        rows: [
          ['2026-01-31', '2026-07-31T22:30:00Z'],
          [null, null],
        ],
      },
      output: {
        columns: ['day', 'at'],
        rows: [
          ['31.01.2026 00:00', '01.08.2026 00:30'],
          [null, null],
        ],
      },
    },
    {
      title: 'Quarters for a report',
      operation: { op: 'format_date', columns: 'day', format: 'QQQ yyyy' },
      input: { columns: ['day'], types: ['date'], rows: [['2026-07-31'], [null]] },
      output: { columns: ['day'], rows: [['Q3 2026'], [null]] },
    },
    {
      title: 'Seconds since 1970',
      operation: { op: 'format_date', columns: ['day', 'at'], epoch: 's', timezone: 'Europe/Berlin' },
      input: {
        columns: ['day', 'at'],
        types: ['date', 'datetime'],
        rows: [
          ['2026-01-01', '2026-01-01T00:00:00.5Z'],
          [null, '1969-12-31T23:59:59.5Z'],
        ],
      },
      output: {
        columns: ['day', 'at'],
        rows: [
          ['1767222000', '1767225600'],
          [null, '-1'],
        ],
      },
    },
  ],
  effect({ columns, format = 'yyyy', epoch, locale = 'en', timezone = 'UTC', into }, scope) {
    const pattern = compileDatePattern(format, { locale });
    const zone = timeZone(timezone);
    const unknown = localeProblem(locale);
    if (unknown !== null) scope.problem('/locale', 'BAD_VALUE', unknown);
    else if ('problem' in pattern)
      scope.problem('/format', 'BAD_PATTERN', `The date pattern is refused: ${pattern.problem}.`);
    if (zone === null)
      scope.problem('/timezone', 'UNKNOWN_ZONE', 'The time zone is unknown. Write a name such as "Europe/Berlin".');
    const makes = epoch === undefined ? 'text' : 'integer';
    const targets = cellTargets(scope, { columns, into, takes: ['date', 'datetime'], makes });
    return 'problem' in pattern || zone === null ? null : { targets, pattern, epoch, zone };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { pattern, epoch, zone } = plan;
    if (epoch !== undefined) {
      return startValueOperator(context, plan.targets, () => (value) => epochOf(instantOf(value, zone), epoch));
    }
    const write = (value: unknown): string => pattern.format(fieldsOf(value, zone));
    const edits = plan.targets.map(writeDatesEdits(context, { pattern, zone }, write));
    return startCellOperator(context, plan.targets, edits);
  },
});

/**
 * Instant of a date: its beginning in the time zone. If a clock change skips it, the first instant after the change.
 */
function instantOf(value: unknown, zone: TimeZone): Timestamp {
  if (value instanceof Timestamp) return value;
  const { days } = value as CalendarDate;
  return new Timestamp(startOfDay(zone, days), 0);
}

function fieldsOf(value: unknown, zone: TimeZone): DateFields {
  if (value instanceof CalendarDate) return { days: value.days, second: 0, nanos: 0, offsetSeconds: 0 };
  const { seconds, nanos } = value as Timestamp;
  return fieldsOfTimestamp(new Timestamp(seconds, nanos, zone.offsetAt(seconds)));
}
