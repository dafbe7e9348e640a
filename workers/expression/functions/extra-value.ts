// Our functions on missing values, errors, keys and reference tables: is_blank, coalesce, if_error, lookup, hash_key,
// valid_iban.
import { createHash } from 'node:crypto';
import { Decimal, decimalText, trimZeros } from '../../values/decimal.ts';
import { isIban } from '../../values/identifiers.ts';
import { Timestamp, timestampText } from '../../values/timestamp.ts';
import { BOOL, DYN, STRING, variable } from '../check/type.ts';
import type { Value } from '../compile/value.ts';
import { valueText } from '../compile/value-text.ts';
import {
  type Constants,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type Overload,
  overload,
} from './definition.ts';
import { trimText } from './text.ts';

const T = variable('T');

/** Hexadecimal digits of a key: 128 bits, so that collisions among a billion rows are practically impossible. */
const KEY_DIGITS = 32;

function isBlank(value: Value): boolean {
  return value === null || (typeof value === 'string' && trimText(value) === '');
}

/** The same text for equal values: 1.50 becomes 1.5, and an instant is in UTC regardless of its offset. */
function keyText(value: Value): string {
  if (value instanceof Decimal) return decimalText(trimZeros(value, 0));
  if (value instanceof Timestamp) return timestampText(new Timestamp(value.seconds, value.nanos));
  return valueText(value);
}

/**
 * Digest of values. Each value is preceded by its length, so that ("ab", "c") and ("a", "bc") differ; null differs
 * from every text.
 */
function hashKey(...values: Value[]): string {
  const hash = createHash('sha256');
  for (const value of values) {
    const text = keyText(value);
    hash.update(value === null ? 'n;' : `${Buffer.byteLength(text)};`).update(text);
  }
  return hash.digest('hex').slice(0, KEY_DIGITS);
}

/**
 * lookup(table, key, column) uses the table's first column as key, lookup(table, key column, key, column) any column.
 */
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

export const MISSING_VALUE_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'is_blank(value)',
    'Whether a value is null, or a text of white space only.',
    'is_blank("  ")',
    'true',
    define('is_blank', 'both', [overload([DYN], BOOL, isBlank)], { acceptsNull: true }),
  ),
  documented(
    'coalesce(value...)',
    'The first value that is not null.',
    'coalesce(null, "x")',
    'x',
    define('coalesce', 'function', [{ ...overload([T], T, (value: Value) => value), rest: T }], {
      acceptsNull: true,
      sharesType: true,
      lazy: 'coalesce',
    }),
  ),
  documented(
    'if_error(value, otherwise)',
    'The value, or another value if it is an error.',
    'if_error(int("x"), 0)',
    '0',
    define('if_error', 'function', [overload([T, T], T, (value: Value) => value)], {
      acceptsNull: true,
      sharesType: true,
      lazy: 'if_error',
    }),
  ),
];

export const KEY_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'lookup(table, key, column) or lookup(table, key column, key, column)',
    'The text of a column in the first row of a reference table with that key (in its first column, or in the named one); null if there is no such row.',
    'lookup("suppliers", "7", "name")',
    'Miller',
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
  ),
  documented(
    'hash_key(value...)',
    'A key of 32 hexadecimal digits computed from values (SHA-256); equal values (1.50 and 1.5) have equal keys. It does not protect the values.',
    'hash_key("a", 1)',
    '9a3162f0c448fed28bd09ca1fbb69d93',
    define('hash_key', 'function', [{ ...overload([DYN], STRING, hashKey), rest: DYN }], { acceptsNull: true }),
  ),
  documented(
    'valid_iban(text)',
    'Whether a text is a valid IBAN.',
    'valid_iban("DE89 3704 0044 0532 0130 00")',
    'true',
    define('valid_iban', 'both', [overload([STRING], BOOL, isIban)]),
  ),
];
