// Conversion functions, and `string.format` of CEL's strings extension.

import { nativeDate, nativeNumber } from '../../batch/native-cell.ts';
import { KIND_NUMBER } from '../../kernel/layout/cells.ts';
import {
  Decimal,
  decimalFromNumber,
  decimalText,
  decimalToNumber,
  parseDecimal,
  roundDecimal,
  truncateDecimal,
} from '../../values/decimal.ts';
import {
  CalendarDate,
  Duration,
  dateText,
  dayNumber,
  durationText,
  isDate,
  parseDateText,
  parseDuration,
  parseTimestamp,
  Timestamp,
  timestampOf,
  timestampOfFields,
  timestampText,
} from '../../values/timestamp.ts';
import {
  BOOL,
  BYTES,
  DATE,
  DECIMAL,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  variable,
} from '../check/type.ts';
import {
  BAD_ARGUMENT,
  compareTexts,
  INDEX_OUT_OF_RANGE,
  type Integer,
  type ListValue,
  MapValue,
  NOT_A_BOOLEAN,
  NOT_A_DATE,
  NOT_A_NUMBER,
  OptionalValue,
  OVERFLOW,
  TIME_OUT_OF_RANGE,
  TypeValue,
  Uint,
  type Value,
} from '../compile/value.ts';
import { checkLength } from '../syntax/text-point.ts';
import { type Constants, type Context, type DocumentedFunction, define, documented, overload } from './definition.ts';
import { checkedInteger, checkedUint, dateOf, inTime, integerOfNumber } from './operator.ts';

// Implementations of the conversions between texts, numbers and bytes, and names of types.

/**
 * The double of a text in decimal or exponent form, Infinity or NaN. Other texts are refused (hexadecimal, blanks).
 */
function numberOfText(text: string): number {
  const { length } = text;
  // Fast path for most cells: a number of up to 15 digits and at most 22 after the point is one exact division.
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

function integerOfText(text: string): Integer {
  if (!/^[+-]?[0-9]{1,30}$/.test(text)) throw NOT_A_NUMBER;
  if (text.length <= 15) return Number(text) + 0;
  return checkedInteger(BigInt(text.startsWith('+') ? text.slice(1) : text));
}

function uintOfText(text: string): Uint {
  if (!/^[0-9]{1,30}$/.test(text)) throw NOT_A_NUMBER;
  return checkedUint(BigInt(text));
}

/** The text of a double as Go formats it: shortest form, with an exponent from 1e21 and below 1e-4. */
function textOfNumber(value: number): string {
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
    // The decoder's exception would count as a fault of ours; invalid UTF-8 is an error of the row.
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

/** Converts a native number like a decimal: digits after the point are cut off. */
function integerOfNative(text: string, kind: number): Integer {
  const number = kind === KIND_NUMBER ? nativeNumber(text) : null;
  if (number === null) throw kind === KIND_NUMBER ? OVERFLOW : NOT_A_NUMBER;
  return checkedInteger(truncateDecimal(number));
}

/** Converts a native date: the day is unchanged. */
function dateOfNative(text: string, kind: number): CalendarDate {
  const fields = nativeDate(text, kind);
  if (fields === null) throw NOT_A_DATE;
  return new CalendarDate(fields.days);
}

/** Converts a native date and time: UTC if it has no offset. */
function timestampOfNative(text: string, kind: number): Timestamp {
  const fields = nativeDate(text, kind);
  const value = fields === null ? null : timestampOfFields(fields, 0);
  if (value === null) throw NOT_A_DATE;
  return value;
}

/** The name of a value's type, as returned by type(). */
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

// Conversion functions of CEL (bool, bytes, double, duration, dyn, int, string, timestamp, type, uint), and our
// conversions to decimal and date.

const T = variable('T');

const same = (value: unknown) => value;

export const CONVERSIONS: readonly DocumentedFunction[] = [
  documented(
    'bool(text)',
    'Converts true, false, t, f, 1 or 0 to a boolean.',
    'bool("true")',
    'true',
    define('bool', 'function', [overload([BOOL], BOOL, same), overload([STRING], BOOL, booleanOfText)]),
  ),
  documented(
    'bytes(text)',
    'The UTF-8 bytes of a text.',
    'size(bytes("é"))',
    '2',
    define('bytes', 'function', [
      overload([BYTES], BYTES, same),
      overload([STRING], BYTES, (text: string) => new TextEncoder().encode(text)),
    ]),
  ),
  documented(
    'double(value)',
    'A double.',
    'double("1.5") * 2.0 == 3.0',
    'true',
    define('double', 'function', [
      overload([DOUBLE], DOUBLE, same),
      overload([STRING], DOUBLE, numberOfText),
      overload([INT], DOUBLE, (value: Integer) => Number(value)),
      overload([UINT], DOUBLE, (value: Uint) => Number(value.value)),
      overload([DECIMAL], DOUBLE, decimalToNumber),
    ]),
  ),
  documented(
    'dyn(value)',
    'The value without its static type.',
    'dyn(1) == 1.0',
    'true',
    define('dyn', 'function', [overload([DYN], DYN, same)], { acceptsNull: true }),
  ),
  documented(
    'duration(text)',
    'A duration with the units h, m, s, ms, us, ns.',
    'duration("1h30m")',
    '5400s',
    define('duration', 'function', [
      overload([DURATION], DURATION, same),
      overload([STRING], DURATION, (text: string) => inTime(parseDuration(text))),
      overload([INT], DURATION, (seconds: Integer) => {
        if (typeof seconds !== 'number') throw TIME_OUT_OF_RANGE;
        return new Duration(seconds, 0);
      }),
    ]),
  ),
  documented(
    'int(value)',
    'Converts to an integer: truncates doubles and decimals; a text must be a plain integer.',
    'int("42") + int(1.9)',
    '43',
    define('int', 'function', [
      overload([INT], INT, same),
      overload([STRING], INT, integerOfText, () => integerOfNative),
      overload([DOUBLE], INT, integerOfNumber),
      overload([UINT], INT, (value: Uint) => checkedInteger(value.value)),
      overload([TIMESTAMP], INT, (value: Timestamp) => value.seconds),
      overload([DURATION], INT, (value: Duration) => value.seconds),
      overload([DECIMAL], INT, (value: Decimal) => checkedInteger(truncateDecimal(value))),
    ]),
  ),
  documented(
    'string(value)',
    'Converts a value to text.',
    'string(1.50d)',
    '1.50',
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
  ),
  documented(
    'timestamp(text)',
    'An instant from RFC 3339, from seconds since 1970 or from a date.',
    'timestamp("2024-02-29T12:00:00+01:00")',
    '2024-02-29T11:00:00Z',
    define('timestamp', 'function', [
      overload([TIMESTAMP], TIMESTAMP, same),
      overload([STRING], TIMESTAMP, timestampOfText, () => timestampOfNative),
      overload([INT], TIMESTAMP, (seconds: Integer) => inTime(timestampOf(Number(seconds), 0))),
      overload([DATE], TIMESTAMP, (value: CalendarDate) => inTime(timestampOf(value.days * 86400, 0))),
    ]),
  ),
  documented(
    'type(value)',
    'The type of a value.',
    'type(1u) == uint',
    'true',
    define('type', 'function', [overload([T], typeOf(T), (value: Value) => new TypeValue(typeName(value)))], {
      acceptsNull: true,
    }),
  ),
  documented(
    'uint(value)',
    'An integer that is not negative.',
    'uint("7")',
    '7',
    define('uint', 'function', [
      overload([UINT], UINT, same),
      overload([INT], UINT, (value: Integer) => checkedUint(BigInt(value))),
      overload([DOUBLE], UINT, (value: number) => {
        if (!(value > -1 && value < 2 ** 64)) throw OVERFLOW;
        return checkedUint(BigInt(Math.trunc(value)));
      }),
      overload([STRING], UINT, uintOfText),
    ]),
  ),
  documented(
    'decimal(value)',
    'Converts a text, an integer or a double to an exact decimal.',
    'decimal("1.20") * 3',
    '3.60',
    define('decimal', 'both', [
      overload([DECIMAL], DECIMAL, same),
      overload([STRING], DECIMAL, decimalOfText),
      overload([INT], DECIMAL, (value: Integer) => new Decimal(value, 0)),
      overload([UINT], DECIMAL, (value: Uint) => decimalOfText(String(value.value))),
      overload([DOUBLE], DECIMAL, decimalOfNumber),
    ]),
  ),
  documented(
    'date(text) or date(year, month, day)',
    'A date.',
    'date("2024-02-29")',
    '2024-02-29',
    define('date', 'both', [
      overload([DATE], DATE, same),
      overload([STRING], DATE, dateOfText, () => dateOfNative),
      overload([TIMESTAMP], DATE, (value: Timestamp) =>
        dateOf(Math.floor((value.seconds + value.offsetSeconds) / 86400)),
      ),
      overload([INT, INT, INT], DATE, (year: Integer, month: Integer, day: Integer) => {
        if (!isDate(Number(year), Number(month), Number(day))) throw NOT_A_DATE;
        return new CalendarDate(dayNumber(Number(year), Number(month), Number(day)));
      }),
    ]),
  ),
];

// string.format of CEL's strings extension: %s %d %f %e %b %o %x %X and %%.

/** Maximum number of digits after the point for %f and %e. */
const PRECISION_MAX = 100;

export const FORMAT_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'text.format(list)',
    'Replaces %s %d %f %e %b %o %x %X.',
    '"%s: %.2f".format(["x", 1.5])',
    'x: 1.50',
    define(
      'format',
      'method',
      [
        {
          parameters: [STRING, listOf(DYN)],
          result: STRING,
          prepare: (context) => (pattern: string, list: ListValue) => formatText(context, pattern, list),
        },
      ],
      { check: checkFormat },
    ),
  ),
];

const CLAUSE = /%(?:\.([0-9]+))?([A-Za-z%]?)/g;

function checkFormat(constants: Constants): string | null {
  const pattern = constants[0];
  if (typeof pattern !== 'string') return null;
  for (const [clause, precision, verb] of pattern.matchAll(CLAUSE)) {
    if (!'%sdfebxXo'.includes(verb!) || verb === '')
      return `${clause} is not a format clause: use %s %d %f %e %b %o %x %X %%.`;
    if (Number(precision ?? 0) > PRECISION_MAX)
      return `A format has at most ${PRECISION_MAX} digits after the decimal point.`;
  }
  return null;
}

function formatText(context: Context, pattern: string, list: ListValue): string {
  let next = 0;
  let length = pattern.length;
  return pattern.replace(CLAUSE, (_clause, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (next >= list.length) throw INDEX_OUT_OF_RANGE;
    const digits = precision === undefined ? 6 : Number(precision);
    if (digits > PRECISION_MAX) throw BAD_ARGUMENT;
    const text = formatValue(context, verb, digits, list[next++]!);
    length += text.length;
    checkLength(length);
    return text;
  });
}

function formatValue(context: Context, verb: string, precision: number, value: Value): string {
  if (verb === 's') return plainText(context, value);
  if (verb === 'd') return integerText(value);
  if (verb === 'f' || verb === 'e') return fixedText(verb, precision, value);
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  if (verb === 'x' || verb === 'X') {
    const text =
      typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? Buffer.from(value) : null;
    const digits = text === null ? based(value, 16) : text.toString('hex');
    return verb === 'X' ? digits.toUpperCase() : digits;
  }
  if (verb === 'b') return based(value, 2);
  if (verb === 'o') return based(value, 8);
  throw BAD_ARGUMENT;
}

function based(value: Value, base: number): string {
  if (typeof value === 'bigint') return value.toString(base);
  if (value instanceof Uint) return value.value.toString(base);
  throw BAD_ARGUMENT;
}

function specialText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function integerText(value: Value): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Decimal && value.scale === 0) return decimalText(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return specialText(value);
  throw BAD_ARGUMENT;
}

function fixedText(verb: string, precision: number, value: Value): string {
  if (value instanceof Decimal && verb === 'f') {
    const rounded = roundDecimal(value, precision, 'half_even');
    if (rounded === null) throw BAD_ARGUMENT;
    return decimalText(rounded);
  }
  const number = typeof value === 'bigint' ? Number(value) : value instanceof Uint ? Number(value.value) : value;
  if (typeof number !== 'number') throw BAD_ARGUMENT;
  if (!Number.isFinite(number)) return specialText(number);
  if (verb === 'f') return fixed(number, precision);
  const [mantissa, exponent] = number.toExponential(precision).split('e') as [string, string];
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

/**
 * Rounds the exact value of a double half to even, as Go does. toFixed rounds halves up and does not work from 1e21
 * on.
 */
function fixed(value: number, precision: number): string {
  let scaled = Math.abs(value);
  let halvings = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    halvings++;
  }
  const exact = new Decimal(BigInt(scaled) * 5n ** BigInt(halvings), halvings);
  const rounded = roundDecimal(exact, precision, 'half_even');
  if (rounded === null) throw BAD_ARGUMENT;
  return `${value < 0 ? '-' : ''}${decimalText(rounded)}`;
}

function plainText(context: Context, value: Value): string {
  context.charge(1);
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? textOfNumber(value) : specialText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof CalendarDate) return dateText(value.days);
  if (value instanceof TypeValue) return value.name;
  if (Array.isArray(value)) return `[${value.map((element) => plainText(context, element)).join(', ')}]`;
  if (!(value instanceof MapValue)) throw BAD_ARGUMENT;
  const entries = Array.from(
    value.entries(),
    (entry) => [plainText(context, entry.key), plainText(context, entry.value)] as const,
  );
  entries.sort(([left], [right]) => compareTexts(left, right));
  return `{${entries.map(([key, text]) => `${key}: ${text}`).join(', ')}}`;
}
