// The operation `parse_time`: parses texts as times of day.

import { NativeText, nativeTime } from '../batch/native-cell.ts';
import { Type } from '../bundled/type-box.ts';
import { editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { cellTargets, intoParameter } from '../execution/cells/cell-targets.ts';
import { CellFault, convertEdit } from '../execution/cells/value-cells.ts';
import { KIND_TIME } from '../kernel/layout/cells.ts';
import { columnSet } from '../template/base-parameters.ts';
import { defineOperation } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import type { DatePattern } from '../values/date-pattern.ts';
import { compileTimePattern, readTime, TIME_FORMATS, type TimeOfDay, timeText } from '../values/durations.ts';

export const parseTime = defineOperation({
  name: 'parse_time',
  purpose: 'parses texts as times of day; the column remains text, `14:30:00`',
  summary:
    'Parses texts as times of day with patterns. The whole text must match. The column remains text, in the form 14:30:00, which sorts and compares correctly. Workbooks get time cells.',
  knownAs: [{ names: 'time to_time', form: 'columns: ..., formats: [HH:mm]' }],
  parameters: Type.Object({
    columns: columnSet,
    formats: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 20,
        description:
          'Patterns such as `HH:mm` or `h:mm a`; without them `14:30`, `14:30:00` with or without a fraction, `2:30 PM`, ' +
          '`2:30:00 PM` and `2 PM`.',
      }),
    ),
    into: intoParameter,
  }),
  cells: true,
  memory: 'R',
  examples: [
    {
      title: 'Opening hours',
      operation: { op: 'parse_time', columns: ['from', 'to'] },
      input: {
        columns: ['from', 'to'],
        rows: [
          ['8:30', '2:30 PM'],
          ['12 am', '23:59:59.5'],
          ['24:00', null],
        ],
      },
      output: {
        columns: ['from', 'to'],
        rows: [
          ['08:30:00', '14:30:00'],
          ['00:00:00', '23:59:59.5'],
          [null, null],
        ],
      },
    },
    {
      title: 'Four digits',
      operation: { op: 'parse_time', columns: 'at', formats: ['HHmm'], into: 'time' },
      input: { columns: ['at'], rows: [['0705'], ['705']] },
      output: {
        columns: ['at', 'time'],
        rows: [
          ['0705', '07:05:00'],
          ['705', null],
        ],
      },
    },
  ],
  effect({ columns, formats, into }, scope) {
    const targets = cellTargets(scope, { columns, into, takes: ['text'], makes: 'text', makesKinds: true });
    return { targets, patterns: planPatterns(formats ?? TIME_FORMATS, scope) };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, patterns }, context) {
    const made = (time: TimeOfDay | null) =>
      time === null ? new CellFault('NOT_A_TIME') : new NativeText(timeText(time), KIND_TIME);
    const read = (value: unknown): unknown => made(readTime(value as string, patterns));
    const native = (text: string, kind: number): unknown => made(nativeTime(text, kind));
    const edits = targets.map((target) => convertEdit(context, target, read, native, 'text_with_kind'));
    return startCellOperator(context, targets, edits);
  },
});

function planPatterns(formats: readonly string[], scope: Scope): readonly DatePattern[] {
  return formats.flatMap((format, index) => {
    const pattern = compileTimePattern(format);
    if (!('problem' in pattern)) return [pattern];
    scope.problem(`/formats/${index}`, 'BAD_PATTERN', `The time pattern is refused: ${pattern.problem}.`);
    return [];
  });
}
