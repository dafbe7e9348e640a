// Representation of the values of a column as cells, including texts of dates, times and UUIDs.

import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../kernel/layout/cells.ts';
import { civilDate, DAY_MAX, DAY_MIN, dateText } from '../../values/timestamp.ts';
import { CELL_BYTES_MAX } from '../ceilings.ts';
import { DECIMAL_BYTES_MAX, DECIMAL_SCALE_MAX, malformedParquet, unsupportedParquet } from './limits.ts';
import {
  type DigitsForm,
  decimalText,
  decimalTextOfBytes,
  digitsForm,
  doubleText,
  floatText,
  halfFloat,
} from './number-digits.ts';
import {
  BOOLEAN,
  BYTE_ARRAY,
  DOUBLE,
  FIXED_LEN_BYTE_ARRAY,
  FLOAT,
  INT32,
  INT64,
  INT96,
  type Meaning,
  type SchemaNode,
  type TimeUnit,
} from './schema.ts';

// Texts of Parquet dates, times, timestamps, intervals and UUIDs in the canonical forms of native kinds. Fractions of a
// second appear only if they are not zero.

const PER_SECOND: Readonly<Record<TimeUnit, bigint>> = { millis: 1000n, micros: 1_000_000n, nanos: 1_000_000_000n };
const FRACTION_DIGITS: Readonly<Record<TimeUnit, number>> = { millis: 3, micros: 6, nanos: 9 };
const SECONDS_PER_DAY = 86_400;
const MILLIS_PER_SECOND = 1000;

/** Years with more than four digits and years before 1 have a sign and six digits (ISO 8601, expanded). */
function dateTextOf(days: number): string {
  if (days >= DAY_MIN && days <= DAY_MAX) return dateText(days);
  const { year, month, day } = civilDate(days);
  const digits = String(Math.abs(year)).padStart(6, '0');
  return `${year < 0 ? '-' : '+'}${digits}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** @param value time since midnight. Beyond one day, the result has more than 23 hours. */
function timeText(value: bigint, unit: TimeUnit): string {
  if (value < 0n) return `-${timeText(-value, unit)}`;
  const perSecond = PER_SECOND[unit];
  return clockText(Number(value / perSecond), Number(value % perSecond), unit);
}

/**
 * @param value time since 1970-01-01T00:00:00
 * @param isUtc whether it is an instant, which is written with a Z
 */
function instantText(value: bigint, unit: TimeUnit, isUtc: boolean): string {
  const perSecond = PER_SECOND[unit];
  const rest = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - rest) / perSecond);
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const clock = clockText(seconds - days * SECONDS_PER_DAY, Number(rest), unit);
  return `${dateTextOf(days)}T${clock}${isUtc ? 'Z' : ''}`;
}

/** Months, days and milliseconds as an ISO 8601 duration. */
function intervalText(view: DataView, at: number): string {
  const months = view.getUint32(at, true);
  const days = view.getUint32(at + 4, true);
  const millis = view.getUint32(at + 8, true);
  const date = `${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}`;
  const time = millis > 0 ? `T${millis / MILLIS_PER_SECOND}S` : '';
  return date === '' && time === '' ? 'PT0S' : `P${date}${time}`;
}

function uuidText(view: DataView, at: number): string {
  const hex = Buffer.from(view.buffer, at, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function clockText(seconds: number, fraction: number, unit: TimeUnit): string {
  const minutes = Math.floor(seconds / 60);
  const whole = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`;
  if (fraction === 0) return whole;
  return `${whole}.${String(fraction).padStart(FRACTION_DIGITS[unit], '0').replace(/0+$/, '')}`;
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

// Representation of the values of a column in the engine: native kind and canonical text, by logical and physical type.

/** Text of a value whose bytes begin at `at`. */
type ValueText = (view: DataView, at: number, bytes: number) => string;

export interface ValueForm {
  /** Kind of the cells, unless the text rules it out (`isNative`). */
  readonly kind: number;
  /** null if the bytes themselves are the text. */
  readonly text: ValueText | null;
  /** For numbers: writes most of them without creating a string. */
  readonly digits?: DigitsForm;
  /** Maximum length of a value. A longer value would be meaningless. */
  readonly bytesMax?: number;
  /** False for texts that are not of the kind, such as NaN or a date after year 9999. Those cells are text. */
  readonly isNative: (text: string) => boolean;
}

/** Length of a value by physical type, 0 if it varies. */
const WIDTHS: readonly number[] = [0, 4, 8, 12, 4, 8, 0, 0];
const INTERVAL_BYTES = 12;
const UUID_BYTES = 16;
const HALF_BYTES = 2;

const always = (): boolean => true;
/** False for `NaN` and `Infinity`. */
const endsWithDigit = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0x30 && last <= 0x39;
};
/** False for years with more than four digits or before 1, which have a sign, and for times outside a day. */
const beginsWithDigit = (text: string): boolean => {
  const first = text.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
};

/** Length of a value in bytes. 0 if each value has its own length, and for booleans, which are bits. */
export function valueWidth({ physical, typeLength }: SchemaNode): number {
  return physical === FIXED_LEN_BYTE_ARRAY ? typeLength : WIDTHS[physical ?? BYTE_ARRAY]!;
}

/**
 * Throws Failed for a type without meaning.
 * @param position offset of the metadata in the file
 * @param bytesAs representation of bytes without a type
 */
export function valueForm(leaf: SchemaNode, position: number, bytesAs: BytesAs = 'text'): ValueForm {
  const { physical, typeLength, meaning } = leaf;
  if (physical === FIXED_LEN_BYTE_ARRAY && typeLength < 1)
    throw malformedParquet('a column of values without a length', position);
  if (meaning.is === 'decimal' && (meaning.scale < 0 || meaning.scale > DECIMAL_SCALE_MAX))
    throw malformedParquet('a decimal of an impossible scale', position);
  const form = (bytesAs === 'text' ? null : encodedBytes(leaf, bytesAs)) ?? formOf(leaf);
  if (form === null) throw unsupportedParquet('a logical type on a physical type that cannot store it');
  return form;
}

export type BytesAs = 'text' | 'hex' | 'base64';

/** Bytes that one byte becomes, at most. */
const ENCODED_BYTES = { hex: 2, base64: 4 / 3 } as const;

/** Returns null for a column that does not consist of bytes without a type. */
function encodedBytes({ physical, meaning }: SchemaNode, as: 'hex' | 'base64'): ValueForm | null {
  const isBytes = physical === BYTE_ARRAY || physical === FIXED_LEN_BYTE_ARRAY;
  if (!isBytes || meaning.is !== 'plain') return null;
  const text: ValueText = (view, at, bytes) => Buffer.from(view.buffer, at, bytes).toString(as);
  const bytesMax = Math.floor(CELL_BYTES_MAX / ENCODED_BYTES[as]) - BASE64_PADDING;
  return { kind: KIND_TEXT, text, bytesMax, isNative: always };
}

const BASE64_PADDING = 2;

/** True if its cells may have a kind. */
export function hasKind({ physical, meaning }: SchemaNode): boolean {
  if (physical === null || meaning.is === 'json') return true;
  return !(physical >= BYTE_ARRAY && ['plain', 'text', 'uuid', 'interval', 'null'].includes(meaning.is));
}

function formOf({ physical, typeLength, meaning }: SchemaNode): ValueForm | null {
  switch (physical) {
    case BOOLEAN:
      return { kind: KIND_BOOLEAN, text: null, isNative: always };
    case INT32:
      return int32Form(meaning);
    case INT64:
      return int64Form(meaning);
    case INT96:
      return { kind: KIND_DATETIME, text: int96Text, isNative: beginsWithDigit };
    case FLOAT:
      return number((view, at) => floatText(view.getFloat32(at, true)));
    case DOUBLE:
      return number((view, at) => doubleText(view.getFloat64(at, true)), digitsForm('double'));
    default:
      return bytesForm(meaning, physical === FIXED_LEN_BYTE_ARRAY ? typeLength : 0);
  }
}

function number(text: ValueText, digits: DigitsForm | null = null): ValueForm {
  return { kind: KIND_NUMBER, text, isNative: endsWithDigit, ...(digits !== null && { digits }) };
}

function int32Form(meaning: Meaning): ValueForm | null {
  switch (meaning.is) {
    case 'date':
      return { kind: KIND_DATE, text: (view, at) => dateTextOf(view.getInt32(at, true)), isNative: beginsWithDigit };
    case 'time':
      return {
        kind: KIND_TIME,
        text: (view, at) => timeText(BigInt(view.getInt32(at, true)), 'millis'),
        isNative: isTimeOfDay,
      };
    case 'decimal':
      return number(
        (view, at) => decimalText(String(view.getInt32(at, true)), meaning.scale),
        digitsForm('int32', meaning.scale),
      );
    case 'unsigned':
      return number((view, at) => String(view.getUint32(at, true)), digitsForm('uint32'));
    default:
      return meaning.is === 'plain' || meaning.is === 'null'
        ? number((view, at) => String(view.getInt32(at, true)), digitsForm('int32'))
        : null;
  }
}

function int64Form(meaning: Meaning): ValueForm | null {
  switch (meaning.is) {
    case 'time':
      return {
        kind: KIND_TIME,
        text: (view, at) => timeText(view.getBigInt64(at, true), meaning.unit),
        isNative: isTimeOfDay,
      };
    case 'timestamp':
      return {
        kind: KIND_DATETIME,
        text: (view, at) => instantText(view.getBigInt64(at, true), meaning.unit, meaning.isUtc),
        isNative: beginsWithDigit,
      };
    case 'decimal':
      return number(
        (view, at) => decimalText(String(view.getBigInt64(at, true)), meaning.scale),
        digitsForm('int64', meaning.scale),
      );
    case 'unsigned':
      return number((view, at) => String(view.getBigUint64(at, true)));
    default:
      return meaning.is === 'plain' || meaning.is === 'null'
        ? number((view, at) => String(view.getBigInt64(at, true)), digitsForm('int64'))
        : null;
  }
}

/** @param length length of each value in bytes, or 0 if it varies */
function bytesForm(meaning: Meaning, length: number): ValueForm | null {
  const text = (made: ValueText): ValueForm => ({ kind: KIND_TEXT, text: made, isNative: always });
  switch (meaning.is) {
    case 'decimal':
      return {
        ...number((view, at, bytes) => decimalTextOfBytes(view, at, bytes, meaning.scale)),
        bytesMax: DECIMAL_BYTES_MAX,
      };
    case 'json':
      return { kind: KIND_JSON, text: null, isNative: always };
    case 'uuid':
      return length === UUID_BYTES ? text(uuidText) : null;
    case 'interval':
      return length === INTERVAL_BYTES ? text(intervalText) : null;
    case 'float16':
      return length === HALF_BYTES ? number((view, at) => floatText(halfFloat(view.getUint16(at, true)))) : null;
    default:
      return ['plain', 'text', 'null'].includes(meaning.is) ? { kind: KIND_TEXT, text: null, isNative: always } : null;
  }
}

/** The older 12-byte timestamps: nanoseconds of the day and the Julian day. They have no time zone. */
function int96Text(view: DataView, at: number): string {
  const JULIAN_DAY_OF_1970 = 2_440_588;
  const NANOS_PER_DAY = 86_400_000_000_000n;
  const days = BigInt(view.getInt32(at + 8, true) - JULIAN_DAY_OF_1970);
  return instantText(days * NANOS_PER_DAY + view.getBigInt64(at, true), 'nanos', false);
}

/** True from 00:00:00 to 23:59:59.999... */
function isTimeOfDay(text: string): boolean {
  return beginsWithDigit(text) && text.charCodeAt(2) === 0x3a && text < '24';
}
