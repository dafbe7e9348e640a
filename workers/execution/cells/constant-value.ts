// Converts constants, and texts in the plain form of a type, to values of a column type.
import type { ColumnType } from '../../batch/schema.ts';
import { compareDecimals, decimalOf, decimalToNumber, parseDecimal, truncateDecimal } from '../../values/decimal.ts';
import { CalendarDate, parseDateText, readDatetime } from '../../values/timestamp.ts';

export type Constant = string | number | boolean | null;

/**
 * Returns the constant as a value of `type`. Without a type, texts become text, whole numbers integer, other numbers
 * number.
 */
export function constantValue(
  constant: Constant,
  type: ColumnType = typeOf(constant),
): { readonly value: unknown; readonly type: ColumnType } | { readonly problem: string } {
  if (constant === null) return { value: null, type };
  const value = valueFor(constant, type);
  if (value !== null) return { value, type };
  return { problem: `${JSON.stringify(constant)} is not a valid ${type}. Write ${TYPE_FORMS[type]}.` };
}

/** How to write a value of each type, for messages. */
export const TYPE_FORMS: Readonly<Record<ColumnType, string>> = {
  text: 'a text',
  integer: 'a whole number such as 12',
  decimal: 'a number such as "12.50"',
  number: 'a number such as 12.5',
  boolean: 'true or false',
  date: 'a date such as "2026-01-31"',
  datetime: 'a time such as "2026-01-31T12:00:00Z"',
  json: 'JSON as a text',
};

function typeOf(constant: Constant): ColumnType {
  if (typeof constant === 'boolean') return 'boolean';
  if (typeof constant === 'number') return Number.isSafeInteger(constant) ? 'integer' : 'number';
  return 'text';
}

function valueFor(constant: Exclude<Constant, null>, type: ColumnType): unknown {
  const text = String(constant);
  switch (type) {
    case 'text':
      return text;
    case 'json':
      return isJson(text) ? text : null;
    case 'boolean':
      return typeof constant === 'boolean' ? constant : text === 'true' ? true : text === 'false' ? false : null;
    case 'integer':
      return /^-?[0-9]{1,18}$/.test(text) ? BigInt(text) : null;
    case 'number':
      return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text) ? finite(Number(text)) : null;
    case 'decimal':
      return parseDecimal(text, true);
    case 'date': {
      const days = parseDateText(text);
      return days === null ? null : new CalendarDate(days);
    }
    case 'datetime': {
      const instant = readDatetime(text);
      return typeof instant === 'string' ? null : instant;
    }
  }
}

/** Returns null for a number that is too large for a double, such as 1e400. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Parses a number as a value of `type`: 12.00 as the integer 12. Returns null if that type has no such value. */
export function numberOfType(text: string, type: ColumnType): unknown {
  const decimal = parseDecimal(text, true);
  if (decimal === null || type === 'decimal') return decimal;
  if (type === 'number') return finite(decimalToNumber(decimal));
  const whole = truncateDecimal(decimal);
  const isWhole = compareDecimals(decimal, decimalOf(whole, 0)!) === 0;
  return isWhole && BigInt.asIntN(64, whole) === whole ? whole : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
