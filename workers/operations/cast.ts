// The operation `cast`: converts columns to another type.

import { nativeDate, nativeNumber } from '../batch/native-cell.ts';
import type { ColumnType } from '../batch/schema.ts';
import { type Static, Type } from '../bundled/type-box.ts';
import { type CellEdit, type CellTarget, editedIds, startCellOperator } from '../execution/cells/cell-operator.ts';
import { nativeJson, readJson } from '../execution/cells/json.ts';
import { finiteNumber, numberEdits } from '../execution/cells/numbers.ts';
import { CellFault, convertEdit, type NativeReader, textOfValue } from '../execution/cells/value-cells.ts';
import { KIND_BOOLEAN, KIND_DATE, KIND_DATETIME, KIND_NUMBER, KIND_TEXT } from '../kernel/layout/cells.ts';
import { columnType } from '../template/base-parameters.ts';
import { defineOperation, type OperatorContext } from '../template/operation.ts';
import type { Scope } from '../template/scope.ts';
import { anyKey } from '../template/section-schemas.ts';
import { pointerSegment } from '../template/source-node.ts';
import { Decimal, decimalFromNumber, decimalToNumber, parseDecimal, roundDecimal } from '../values/decimal.ts';
import { foldCase } from '../values/text-edits.ts';
import { CalendarDate, parseDateText, readDatetime, Timestamp, timestampOfFields } from '../values/timestamp.ts';

const DAY_SECONDS = 86_400;

const words = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description }));

const parameters = Type.Object({
  columns: Type.Record(anyKey, columnType, { minProperties: 1, description: '`{column: type}`.' }),
  into: Type.Optional(
    Type.Record(anyKey, Type.String({ minLength: 1 }), {
      minProperties: 1,
      description:
        '`{column: name}`: writes the results of these columns to new columns, which are null in rows that `where` excludes; the other columns change in place.',
    }),
  ),
  true_values: words('Texts that mean true, in any case; `true` unless set.'),
  false_values: words('Texts that mean false, in any case; `false` unless set.'),
});

type Words = Pick<Static<typeof parameters>, 'true_values' | 'false_values'>;

export const cast = defineOperation({
  name: 'cast',
  purpose: 'converts columns to another type; texts must have the plain form (`12.50`, `2026-01-31`)',
  summary:
    'Converts columns to another type. Texts must have the plain form (12.50, 2026-01-31, or JSON for the type json). For other forms, see parse_number and parse_date.',
  knownAs: [
    {
      names: 'astype convert to_type set_type types change_type change_types type dtype dtypes as_type',
      form: 'columns: {amount: decimal}',
    },
  ],
  parameters,
  cells: true,
  memory: 'R',
  editedColumns: ({ columns }) => Object.keys(columns),
  examples: [
    {
      title: 'From text to other types',
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
      title: 'Into a new column, for rows that match a condition',
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
    const numbers = new Map<ColumnType, (target: CellTarget) => CellEdit>();
    const edits = targets.map((target) => {
      const from = target.source!.type;
      const { type } = target.target;
      const convert = converter(from, type, words);
      if (from !== 'text') return convertEdit(context, target, convert);
      const native = nativeConverter(type, words);
      if (type === 'text') return asTextEdit(context, convertEdit(context, target, convert, native));
      if (type !== 'decimal' && type !== 'integer' && type !== 'number') {
        return convertEdit(context, target, convert, native);
      }
      const scale = type === 'integer' ? 0 : null;
      const reading = { format: {}, type, scale, rounding: 'error', minusZero: true } as const;
      const editOf = numbers.get(type) ?? numberEdits(context, reading, convert, native);
      numbers.set(type, editOf);
      return editOf(target);
    });
    return startCellOperator(context, targets, edits);
  },
});

/** @param made name of a new column, or null for in place */
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

/**
 * A cell with a native kind is converted like a column of the matching type. Times have no matching type, so their text
 * is converted.
 */
function nativeConverter(to: ColumnType, words: Words): NativeReader {
  if (to === 'text') return (text) => text;
  if (to === 'json') return nativeJson;
  const converters = new Map(NATIVE_TYPES.map(([kind, type]) => [kind, converter(type, to, words)]));
  return (text, kind) => {
    // Not converted through a decimal, which has a smaller range.
    if (kind === KIND_NUMBER && to === 'number') return finiteNumber(Number(text));
    const value = nativeValue(text, kind);
    return value === null
      ? new CellFault('OUT_OF_RANGE')
      : (converters.get(kind) ?? converter('text', to, words))(value);
  };
}

const NATIVE_TYPES = [
  [KIND_NUMBER, 'decimal'],
  [KIND_BOOLEAN, 'boolean'],
  [KIND_DATE, 'date'],
  [KIND_DATETIME, 'datetime'],
] as const;

/** Returns null for a number that no decimal can represent. */
function nativeValue(text: string, kind: number): unknown {
  if (kind === KIND_NUMBER) return nativeNumber(text);
  if (kind === KIND_BOOLEAN) return text === 'true';
  const fields = nativeDate(text, kind);
  if (fields === null) return text;
  return kind === KIND_DATE ? new CalendarDate(fields.days) : (timestampOfFields(fields, 0) ?? text);
}

/** Casts to text in place: text columns keep their cells, whose kind becomes text. */
function asTextEdit({ arena }: OperatorContext, byCell: CellEdit): CellEdit {
  return (work) => {
    const { batch, column, rows, count, inPlace } = work;
    const source = batch.columns[column]!;
    if (!inPlace || source.kind !== 'views' || source.kinds === undefined) return byCell(work);
    const kinds = arena.tryTake(batch.rows);
    if (kinds === 0) return null;
    const { u8, u32 } = batch.heap;
    u8.copyWithin(kinds, source.kinds, source.kinds + batch.rows);
    for (let i = 0; i < count; i++) u8[kinds + u32[(rows >>> 2) + i]!] = KIND_TEXT;
    return { kind: 'views', at: source.at, kinds };
  };
}

/** Numbers keep their digits, dates become strings. */
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
  if (typeof value === 'string' && /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/.test(value))
    return finiteNumber(Number(value));
  const exact = typeof value === 'string' ? null : toDecimal(value);
  return exact === null ? new CellFault('NOT_A_NUMBER') : finiteNumber(decimalToNumber(exact));
}

function booleanReader({ true_values = ['true'], false_values = ['false'] }: Words): (value: unknown) => unknown {
  const known = new Map<string, boolean>();
  for (const text of false_values) known.set(foldCase(text), false);
  for (const text of true_values) known.set(foldCase(text), true);
  return (value) => known.get(foldCase(textOfValue(value).trim())) ?? new CellFault('NOT_A_BOOLEAN');
}

function toDate(value: unknown): unknown {
  if (value instanceof Timestamp) return new CalendarDate(Math.floor(value.seconds / DAY_SECONDS));
  const days = typeof value === 'string' ? parseDateText(value) : null;
  return days === null ? new CellFault('NOT_A_DATE') : new CalendarDate(days);
}

function toDatetime(value: unknown): unknown {
  if (value instanceof CalendarDate) return new Timestamp(value.days * DAY_SECONDS, 0);
  const instant = typeof value === 'string' ? readDatetime(value) : 'NOT_A_DATE';
  return typeof instant === 'string' ? new CellFault(instant) : instant;
}
