// The operation `format_date`: dates and times become texts.
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { writeDatesEdit } from '../execution/cells/date-cells.ts';
import { columnSet } from '../execution/parameters/column-set.ts';
import { CalendarDate } from '../values/calendar.ts';
import { type DateFields, fieldsOfTimestamp } from '../values/date-fields.ts';
import { compileDatePattern } from '../values/date-pattern.ts';
import { localeProblem } from '../values/month-names.ts';
import { type TimeZone, timeZone } from '../values/time-zone.ts';
import { Timestamp } from '../values/timestamp.ts';
import { defineOperation } from './operation.ts';

export const formatDate = defineOperation({
  name: 'format_date',
  summary: 'Writes dates and times as texts by a pattern.',
  parameters: Type.Object({
    columns: columnSet,
    format: Type.String({ minLength: 1, maxLength: 100, description: 'A pattern such as `dd.MM.yyyy HH:mm`.' }),
    locale: Type.Optional(Type.String({ default: 'en', description: 'Language of the names of months and days.' })),
    timezone: Type.Optional(Type.String({ default: 'UTC', description: 'Zone in which times are shown.' })),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'As in Germany',
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
  ],
  effect({ columns, format, locale = 'en', timezone = 'UTC', into }, scope) {
    const pattern = compileDatePattern(format, { locale });
    const zone = timeZone(timezone);
    const unknown = localeProblem(locale);
    if (unknown !== null) scope.problem('/locale', 'BAD_VALUE', unknown);
    else if ('problem' in pattern)
      scope.problem('/format', 'BAD_PATTERN', `The date pattern is refused: ${pattern.problem}.`);
    if (zone === null)
      scope.problem('/timezone', 'UNKNOWN_ZONE', 'The time zone is unknown. Write a name such as "Europe/Berlin".');
    const targets = cellTargets(scope, { columns, into, takes: ['date', 'datetime'], makes: 'text' });
    return 'problem' in pattern || zone === null ? null : { targets, pattern, zone };
  },
  edits: (plan) => editedIds(plan?.targets ?? []),
  start(plan, context) {
    if (plan === null) return { push: context.next };
    const { pattern, zone } = plan;
    const write = (value: unknown): string => pattern.format(fieldsOf(value, zone));
    const edits = plan.targets.map((target) => writeDatesEdit(context, target, pattern, write));
    return startCellOperator(context, plan.targets, edits);
  },
});

function fieldsOf(value: unknown, zone: TimeZone): DateFields {
  if (value instanceof CalendarDate) return { days: value.days, second: 0, nanos: 0, offsetSeconds: 0 };
  const { seconds, nanos } = value as Timestamp;
  return fieldsOfTimestamp(new Timestamp(seconds, nanos, zone.offsetAt(seconds)));
}
