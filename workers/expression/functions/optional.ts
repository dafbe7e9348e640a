// Functions of CEL's optional values (`.?`, `[?]` and the macros optMap and optFlatMap are compiled separately), and
// base64 of the encoders extension.

import { Decimal } from '../../values/decimal.ts';
import { CalendarDate, Duration, Timestamp } from '../../values/timestamp.ts';
import { BOOL, BYTES, optionalOf, STRING, variable } from '../check/type.ts';
import { BAD_ARGUMENT, MapValue, NONE, OptionalValue, Uint, type Value } from '../compile/value.ts';
import { type DocumentedFunction, define, documented, overload } from './definition.ts';

const T = variable('T');

function isZero(value: Value): boolean {
  if (value === null || value === '' || value === false || value === 0 || value === 0n) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Decimal) return value.digits === 0;
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length === 0;
  if (value instanceof MapValue) return value.size === 0;
  if (value instanceof Duration || value instanceof Timestamp) return value.seconds === 0 && value.nanos === 0;
  if (value instanceof CalendarDate) return false;
  return value instanceof OptionalValue && !value.present;
}

function decodeBase64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.replace(/=+$/, '').length % 4 === 1) throw BAD_ARGUMENT;
  return Buffer.from(text, 'base64');
}

export const OPTIONAL_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'optional.none()',
    'An optional without a value.',
    'optional.none().hasValue()',
    'false',
    define('optional.none', 'function', [overload([], optionalOf(T), () => NONE)]),
  ),
  documented(
    'optional.of(value)',
    'An optional with a value.',
    'optional.of(1).value()',
    '1',
    define(
      'optional.of',
      'function',
      [overload([T], optionalOf(T), (value: Value) => new OptionalValue(true, value))],
      {
        acceptsNull: true,
      },
    ),
  ),
  documented(
    'optional.ofNonZeroValue(value)',
    'An optional with the value, or without a value for zero, empty and null.',
    'optional.ofNonZeroValue("").hasValue()',
    'false',
    define(
      'optional.ofNonZeroValue',
      'function',
      [overload([T], optionalOf(T), (value: Value) => (isZero(value) ? NONE : new OptionalValue(true, value)))],
      { acceptsNull: true },
    ),
  ),
  documented(
    'optional.hasValue()',
    'Whether the optional has a value.',
    '{"a": 1}.?a.hasValue()',
    'true',
    define('hasValue', 'method', [overload([optionalOf(T)], BOOL, (optional: OptionalValue) => optional.present)]),
  ),
  documented(
    'optional.value()',
    'The value; an error if there is no value.',
    'optional.of("x").value()',
    'x',
    define('value', 'method', [
      overload([optionalOf(T)], T, (optional: OptionalValue) => {
        if (!optional.present) throw BAD_ARGUMENT;
        return optional.value;
      }),
    ]),
  ),
  documented(
    'optional.or(optional)',
    'The first optional with a value.',
    'optional.none().or(optional.of(1)).value()',
    '1',
    define('or', 'method', [
      overload([optionalOf(T), optionalOf(T)], optionalOf(T), (left: OptionalValue, right: OptionalValue) =>
        left.present ? left : right,
      ),
    ]),
  ),
  documented(
    'optional.orValue(value)',
    'The value, or another value if there is none.',
    '{}.?a.orValue("none")',
    'none',
    define(
      'orValue',
      'method',
      [
        overload([optionalOf(T), T], T, (optional: OptionalValue, otherwise: Value) =>
          optional.present ? optional.value : otherwise,
        ),
      ],
      { acceptsNull: true },
    ),
  ),
  documented(
    'base64.encode(bytes)',
    'Base64 of bytes.',
    'base64.encode(b"hello")',
    'aGVsbG8=',
    define('base64.encode', 'function', [
      overload([BYTES], STRING, (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')),
    ]),
  ),
  documented(
    'base64.decode(text)',
    'The bytes of base64.',
    'string(base64.decode("aGVsbG8="))',
    'hello',
    define('base64.decode', 'function', [overload([STRING], BYTES, decodeBase64)]),
  ),
];
