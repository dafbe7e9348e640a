// Owns the work of the conversions of conversion.ts: texts, numbers and bytes in other types, and names of types.

import { KIND_NUMBER } from '../../kernel/layout/native-kinds.ts';
import { CalendarDate, parseDateText } from '../../values/calendar.ts';
import { timestampOfFields } from '../../values/date-fields.ts';
import { Decimal, decimalFromNumber, parseDecimal, truncateDecimal } from '../../values/decimal.ts';
import { nativeDate, nativeNumber } from '../../values/native-cell.ts';
import { Duration, parseTimestamp, Timestamp } from '../../values/timestamp.ts';
import { DURATION, TIMESTAMP } from '../check/type.ts';
import { NOT_A_BOOLEAN, NOT_A_DATE, NOT_A_NUMBER, OVERFLOW } from '../compile/evaluation-error.ts';
import { type Integer, MapValue, OptionalValue, TypeValue, Uint, type Value } from '../compile/value.ts';
import { checkedInteger, checkedUint } from './integer.ts';

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
  if (/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text)) {
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

export function integerOfText(text: string): Integer {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) throw NOT_A_NUMBER;
  if (text.length <= 15) return Number(text) + 0;
  return checkedInteger(BigInt(text.startsWith('+') ? text.slice(1) : text));
}

export function uintOfText(text: string): Uint {
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

export function textOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder's own error would be a fault of ours; bytes that are no UTF-8 are the row's.
    throw NOT_UTF8;
  }
}

const NOT_UTF8 = OVERFLOW;

export function booleanOfText(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw NOT_A_BOOLEAN;
}

export function decimalOfText(text: string): Decimal {
  const value = parseDecimal(text, true);
  if (value === null) throw NOT_A_NUMBER;
  return value;
}

export function decimalOfNumber(value: number): Decimal {
  const decimal = decimalFromNumber(value);
  if (decimal === null) throw OVERFLOW;
  return decimal;
}

export function dateOfText(text: string): CalendarDate {
  const days = parseDateText(text);
  if (days === null) throw NOT_A_DATE;
  return new CalendarDate(days);
}

export function timestampOfText(text: string): Timestamp {
  const value = parseTimestamp(text);
  if (value === null) throw NOT_A_DATE;
  return value;
}

/** Of a number that the file knows as such, as of a decimal: its digits behind the point are cut. */
export function integerOfNative(text: string, kind: number): Integer {
  const number = kind === KIND_NUMBER ? nativeNumber(text) : null;
  if (number === null) throw kind === KIND_NUMBER ? OVERFLOW : NOT_A_NUMBER;
  return checkedInteger(truncateDecimal(number));
}

/** Of a date that the file knows as such: the day as it stands there. */
export function dateOfNative(text: string, kind: number): CalendarDate {
  const fields = nativeDate(text, kind);
  if (fields === null) throw NOT_A_DATE;
  return new CalendarDate(fields.days);
}

/** In UTC where no offset stands beside it. */
export function timestampOfNative(text: string, kind: number): Timestamp {
  const fields = nativeDate(text, kind);
  const value = fields === null ? null : timestampOfFields(fields, 0);
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
