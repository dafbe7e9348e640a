// What a Template may say of texts that are dates: the parameters of `parse_date`.
import { type Static, Type } from '../../bundled/type-box.ts';
import { columnSet } from '../parameters/column-set.ts';
import { intoParameter } from './cell-targets.ts';

export const dateParameters = Type.Object({
  columns: columnSet,
  formats: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 20,
      description:
        'Patterns such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm`; the first that the whole text matches counts. A space in a ' +
        'pattern is any one space of the text, such as the no-break ones that programs put before AM and PM. A pattern ' +
        'of a longer time reads its first day: `MM/yyyy` or `MMMM yyyy` a month, `yyyy-QQQ` (2026-Q3) or `QQQ yyyy` a ' +
        "quarter, `YYYY-'W'ww` (2026-W07) a week of ISO 8601; `YYYY-'W'ww-e` is a day of a week.",
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
          'The year of patterns without one, such as `dd.MM.`: a number, or `{meta: year}` for the four digits that ' +
          '`input.preamble` or `input.footer` finds in the file.',
      },
    ),
  ),
  epoch: Type.Optional(
    Type.Enum(['s', 'ms'], {
      description: 'Also takes seconds or milliseconds since 1970 in UTC; without `formats` nothing else.',
    }),
  ),
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

export type DateParameters = Static<typeof dateParameters>;
