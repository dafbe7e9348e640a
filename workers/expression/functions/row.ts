// Owns our functions on missing values, errors, keys and reference tables: is_blank, coalesce, if_error, lookup,
// hash_key, valid_iban.
import { createHash } from 'node:crypto';
import { Decimal, decimalText, trimZeros } from '../../values/decimal.ts';
import { isIban } from '../../values/iban.ts';
import { Timestamp, timestampText } from '../../values/timestamp.ts';
import { BOOL, DYN, STRING, variable } from '../type.ts';
import type { Value } from '../value.ts';
import { valueText } from '../value-text.ts';
import {
  type Constants,
  type Context,
  define,
  type FunctionDefinition,
  type Overload,
  overload,
} from './definition.ts';
import { trimText } from './text.ts';

const T = variable('T');

/** Hexadecimal digits of a key: 128 bits, so that no two of a billion rows meet by chance. */
const KEY_DIGITS = 32;

function isBlank(value: Value): boolean {
  return value === null || (typeof value === 'string' && trimText(value) === '');
}

/** One text for equal values: 1.50 as 1.5, an instant in UTC whatever offset it carries. */
function keyText(value: Value): string {
  if (value instanceof Decimal) return decimalText(trimZeros(value, 0));
  if (value instanceof Timestamp) return timestampText(new Timestamp(value.seconds, value.nanos));
  return valueText(value);
}

/** A digest of values: each with its length before it, so that ("ab", "c") and ("a", "bc") differ; null is no text. */
function hashKey(...values: Value[]): string {
  const hash = createHash('sha256');
  for (const value of values) {
    const text = keyText(value);
    hash.update(value === null ? 'n;' : `${Buffer.byteLength(text)};`).update(text);
  }
  return hash.digest('hex').slice(0, KEY_DIGITS);
}

/** lookup(table, key, column) by the table's first column, lookup(table, key column, key, column) by any. */
function prepareLookup(context: Context, constants: Constants) {
  const long = constants.length === 4;
  const keyColumn = long ? (constants[1] as string) : null;
  const find = context.lookup(constants[0] as string, keyColumn, (long ? constants[3] : constants[2]) as string);
  return long
    ? (_table: string, _column: string, key: Value) => found(find, key)
    : (_table: string, key: Value) => found(find, key);
}

function found(find: (key: string) => string | null, key: Value): string | null {
  return key === null ? null : find(valueText(key));
}

const keyed = (parameters: Overload['parameters']): Overload => ({
  parameters,
  result: STRING,
  prepare: prepareLookup,
});

export const ROW_FUNCTIONS: readonly FunctionDefinition[] = [
  define('is_blank', 'both', [overload([DYN], BOOL, isBlank)], { acceptsNull: true }),
  define('coalesce', 'function', [{ ...overload([T], T, (value: Value) => value), rest: T }], {
    acceptsNull: true,
    sharesType: true,
    lazy: 'coalesce',
  }),
  define('if_error', 'function', [overload([T, T], T, (value: Value) => value)], {
    acceptsNull: true,
    sharesType: true,
    lazy: 'if_error',
  }),
  define('lookup', 'function', [keyed([STRING, DYN, STRING]), keyed([STRING, STRING, DYN, STRING])], {
    literals: [0],
    check: (constants) => {
      const column = constants.length === 4 ? constants[3] : constants[2];
      if (typeof column !== 'string') return 'The column of lookup(table, key, column) must be a literal text.';
      return constants.length === 4 && typeof constants[1] !== 'string'
        ? 'The key column of lookup must be a literal text.'
        : null;
    },
  }),
  define('hash_key', 'function', [{ ...overload([DYN], STRING, hashKey), rest: DYN }], { acceptsNull: true }),
  define('valid_iban', 'both', [overload([STRING], BOOL, isIban)]),
];
