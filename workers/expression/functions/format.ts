// Owns string.format of CEL's strings extension: %s %d %f %e %b %o %x %X and %%.
import { CalendarDate, dateText } from '../../values/calendar.ts';
import { Decimal, decimalText, roundDecimal } from '../../values/decimal.ts';
import { Duration, durationText, Timestamp, timestampText } from '../../values/timestamp.ts';
import { DYN, listOf, STRING } from '../check/type.ts';
import { compareTexts } from '../compile/equality.ts';
import { BAD_ARGUMENT, INDEX_OUT_OF_RANGE } from '../compile/evaluation-error.ts';
import { type ListValue, MapValue, TypeValue, Uint, type Value } from '../compile/value.ts';
import { checkLength } from '../syntax/text-point.ts';
import { textOfNumber } from './convert.ts';
import { type Constants, type Context, type DocumentedFunction, define, documented } from './definition.ts';

/** Most digits behind the point that %f and %e may ask for. */
const PRECISION_MAX = 100;

export const FORMAT_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'text.format(list)',
    '%s %d %f %e %b %o %x %X filled in.',
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
      return `${clause} is no part of a format: use %s %d %f %e %b %o %x %X %%.`;
    if (Number(precision ?? 0) > PRECISION_MAX) return `A format has at most ${PRECISION_MAX} digits behind the point.`;
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

/** Rounds the exact value of a double half to even, as Go does; toFixed rounds halves up and gives up at 1e21. */
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
