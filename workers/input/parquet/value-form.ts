// What a value of a column is for the engine: its native kind and its canonical text, by logical type and physical form.
import {
  KIND_BOOLEAN,
  KIND_DATE,
  KIND_DATETIME,
  KIND_JSON,
  KIND_NUMBER,
  KIND_TEXT,
  KIND_TIME,
} from '../../kernel/layout/native-kinds.ts';
import { DECIMAL_BYTES_MAX, DECIMAL_SCALE_MAX } from './limits.ts';
import { malformedParquet, unsupportedParquet } from './malformed-parquet.ts';
import { type DigitsForm, digitsForm } from './number-digits.ts';
import { decimalText, decimalTextOfBytes, doubleText, floatText, halfFloat } from './number-texts.ts';
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
} from './schema.ts';
import { dateTextOf, instantText, intervalText, timeText, uuidText } from './time-texts.ts';

/** The text of a value whose bytes begin at `at`. */
type ValueText = (view: DataView, at: number, bytes: number) => string;

export interface ValueForm {
  /** Of its cells, where the text says nothing else (`isNative`). */
  readonly kind: number;
  /** Null: the bytes themselves are the text. */
  readonly text: ValueText | null;
  /** Of numbers, where the digits of most are written without a text between. */
  readonly digits?: DigitsForm;
  /** Longer values have no sense. */
  readonly bytesMax?: number;
  /** False for texts that are none of the kind: a number that is none, a date beyond year 9999. Those cells are text. */
  readonly isNative: (text: string) => boolean;
}

/** Bytes of a value by its physical type, where all have the same; 0: they have not. */
const WIDTHS: readonly number[] = [0, 4, 8, 12, 4, 8, 0, 0];
const INTERVAL_BYTES = 12;
const UUID_BYTES = 16;
const HALF_BYTES = 2;

const always = (): boolean => true;
/** Not for `NaN` and `Infinity`. */
const endsWithDigit = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0x30 && last <= 0x39;
};
/** Not for years of more than four digits or before 1, which have a sign, and times of other days. */
const beginsWithDigit = (text: string): boolean => {
  const first = text.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
};

/** Bytes of a value; 0 where each has its own length, and for booleans, which have none. */
export function valueWidth({ physical, typeLength }: SchemaNode): number {
  return physical === FIXED_LEN_BYTE_ARRAY ? typeLength : WIDTHS[physical ?? BYTE_ARRAY]!;
}

/**
 * Throws Failed for a type that has no sense.
 * @param position of the metadata in the file
 */
export function valueForm(leaf: SchemaNode, position: number): ValueForm {
  const { physical, typeLength, meaning } = leaf;
  if (physical === FIXED_LEN_BYTE_ARRAY && typeLength < 1)
    throw malformedParquet('a column of values without a length', position);
  if (meaning.is === 'decimal' && (meaning.scale < 0 || meaning.scale > DECIMAL_SCALE_MAX))
    throw malformedParquet('a decimal of an impossible scale', position);
  const form = formOf(leaf);
  if (form === null) throw unsupportedParquet('a logical type on a physical type that cannot hold it');
  return form;
}

/** Whether its cells may have a kind. */
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

/** @param length of each value in bytes, 0: each has its own */
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

/** The older timestamps of 12 bytes: nanoseconds of a day, and the Julian day. They name no zone. */
function int96Text(view: DataView, at: number): string {
  const JULIAN_DAY_OF_1970 = 2_440_588;
  const NANOS_PER_DAY = 86_400_000_000_000n;
  const days = BigInt(view.getInt32(at + 8, true) - JULIAN_DAY_OF_1970);
  return instantText(days * NANOS_PER_DAY + view.getBigInt64(at, true), 'nanos', false);
}

/** From 00:00:00 to 23:59:59.999... */
function isTimeOfDay(text: string): boolean {
  return beginsWithDigit(text) && text.charCodeAt(2) === 0x3a && text < '24';
}
