// Owns CEL's optionals as functions; `.?`, `[?]` and the macros optMap and optFlatMap are compiled apart. And base64 of
// the encoders extension.
import { CalendarDate } from '../../values/calendar.ts';
import { Decimal } from '../../values/decimal.ts';
import { Duration, Timestamp } from '../../values/timestamp.ts';
import { BAD_ARGUMENT } from '../evaluation-error.ts';
import { BOOL, BYTES, optionalOf, STRING, variable } from '../type.ts';
import { MapValue, NONE, OptionalValue, Uint, type Value } from '../value.ts';
import { define, type FunctionDefinition, overload } from './definition.ts';

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

export const OPTIONAL_FUNCTIONS: readonly FunctionDefinition[] = [
  define('optional.none', 'function', [overload([], optionalOf(T), () => NONE)]),
  define('optional.of', 'function', [overload([T], optionalOf(T), (value: Value) => new OptionalValue(true, value))], {
    acceptsNull: true,
  }),
  define(
    'optional.ofNonZeroValue',
    'function',
    [overload([T], optionalOf(T), (value: Value) => (isZero(value) ? NONE : new OptionalValue(true, value)))],
    { acceptsNull: true },
  ),
  define('hasValue', 'method', [overload([optionalOf(T)], BOOL, (optional: OptionalValue) => optional.present)]),
  define('value', 'method', [
    overload([optionalOf(T)], T, (optional: OptionalValue) => {
      if (!optional.present) throw BAD_ARGUMENT;
      return optional.value;
    }),
  ]),
  define('or', 'method', [
    overload([optionalOf(T), optionalOf(T)], optionalOf(T), (left: OptionalValue, right: OptionalValue) =>
      left.present ? left : right,
    ),
  ]),
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
  define('base64.encode', 'function', [
    overload([BYTES], STRING, (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')),
  ]),
  define('base64.decode', 'function', [overload([STRING], BYTES, decodeBase64)]),
];
