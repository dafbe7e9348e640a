// Owns the conversions of CEL (bool, bytes, double, duration, dyn, int, string, timestamp, type, uint) and ours to
// decimal and date.
import { CalendarDate, dateText, dayNumber, isDate } from '../../values/calendar.ts';
import { Decimal, decimalText, decimalToNumber, truncateDecimal } from '../../values/decimal.ts';
import {
  Duration,
  durationText,
  parseDuration,
  type Timestamp,
  timestampOf,
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
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
  variable,
} from '../check/type.ts';
import { NOT_A_DATE, OVERFLOW, TIME_OUT_OF_RANGE } from '../compile/evaluation-error.ts';
import { type Integer, TypeValue, type Uint, type Value } from '../compile/value.ts';
import {
  booleanOfText,
  dateOfNative,
  dateOfText,
  decimalOfNumber,
  decimalOfText,
  integerOfNative,
  integerOfText,
  numberOfText,
  textOfBytes,
  textOfNumber,
  timestampOfNative,
  timestampOfText,
  typeName,
  uintOfText,
} from './convert.ts';
import { type DocumentedFunction, define, documented, overload } from './definition.ts';
import { checkedInteger, checkedUint, integerOfNumber } from './integer.ts';
import { dateOf, inTime } from './operator.ts';

const T = variable('T');

const same = (value: unknown) => value;

export const CONVERSIONS: readonly DocumentedFunction[] = [
  documented(
    'bool(text)',
    'A boolean of true, false, t, f, 1, 0.',
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
    'A span of h, m, s, ms, us, ns.',
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
    'A whole number; doubles and decimals are cut, a text must be plain.',
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
    'The text of a value.',
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
    'An instant of RFC 3339, of seconds since 1970 or of a date.',
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
    'A whole number that is not negative.',
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
    'An exact decimal of a text, an int or a double.',
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
