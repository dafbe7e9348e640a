// The operation `cast`: columns of another type.
import { type Static, Type } from '../bundled/type-box.ts';
import type { ColumnType } from '../schema.ts';
import { pointerSegment } from '../template/pointer.ts';
import type { Scope } from '../template/scope.ts';
import { CalendarDate, parseDateText } from '../values/calendar.ts';
import { Decimal, decimalFromNumber, decimalToNumber, parseDecimal, roundDecimal } from '../values/decimal.ts';
import { jsonKind } from '../values/json-parts.ts';
import { parseTimestamp, Timestamp } from '../values/timestamp.ts';
import { type CellTarget, editedIds, startCellOperator } from './cells/cell-operator.ts';
import { finiteNumber, numberEdit } from './cells/number-cells.ts';
import { textOfValue } from './cells/text-of-value.ts';
import { CellFault, convertEdit } from './cells/value-cells.ts';
import { columnType } from './column-set.ts';
import { defineOperation } from './operation.ts';

const DAY_SECONDS = 86_400;

const words = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }));

const parameters = Type.Object({
  columns: Type.Record(Type.String(), columnType, { minProperties: 1, description: '`{column: type}`.' }),
  into: Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      minProperties: 1,
      description:
        '`{column: name}`: puts the result of these columns into new ones, which are null in rows that `where` leaves ' +
        'out; the others change in place.',
    }),
  ),
  true_values: words('Texts that mean true, in any case; `true` unless set.'),
  false_values: words('Texts that mean false, in any case; `false` unless set.'),
});

type Words = Pick<Static<typeof parameters>, 'true_values' | 'false_values'>;

export const cast = defineOperation({
  name: 'cast',
  summary:
    'Gives columns another type. Texts must be plain (12.50, 2026-01-31; for json JSON): see parse_number and ' +
    'parse_date for others.',
  parameters,
  cells: true,
  memory: 'R',
  editedColumns: ({ columns }) => Object.keys(columns),
  examples: [
    {
      title: 'Texts to values',
      operation: {
        op: 'cast',
        columns: { n: 'integer', ok: 'boolean', price: 'decimal' },
        true_values: ['ja'],
        false_values: ['nein'],
      },
      input: {
        columns: ['n', 'ok', 'price'],
        rows: [
          ['007', 'Ja', '1.50'],
          ['x', 'nein', '1,5'],
          [null, 'maybe', null],
        ],
      },
      output: {
        columns: ['n', 'ok', 'price'],
        rows: [
          ['7', 'true', '1.50'],
          [null, 'false', null],
          [null, null, null],
        ],
      },
    },
    {
      title: 'Into a new column, from rows of which a condition holds',
      operation: { op: 'cast', columns: { v: 'integer' }, into: { v: 'n' }, where: 'kind == "n"' },
      input: {
        columns: ['kind', 'v'],
        rows: [
          ['n', '007'],
          ['t', 'x'],
          ['n', 'y'],
        ],
      },
      output: {
        columns: ['kind', 'v', 'n'],
        rows: [
          ['n', '007', '7'],
          ['t', 'x', null],
          ['n', 'y', null],
        ],
      },
    },
  ],
  effect({ columns, into = {}, true_values, false_values }, scope) {
    for (const name of Object.keys(into)) {
      if (Object.hasOwn(columns, name)) continue;
      const message = `"columns" gives no type for ${JSON.stringify(name)}. Name it there too.`;
      scope.problem(`/into/${pointerSegment(name)}`, 'UNKNOWN_COLUMN', message);
    }
    const targets = Object.entries(columns).flatMap(([name, type]) => {
      return castTarget(name, type, Object.hasOwn(into, name) ? into[name]! : null, scope);
    });
    return { targets, words: { true_values, false_values } as Words };
  },
  edits: ({ targets }) => editedIds(targets),
  start({ targets, words }, context) {
    const edits = targets.map((target) => {
      const from = target.source!.type;
      const { type } = target.target;
      const convert = converter(from, type, words);
      if (from !== 'text' || (type !== 'decimal' && type !== 'integer' && type !== 'number')) {
        return convertEdit(context, target, convert);
      }
      const scale = type === 'integer' ? 0 : null;
      return numberEdit(context, target, { format: {}, type, scale, rounding: 'error', minusZero: true }, convert);
    });
    return startCellOperator(context, targets, edits);
  },
});

/** @param made name of a new column, null: in place */
function castTarget(name: string, type: ColumnType, made: string | null, scope: Scope): CellTarget[] {
  const source = scope.read(name, `/columns/${pointerSegment(name)}`);
  if (source === null) return [];
  if (made !== null) return [{ source, target: scope.add(made, type, `/into/${pointerSegment(name)}`) }];
  if (source.type !== type) scope.retype(source, type);
  return [{ source, target: { ...source, type } }];
}

function converter(from: ColumnType, to: ColumnType, words: Words): (value: unknown) => unknown {
  if (from === to) return (value) => value;
  switch (to) {
    case 'text':
      return textOfValue;
    case 'json':
      return from === 'text' ? readJson : (value) => jsonOf(from, value);
    case 'integer':
      return toInteger;
    case 'decimal':
      return (value) => toDecimal(value) ?? new CellFault('NOT_A_NUMBER');
    case 'number':
      return toNumber;
    case 'boolean':
      return booleanReader(words);
    case 'date':
      return toDate;
    case 'datetime':
      return toDatetime;
  }
}

/** As parse_json reads it. */
function readJson(value: unknown): unknown {
  const kind = jsonKind(value as string);
  if (kind === 'none') return new CellFault('BAD_JSON');
  return kind === 'null' ? null : (value as string).trim();
}

/** Numbers keep their digits, dates are texts. */
function jsonOf(from: ColumnType, value: unknown): string {
  if (from === 'date' || from === 'datetime') return JSON.stringify(textOfValue(value));
  return from === 'number' ? JSON.stringify(value) : textOfValue(value);
}

function toDecimal(value: unknown): Decimal | null {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return new Decimal(value, 0);
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 2 ** 53 ? new Decimal(value, 0) : decimalFromNumber(value);
  if (typeof value === 'boolean') return new Decimal(value ? 1 : 0, 0);
  return typeof value === 'string' ? parseDecimal(value) : null;
}

function toInteger(value: unknown): unknown {
  const exact = toDecimal(value);
  if (exact === null) return new CellFault('NOT_A_NUMBER');
  const whole = roundDecimal(exact, 0, 'error');
  return whole === null ? new CellFault('PRECISION_LOSS') : whole.digits;
}

function toNumber(value: unknown): unknown {
  if (typeof value === 'string' && /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/.test(value))
    return finiteNumber(Number(value));
  const exact = typeof value === 'string' ? null : toDecimal(value);
  return exact === null ? new CellFault('NOT_A_NUMBER') : finiteNumber(decimalToNumber(exact));
}

function booleanReader({ true_values = ['true'], false_values = ['false'] }: Words): (value: unknown) => unknown {
  const known = new Map<string, boolean>();
  for (const text of false_values) known.set(text.toLowerCase(), false);
  for (const text of true_values) known.set(text.toLowerCase(), true);
  return (value) => known.get(textOfValue(value).trim().toLowerCase()) ?? new CellFault('NOT_A_BOOLEAN');
}

function toDate(value: unknown): unknown {
  if (value instanceof Timestamp) return new CalendarDate(Math.floor(value.seconds / DAY_SECONDS));
  const days = typeof value === 'string' ? parseDateText(value) : null;
  return days === null ? new CellFault('NOT_A_DATE') : new CalendarDate(days);
}

function toDatetime(value: unknown): unknown {
  if (value instanceof CalendarDate) return new Timestamp(value.days * DAY_SECONDS, 0);
  return (typeof value === 'string' ? parseTimestamp(value) : null) ?? new CellFault('NOT_A_DATE');
}
