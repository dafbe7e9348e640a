// The operation `parse_duration`: parses texts as numbers of hours, minutes or seconds.

import { nativeDuration } from '../batch/native-cell.ts';
import { Type } from '../bundled/type-box.ts';
import { editedIds } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { CellFault, startValueOperator } from '../execution/cells/value-cells.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import {
  DURATION_UNITS,
  type DurationReading,
  durationIn,
  plainDurationReader,
  readDuration,
} from '../values/durations.ts';
import type { Duration } from '../values/timestamp.ts';

export const parseDuration = defineOperation({
  name: 'parse_duration',
  purpose: 'parses texts (`1:30:00`, `90 min`, `PT1H30M`) as decimals with a unit',
  summary:
    'Parses texts as durations, as exact decimals with a unit: `1:30:00`, `1:30`, `90 min`, `1h 30m`, `PT1H30M`. They can be added, compared and rounded like other numbers. The function `format_duration` formats them.',
  knownAs: [{ names: 'duration to_timedelta dhms2sec hms2sec', form: 'columns: ..., unit: min' }],
  parameters: Type.Object({
    columns: columnSet,
    unit: Type.Optional(
      Type.Enum([...DURATION_UNITS], {
        default: 's',
        description:
          'Unit of the result: `ms`, `s`, `min`, `h` or `d`; rounded half to even, to ten decimal places. In a workbook, days with `number_format: "[h]:mm:ss"` are shown as hours.',
      }),
    ),
    clock: Type.Optional(
      Type.Enum(['hours_minutes', 'minutes_seconds'], {
        default: 'hours_minutes',
        description: 'Meaning of `1:30`. In minutes and seconds, the seconds may have a fraction (`05:10.5`).',
      }),
    ),
    plain: Type.Optional(
      Type.Enum([...DURATION_UNITS], {
        description: 'Unit of plain numbers, such as `90`; without it, they are errors.',
      }),
    ),
    decimal: Type.Optional(Type.Enum(['.', ','], { default: '.', description: 'Decimal separator, as in `1,5 h`.' })),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Working hours in several notations',
      operation: { op: 'parse_duration', columns: 'worked', unit: 'min' },
      input: {
        columns: ['worked'],
        rows: [
          ['1:30:00'],
          ['1:30'],
          ['90 min'],
          ['1h 30m'],
          ['1h30'],
          ['PT1H30M'],
          ['1.5 h'],
          ['2 days'],
          ['90'],
          [null],
        ],
      },
      output: {
        columns: ['worked'],
        rows: [['90'], ['90'], ['90'], ['90'], ['90'], ['90'], ['90'], ['2880'], [null], [null]],
      },
    },
    {
      title: 'Lengths of calls in minutes and seconds',
      operation: { op: 'parse_duration', columns: 'call', clock: 'minutes_seconds', plain: 's', into: 'seconds' },
      input: { columns: ['call'], rows: [['1:30'], ['0:00:07.250'], ['45'], ['1:75'], ['-2:00'], ['05:10.5']] },
      output: {
        columns: ['call', 'seconds'],
        rows: [
          ['1:30', '90'],
          ['0:00:07.250', '7.25'],
          ['45', '45'],
          ['1:75', null],
          ['-2:00', '-120'],
          ['05:10.5', '310.5'],
        ],
      },
    },
  ],
  effect({ columns, unit = 's', clock = 'hours_minutes', plain, decimal, into }, scope) {
    const targets = cellTargets(scope, { columns, into, takes: ['text'], makes: 'decimal' });
    const reading: DurationReading = { clock, plain, decimal };
    return { targets, unit, reading };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, unit, reading }, context) {
    const made = (duration: Duration | null): unknown =>
      (duration === null ? null : durationIn(duration, unit)) ?? new CellFault('NOT_A_DURATION');
    const plain = plainDurationReader(reading, unit);
    const read = (value: unknown): unknown => plain?.(value as string) ?? made(readDuration(value as string, reading));
    const native = (text: string, kind: number): unknown => made(nativeDuration(text, kind, reading));
    return startValueOperator(context, targets, () => read, native);
  },
});
