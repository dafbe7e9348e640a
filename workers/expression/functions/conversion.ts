// Owns the conversions of CEL (bool, bytes, double, duration, dyn, int, string, timestamp, type, uint) and ours to
// decimal and date.
import { CalendarDate, dateText, dayNumber, isDate, parseDateText } from '../../values/calendar.ts';
import {
  Decimal,
  decimalFromNumber,
  decimalText,
  decimalToNumber,
  parseDecimal,
  truncateDecimal,
} from '../../values/decimal.ts';
import {
  Duration,
  durationText,
  parseDuration,
  parseTimestamp,
  Timestamp,
  timestampOf,
  timestampText,
} from '../../values/timestamp.ts';
import { NOT_A_BOOLEAN, NOT_A_DATE, NOT_A_NUMBER, OVERFLOW, TIME_OUT_OF_RANGE } from '../evaluation-error.ts';
import {
  BOOL,
  BYTES,
  DATE,
  DECIMAL,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  variable,
} from '../type.ts';
import { type Integer, MapValue, OptionalValue, TypeValue, Uint, type Value } from '../value.ts';
import { define, type FunctionDefinition, overload } from './definition.ts';
import { checkedInteger, checkedUint, integerOfNumber } from './integer.ts';
import { dateOf, inTime } from './operator.ts';

const T = variable('T');

/** The double that a text spells: decimal or exponent form, Infinity, NaN; nothing else (no hex, no blanks). */
export function numberOfText(text: string): number {
  const { length } = text;
  // Numbers of up to 15 digits and at most 22 behind the point are one exact division: the common cell.
  if (length <= 16) {
    let digits = 0;
    let count = 0;
    let power = -1;
    let index = text.charCodeAt(0) === 45 ? 1 : 0;
    const negative = index === 1;
    for (; index < length; index++) {
      const code = text.charCodeAt(index) - 48;
      if (code >= 0 && code <= 9) {
        digits = digits * 10 + code;
        count++;
        if (power >= 0) power++;
      } else if (code === -2 && power < 0) power = 0;
      else break;
    }
    if (index === length && count > 0 && count <= 15) {
      const value = power > 0 ? digits / POWERS[power]! : digits;
      return negative ? -value : value;
    }
  }
  if (/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) throw OVERFLOW;
    return value;
  }
  const special = SPECIAL.get(text.toLowerCase());
  if (special === undefined) throw NOT_A_NUMBER;
  return special;
}

const POWERS = Array.from({ length: 17 }, (_, exponent) => 10 ** exponent);

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

function integerOfText(text: string): Integer {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) throw NOT_A_NUMBER;
  if (text.length <= 15) return Number(text) + 0;
  return checkedInteger(BigInt(text.startsWith('+') ? text.slice(1) : text));
}

function uintOfText(text: string): Uint {
  if (!/^[0-9]{1,30}$/.test(text)) throw NOT_A_NUMBER;
  return checkedUint(BigInt(text));
}

/** The text of a double as Go prints it: shortest, with an exponent from 1e21 and below 1e-4. */
export function textOfNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
    const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
    return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
  }
  return String(value);
}

function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder's own error would be a fault of ours; bytes that are no UTF-8 are the row's.
    throw NOT_UTF8;
  }
}

const NOT_UTF8 = OVERFLOW;

function booleanOfText(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw NOT_A_BOOLEAN;
}

function decimalOfText(text: string): Decimal {
  const value = parseDecimal(text, true);
  if (value === null) throw NOT_A_NUMBER;
  return value;
}

function decimalOfNumber(value: number): Decimal {
  const decimal = decimalFromNumber(value);
  if (decimal === null) throw OVERFLOW;
  return decimal;
}

function dateOfText(text: string): CalendarDate {
  const days = parseDateText(text);
  if (days === null) throw NOT_A_DATE;
  return new CalendarDate(days);
}

function timestampOfText(text: string): Timestamp {
  const value = parseTimestamp(text);
  if (value === null) throw NOT_A_DATE;
  return value;
}

/** The name of a value's type, as type() gives it. */
export function typeName(value: Value): string {
  if (value === null) return 'null_type';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'bigint') return 'int';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Decimal) return 'decimal';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CalendarDate) return 'date';
  if (value instanceof Timestamp) return TIMESTAMP.name;
  if (value instanceof Duration) return DURATION.name;
  if (value instanceof MapValue) return 'map';
  if (value instanceof OptionalValue) return 'optional_type';
  return value instanceof TypeValue ? 'type' : 'list';
}

const same = (value: unknown) => value;

export const CONVERSIONS: readonly FunctionDefinition[] = [
  define('bool', 'function', [overload([BOOL], BOOL, same), overload([STRING], BOOL, booleanOfText)]),
  define('bytes', 'function', [
    overload([BYTES], BYTES, same),
    overload([STRING], BYTES, (text: string) => new TextEncoder().encode(text)),
  ]),
  define('double', 'function', [
    overload([DOUBLE], DOUBLE, same),
    overload([STRING], DOUBLE, numberOfText),
    overload([INT], DOUBLE, (value: Integer) => Number(value)),
    overload([UINT], DOUBLE, (value: Uint) => Number(value.value)),
    overload([DECIMAL], DOUBLE, decimalToNumber),
  ]),
  define('dyn', 'function', [overload([DYN], DYN, same)], { acceptsNull: true }),
  define('duration', 'function', [
    overload([DURATION], DURATION, same),
    overload([STRING], DURATION, (text: string) => inTime(parseDuration(text))),
    overload([INT], DURATION, (seconds: Integer) => {
      if (typeof seconds !== 'number') throw TIME_OUT_OF_RANGE;
      return new Duration(seconds, 0);
    }),
  ]),
  define('int', 'function', [
    overload([INT], INT, same),
    overload([STRING], INT, integerOfText),
    overload([DOUBLE], INT, integerOfNumber),
    overload([UINT], INT, (value: Uint) => checkedInteger(value.value)),
    overload([TIMESTAMP], INT, (value: Timestamp) => value.seconds),
    overload([DURATION], INT, (value: Duration) => value.seconds),
    overload([DECIMAL], INT, (value: Decimal) => checkedInteger(truncateDecimal(value))),
  ]),
  define('string', 'function', [
    overload([STRING], STRING, same),
    overload([INT], STRING, (value: Integer) => String(value)),
    overload([UINT], STRING, (value: Uint) => String(value.value)),
    overload([DOUBLE], STRING, textOfNumber),
    overload([DECIMAL], STRING, decimalText),
    overload([BOOL], STRING, (value: boolean) => (value ? 'true' : 'false')),
    overload([BYTES], STRING, textOfBytes),
    overload([DATE], STRING, (value: CalendarDate) => dateText(value.days)),
    overload([TIMESTAMP], STRING, timestampText),
    overload([DURATION], STRING, durationText),
  ]),
  define('timestamp', 'function', [
    overload([TIMESTAMP], TIMESTAMP, same),
    overload([STRING], TIMESTAMP, timestampOfText),
    overload([INT], TIMESTAMP, (seconds: Integer) => inTime(timestampOf(Number(seconds), 0))),
    overload([DATE], TIMESTAMP, (value: CalendarDate) => inTime(timestampOf(value.days * 86400, 0))),
  ]),
  define('type', 'function', [overload([T], typeOf(T), (value: Value) => new TypeValue(typeName(value)))], {
    acceptsNull: true,
  }),
  define('uint', 'function', [
    overload([UINT], UINT, same),
    overload([INT], UINT, (value: Integer) => checkedUint(BigInt(value))),
    overload([DOUBLE], UINT, (value: number) => {
      if (!(value > -1 && value < 2 ** 64)) throw OVERFLOW;
      return checkedUint(BigInt(Math.trunc(value)));
    }),
    overload([STRING], UINT, uintOfText),
  ]),
  define('decimal', 'both', [
    overload([DECIMAL], DECIMAL, same),
    overload([STRING], DECIMAL, decimalOfText),
    overload([INT], DECIMAL, (value: Integer) => new Decimal(value, 0)),
    overload([UINT], DECIMAL, (value: Uint) => decimalOfText(String(value.value))),
    overload([DOUBLE], DECIMAL, decimalOfNumber),
  ]),
  define('date', 'both', [
    overload([DATE], DATE, same),
    overload([STRING], DATE, dateOfText),
    overload([TIMESTAMP], DATE, (value: Timestamp) =>
      dateOf(Math.floor((value.seconds + value.offsetSeconds) / 86400)),
    ),
    overload([INT, INT, INT], DATE, (year: Integer, month: Integer, day: Integer) => {
      if (!isDate(Number(year), Number(month), Number(day))) throw NOT_A_DATE;
      return new CalendarDate(dayNumber(Number(year), Number(month), Number(day)));
    }),
  ]),
];
