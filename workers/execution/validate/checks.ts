// The checks of single values by their name in a rule: identifiers, bounds, and lists, types and patterns.

import { CELL_BYTES_MAX } from '../../batch/batch.ts';
import type { Column, ColumnType } from '../../batch/schema.ts';
import { type Static, Type } from '../../bundled/type-box.ts';
import { compareNumbers, compareTexts, isNumeric, type Numeric, type Value } from '../../expression/compile/value.ts';
import type { ByteProgram } from '../../expression/patterns/byte-automaton.ts';
import { type GreedyPattern, greedyPattern } from '../../expression/patterns/linear-pattern.ts';
import { programForLong, testInSlices } from '../../expression/patterns/long-find.ts';
import { canTest, compileRegularExpression } from '../../expression/patterns/regular-expression.ts';
import type { RowErrorCode } from '../../protocol/report.ts';
import { columnName, columnType } from '../../template/base-parameters.ts';
import type { OperatorContext } from '../../template/operation.ts';
import type { Scope } from '../../template/scope.ts';
import { Decimal, parseDecimal, roundDecimal } from '../../values/decimal.ts';
import { isBic, isCountry, isCurrency, isEan, isIban, isIsin, isLei, isLuhn } from '../../values/identifiers.ts';
import { jsonKind } from '../../values/json-text.ts';
import { characterCount } from '../../values/text-edits.ts';
import { CalendarDate, parseDateText, parseTimestamp, readDatetime, Timestamp } from '../../values/timestamp.ts';
import { type Constant, constantValue } from '../cells/constant-value.ts';
import { CellFault } from '../cells/value-cells.ts';
import { planConstant, TEXTS_MAX } from '../expressions/planner.ts';
import type { NumberForm, NumberPlan, StatePlan } from '../expressions/vector-plan.ts';
import { matchSteps, matchText } from '../keys/row-keys.ts';

// A rule of `validate` as written in a Template, and the interface of a check. The checks follow by family, and at the
// end their table.

/** Maximum number of texts for `in` and similar checks. A longer list should be a reference table. */
const VALUES_MAX = 10_000;

const constant = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);

/** Parameters of all checks. `Check.takes` names those of one check. */
export const ruleParameters = {
  value: Type.Optional(constant),
  values: Type.Optional(Type.Array(constant, { minItems: 1, maxItems: VALUES_MAX })),
  min: Type.Optional(constant),
  max: Type.Optional(constant),
  type: Type.Optional(columnType),
  pattern: Type.Optional(Type.String({ minLength: 1 })),
  expr: Type.Optional(Type.String({ minLength: 1 })),
  match: Type.Optional(Type.Enum(['exact', 'case_insensitive', 'normal', 'loose'])),
  table: Type.Optional(Type.String({ minLength: 1 })),
  key: Type.Optional(columnName),
  allow_equal: Type.Optional(Type.Boolean()),
  columns: Type.Optional(Type.Array(columnName, { minItems: 1, maxItems: 100 })),
};

/** Schema of one rule. The reference describes it as a whole (validate.ts). */
export function ruleSchema(checks: readonly string[]) {
  return Type.Object(
    {
      column: Type.Optional(columnName),
      check: Type.Enum([...checks]),
      ...ruleParameters,
      where: Type.Optional(Type.String({ minLength: 1 })),
      on_error: Type.Optional(Type.Enum(['fail', 'drop_row', 'reject', 'blank', 'keep', 'flag'])),
      message: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    },
    { additionalProperties: false },
  );
}

export type Rule = Static<ReturnType<typeof ruleSchema>>;
export type RuleParameter = keyof typeof ruleParameters;

/** Judges a non-null value: returns an error code, or null if the value is valid. May keep state between rows. */
type Judge = (value: unknown) => RowErrorCode | null;

/** The planned check of one rule. `judge` is called once per Run. */
export interface PlannedCheck {
  readonly judge: (context: OperatorContext) => Judge;
  /**
   * Judges a value for which `judge` would take long: a generator that yields `undefined` wherever the caller may
   * pause. Null for other values.
   */
  readonly judgeLong?: (value: unknown) => Generator<undefined, RowErrorCode | null, undefined> | null;
  /** A pattern for kernels: texts that match it are accepted. */
  readonly passes?: GreedyPattern | null;
  /** A condition for kernels: values that fulfil it are accepted. */
  readonly condition?: StatePlan | null;
}

/** Environment of a check while a Template is checked. `problem` names a parameter of the rule. */
interface RuleScope extends Pick<Scope, 'uses'> {
  problem(parameter: string, message: string): null;
}

/** One check on the values of one column. All checks except `required` accept null. */
interface Check {
  /** The demand and its error codes, for the reference. */
  readonly summary: string;
  /** Supported parameters. */
  readonly takes: readonly RuleParameter[];
  /** Groups of parameters, of which at least one must be given completely. Empty if no parameter is needed. */
  readonly needs: readonly (readonly RuleParameter[])[];
  /** Supported column types, or null for all. */
  readonly types: readonly Column['type'][] | null;
  /** Returns null after a problem. */
  plan(rule: Rule, column: Column, around: RuleScope): PlannedCheck | null;
}

/** Creates a check that only examines the text of a cell. */
function textCheck(summary: string, code: RowErrorCode, holds: (text: string) => boolean): Check {
  const judge: Judge = (value) => (holds(value as string) ? null : code);
  return { summary, takes: [], needs: [], types: ['text'], plan: () => ({ judge: () => judge }) };
}

// Bounds of a rule: converts constants of the Template to values that can be compared with the cells of a column.

/** Parsing of the cells of a column before they are compared. */
interface Reading {
  readonly type: ColumnType;
  /** Returns the value to compare, or a CellFault. */
  readonly read: (value: unknown) => unknown;
}

/** For numbers. Texts are parsed as plain numbers (12.50). */
function readNumbers(type: ColumnType): Reading | null {
  if (type === 'text') return { type: 'decimal', read: readerOf(parseDecimal, 'NOT_A_NUMBER') };
  return NUMBERS.has(type) ? { type: type === 'number' ? 'number' : 'decimal', read: (value) => value } : null;
}

/** For dates and datetimes. Texts are parsed as dates (2026-01-31). */
function readDates(type: ColumnType): Reading | null {
  if (type === 'text') return { type: 'date', read: readerOf(dateOf, 'NOT_A_DATE') };
  return type === 'date' || type === 'datetime' ? { type, read: (value) => value } : null;
}

/**
 * Returns a constant for comparison. A day is compared with datetimes as its first instant, or, with `endOfDay`, as its
 * last one.
 */
function bound(constant: Constant, type: ColumnType, endOfDay = false): { value: unknown } | { problem: string } {
  if (type === 'datetime' && typeof constant === 'string') {
    const days = parseDateText(constant);
    if (days !== null)
      return {
        value: new Timestamp((days + (endOfDay ? 1 : 0)) * 86_400 - (endOfDay ? 1 : 0), endOfDay ? 999_999_999 : 0),
      };
  }
  return constantValue(constant, type);
}

/**
 * Returns a negative number, 0, or a positive number for two values of the same kind. Numbers of any type are one kind.
 */
function compare(left: unknown, right: unknown): number {
  if (left instanceof CalendarDate && right instanceof CalendarDate) return left.days - right.days;
  if (left instanceof Timestamp && right instanceof Timestamp) {
    return left.seconds - right.seconds || left.nanos - right.nanos;
  }
  if (isNumeric(left as Value) && isNumeric(right as Value)) return compareNumbers(left as Numeric, right as Numeric);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  return compareTexts(String(left), String(right));
}

function isFault(value: unknown): value is CellFault {
  return value instanceof CellFault;
}

const dayOf = (startedAt: string): CalendarDate => {
  const days = parseDateText(startedAt.slice(0, 10));
  if (days === null) throw new Error('the start time of a Run is invalid');
  return new CalendarDate(days);
};

const instantOf = (startedAt: string): Timestamp => {
  const instant = parseTimestamp(startedAt);
  if (instant === null) throw new Error('the start time of a Run is invalid');
  return instant;
};

const NUMBERS: ReadonlySet<ColumnType> = new Set(['integer', 'decimal', 'number']);

function dateOf(text: string): CalendarDate | null {
  const days = parseDateText(text);
  return days === null ? null : new CalendarDate(days);
}

function readerOf(parse: (text: string) => unknown, code: RowErrorCode): (value: unknown) => unknown {
  const fault = new CellFault(code);
  return (value) => parse(value as string) ?? fault;
}

// Plans the bounds of a rule as a condition that kernels evaluate for whole columns.

/**
 * Returns the condition that a cell is between `low` and `high` (undefined for no bound), or null if kernels cannot
 * evaluate it exactly.
 */
function planBounds(column: Column, reading: Reading, low: unknown, high: unknown): StatePlan | null {
  const cells = cellsOf(column, reading);
  if (cells === null) return null;
  const bounds = [['>=', low] as const, ['<=', high] as const].filter(([, value]) => value !== undefined);
  const tests = bounds.map(([operator, value]): StatePlan | null => {
    const right = constantOf(value, cells.form);
    return right === null ? null : { kind: 'compared', operator, negate: false, left: cells, right };
  });
  const [first = null, ...others] = tests;
  return others.reduce<StatePlan | null>(
    (left, right) => (left === null || right === null ? null : { kind: 'logical', and: true, left, right }),
    first,
  );
}

function cellsOf({ name, type }: Column, reading: Reading): NumberPlan | null {
  if (type === 'text')
    return reading.type === 'decimal'
      ? { kind: 'parsed', form: 'decimal', text: { kind: 'column', column: name } }
      : null;
  const form = FORMS.get(type);
  return form === undefined ? null : { kind: 'column', form, column: name };
}

/** Days are whole numbers. */
const FORMS: ReadonlyMap<Column['type'], NumberForm> = new Map([
  ['integer', 'int'],
  ['date', 'int'],
  ['decimal', 'decimal'],
  ['number', 'double'],
]);

function constantOf(value: unknown, form: NumberForm): NumberPlan | null {
  if (form !== 'int') return planConstant(value, '', form);
  if (value instanceof CalendarDate) return { kind: 'constant', form, value: value.days };
  const isWhole = value instanceof Decimal && value.scale === 0 && typeof value.digits === 'number';
  return isWhole ? { kind: 'constant', form, value: value.digits as number } : null;
}

// Checks of identifiers and addresses: their form, and their checksum if they have one.

const identifierChecks: Readonly<Record<string, Check>> = {
  email: textCheck('an e-mail address: PATTERN_MISMATCH', 'PATTERN_MISMATCH', isEmail),
  url: textCheck('an absolute http or https address: PATTERN_MISMATCH', 'PATTERN_MISMATCH', isUrl),
  phone_e164: textCheck('a number such as +4930123456 (E.164): PATTERN_MISMATCH', 'PATTERN_MISMATCH', isPhone),
  iban: textCheck('an IBAN: CHECKSUM', 'CHECKSUM', isIban),
  bic: textCheck('a BIC: PATTERN_MISMATCH', 'PATTERN_MISMATCH', (text) => isBic(text, isKnownToBanks)),
  luhn: textCheck("digits with Luhn's check digit, such as a card number: CHECKSUM", 'CHECKSUM', isLuhn),
  ean: textCheck('an EAN, UPC or GTIN of 8, 12, 13 or 14 digits: CHECKSUM', 'CHECKSUM', isEan),
  isin: textCheck('an ISIN: CHECKSUM', 'CHECKSUM', isIsin),
  lei: textCheck('an LEI: CHECKSUM', 'CHECKSUM', isLei),
  currency: textCheck('a currency code of ISO 4217: NOT_IN_SET', 'NOT_IN_SET', isCurrency),
  country: textCheck('a country code of ISO 3166-1 alpha-2: NOT_IN_SET', 'NOT_IN_SET', isCountry),
};

/** Limits of RFC 5321: 64 and 255 octets, 254 in total. */
const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;

/** Longest accepted address: what browsers and servers support. */
const URL_LENGTH_MAX = 2083;

/** A dot-atom, an at sign, and a domain of at least two labels. Non-ASCII letters are allowed, quoted names are not. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > LOCAL_LENGTH_MAX || text.length > EMAIL_LENGTH_MAX) return false;
  if (!/^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(text.slice(0, at)))
    return false;
  return isDomain(text.slice(at + 1));
}

function isDomain(text: string): boolean {
  const labels = text.split('.');
  const last = labels[labels.length - 1]!;
  if (labels.length < 2 || !/^(?:[\p{L}\p{M}]{2,}|xn--[a-zA-Z0-9-]+)$/u.test(last)) return false;
  return labels.every(
    (label) => label.length <= 63 && /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u.test(label),
  );
}

function isUrl(text: string): boolean {
  if (text.length > URL_LENGTH_MAX || !/^https?:\/\/[^\s/?#]/i.test(text) || /[\s<>"{}|\\^`\p{Cc}]/u.test(text))
    return false;
  return URL.canParse(text);
}

function isPhone(text: string): boolean {
  return /^\+[1-9][0-9]{6,14}$/.test(text);
}

/** Banks use a code for Kosovo. */
function isKnownToBanks(code: string): boolean {
  return isCountry(code) || code === 'XK';
}

// Checks of values against bounds: numbers, dates, lengths, and the previous row.

const ORDERED: readonly ColumnType[] = ['text', 'integer', 'decimal', 'number', 'date', 'datetime'];
const DATED: readonly ColumnType[] = ['text', 'date', 'datetime'];

const rangeChecks: Readonly<Record<string, Check>> = {
  min: {
    summary: '`value` or more: OUT_OF_RANGE; texts must be plain numbers: NOT_A_NUMBER',
    takes: ['value', 'min'],
    needs: [['value'], ['min']],
    types: ORDERED,
    plan: (rule, column, around) => within(rule.min ?? rule.value, undefined, column, numbersOrDates(column), around),
  },
  max: {
    summary: '`value` or less: OUT_OF_RANGE; texts must be plain numbers: NOT_A_NUMBER',
    takes: ['value', 'max'],
    needs: [['value'], ['max']],
    types: ORDERED,
    plan: (rule, column, around) => within(undefined, rule.max ?? rule.value, column, numbersOrDates(column), around),
  },
  between: {
    summary: 'from `min` to `max`, inclusive: OUT_OF_RANGE; texts must be plain numbers: NOT_A_NUMBER',
    takes: ['min', 'max'],
    needs: [['min', 'max']],
    types: ORDERED,
    plan: (rule, column, around) => within(rule.min, rule.max, column, numbersOrDates(column), around),
  },
  date_between: {
    summary:
      'a day from `min` to `max` (one or both, inclusive): OUT_OF_RANGE; texts have the form 2026-01-31: NOT_A_DATE',
    takes: ['min', 'max'],
    needs: [['min'], ['max']],
    types: DATED,
    plan: (rule, column, around) => within(rule.min, rule.max, column, readDates(column.type), around),
  },
  not_future: {
    summary:
      'not after the day (UTC) or the instant at which the Run started: OUT_OF_RANGE; texts have the form 2026-01-31: NOT_A_DATE',
    takes: [],
    needs: [],
    types: DATED,
    plan: (_rule, column, { uses }) => {
      uses.add('started_at');
      return notFuture(readDates(column.type)!);
    },
  },
  length: {
    summary: '`value` characters, or from `min` to `max`: longer texts are TOO_LONG, shorter ones OUT_OF_RANGE',
    takes: ['value', 'min', 'max'],
    needs: [['value'], ['min'], ['max']],
    types: ['text'],
    plan: (rule, { name }, around) =>
      counted(rule, around, characterCount, (least, most) => ({
        condition: { kind: 'length', column: name, least: capped(least), most: capped(most) },
      })),
  },
  digits: {
    summary:
      'only the digits 0 to 9: PATTERN_MISMATCH; `value` of them, or from `min` to `max`: TOO_LONG or OUT_OF_RANGE',
    takes: ['value', 'min', 'max'],
    needs: [],
    types: ['text'],
    plan: (rule, _column, around) =>
      counted(rule, around, (text) => (/^[0-9]+$/.test(text) ? text.length : null), digitsPattern),
  },
  increasing: {
    summary:
      'greater than in the row before; nulls are ignored, texts compared by code points; `allow_equal: true` allows equal values: OUT_OF_RANGE',
    takes: ['allow_equal'],
    needs: [],
    types: [...ORDERED, 'boolean'],
    plan: (rule) => ({ judge: () => increasing(rule.allow_equal === true) }),
  },
};

function numbersOrDates({ type }: Column): Reading | null {
  return type === 'date' || type === 'datetime' ? readDates(type) : readNumbers(type);
}

function within(
  min: Constant | undefined,
  max: Constant | undefined,
  column: Column,
  reading: Reading | null,
  around: RuleScope,
): PlannedCheck | null {
  if (reading === null) throw new Error('a check got a column type that it does not support');
  const low = min === undefined ? null : bound(min, reading.type);
  const high = max === undefined ? null : bound(max, reading.type, true);
  if (low !== null && 'problem' in low) return around.problem('min', low.problem);
  if (high !== null && 'problem' in high) return around.problem('max', high.problem);
  if (low !== null && high !== null && compare(low.value, high.value) > 0) {
    return around.problem('min', 'The rule allows nothing: min is above max.');
  }
  const judge: Judge = (value) => {
    const read = reading.read(value);
    if (isFault(read)) return read.code;
    if (low !== null && !(compare(read, low.value) >= 0)) return 'OUT_OF_RANGE';
    return high !== null && !(compare(read, high.value) <= 0) ? 'OUT_OF_RANGE' : null;
  };
  return { judge: () => judge, condition: planBounds(column, reading, low?.value, high?.value) };
}

function notFuture(reading: Reading): PlannedCheck {
  return {
    judge: ({ startedAt }) => {
      const now = reading.type === 'date' ? dayOf(startedAt) : instantOf(startedAt);
      return (value) => {
        const read = reading.read(value);
        if (isFault(read)) return read.code;
        return compare(read, now) > 0 ? 'OUT_OF_RANGE' : null;
      };
    },
  };
}

/** `count` returns null for texts that are not of the kind. */
function counted(
  rule: Rule,
  around: RuleScope,
  count: (text: string) => number | null,
  known: (least: number, most: number) => Partial<PlannedCheck>,
): PlannedCheck | null {
  const parameters: readonly RuleParameter[] = ['value', 'min', 'max'];
  for (const parameter of parameters) {
    const given = rule[parameter];
    if (given !== undefined && !(Number.isSafeInteger(given) && (given as number) >= 0)) {
      return around.problem(parameter, `Write a number of characters, not ${JSON.stringify(given)}.`);
    }
  }
  const least = (rule.min ?? rule.value ?? 0) as number;
  const most = (rule.max ?? rule.value ?? Number.POSITIVE_INFINITY) as number;
  if (least > most) return around.problem('min', 'The rule allows nothing: min is above max.');
  const judge: Judge = (value): RowErrorCode | null => {
    const length = count(value as string);
    if (length === null) return 'PATTERN_MISMATCH';
    return length > most ? 'TOO_LONG' : length < least ? 'OUT_OF_RANGE' : null;
  };
  return { judge: () => judge, ...known(least, most) };
}

/** Kernels count in u32. No cell has more characters than this limit. */
function capped(count: number): number {
  return Math.min(count, CELL_BYTES_MAX + 1);
}

/** Longer sequences of digits are left to the check itself. */
const DIGITS_KNOWN_MAX = 1000;

function digitsPattern(least: number, most: number): Partial<PlannedCheck> {
  const top = Number.isFinite(most) ? most : DIGITS_KNOWN_MAX;
  if (top < 1 || top > DIGITS_KNOWN_MAX || least > top) return {};
  return { passes: greedyPattern(`^[0-9]{${Math.max(1, least)},${top}}$`) };
}

function increasing(allowEqual: boolean): Judge {
  let last: unknown = null;
  return (value) => {
    const order = last === null ? 1 : compare(value, last);
    last = value;
    return order > 0 || (allowEqual && order === 0) ? null : 'OUT_OF_RANGE';
  };
}

// Checks of values against lists, types, patterns and conditions.

const setChecks: Readonly<Record<string, Check>> = {
  in: {
    summary: 'one of `values`, compared according to `match`: NOT_IN_SET',
    takes: ['values', 'match'],
    needs: [['values']],
    types: null,
    plan: (rule, column, around) => listed(rule, column, around, true),
  },
  not_in: {
    summary: 'none of `values`, compared according to `match`: NOT_IN_SET',
    takes: ['values', 'match'],
    needs: [['values']],
    types: null,
    plan: (rule, column, around) => listed(rule, column, around, false),
  },
  type: {
    summary:
      'a text that `cast` can convert to `type`: NOT_A_NUMBER, PRECISION_LOSS, OUT_OF_RANGE, NOT_A_DATE, NOT_A_BOOLEAN or BAD_JSON',
    takes: ['type'],
    needs: [['type']],
    types: ['text'],
    plan: ({ type }) => ({ judge: () => (value) => TYPE_CODES[type as ColumnType](value as string) }),
  },
  pattern: {
    summary: '`pattern` (RE2) matches; `^` and `$` anchor it to the whole text: PATTERN_MISMATCH',
    takes: ['pattern'],
    needs: [['pattern']],
    types: ['text'],
    plan: planPattern,
  },
  starts_with: {
    summary: 'starts with `value`, or with one of `values`: PATTERN_MISMATCH',
    takes: ['value', 'values'],
    needs: [['value'], ['values']],
    types: ['text'],
    plan: ({ value, values }, { name }) => {
      const starts = (values ?? [value]).map(String);
      const judge: Judge = (text) =>
        starts.some((start) => (text as string).startsWith(start)) ? null : 'PATTERN_MISMATCH';
      return { judge: () => judge, condition: startsWithOne(name, starts) };
    },
  },
};

function listed(rule: Rule, { name, type }: Column, around: RuleScope, wanted: boolean): PlannedCheck | null {
  const { match = 'exact' } = rule;
  if (match !== 'exact' && type !== 'text')
    return around.problem('match', `"match" is for texts; this column is ${type}.`);
  const values: unknown[] = [];
  for (const constant of rule.values ?? []) {
    const made = constantValue(constant, type);
    if ('problem' in made) return around.problem('values', made.problem);
    values.push(made.value);
  }
  return {
    judge: ({ arena }) => {
      const steps = matchSteps(arena.heap, match);
      const key = (value: unknown): string => (match === 'exact' ? exactKey(value) : matchText(steps, String(value)));
      const keys = new Set(values.map(key));
      return (value) => (keys.has(key(value)) === wanted ? null : 'NOT_IN_SET');
    },
    condition: type === 'text' && match === 'exact' ? isOneOf(name, values as string[], !wanted) : null,
  };
}

/** Returns null for lists in which a lookup per value is faster. */
function isOneOf(column: string, texts: readonly string[], negate: boolean): StatePlan | null {
  return texts.length > TEXTS_MAX
    ? null
    : { kind: 'text', text: { kind: 'column', column }, test: 'isAny', texts, negate };
}

function startsWithOne(column: string, starts: readonly string[]): StatePlan | null {
  if (starts.length > TEXTS_MAX) return null;
  const [first, ...others] = starts.map(
    (start): StatePlan => ({
      kind: 'text',
      text: { kind: 'column', column },
      test: 'startsWith',
      texts: [start],
      negate: false,
    }),
  );
  return others.reduce((left, right): StatePlan => ({ kind: 'logical', and: false, left, right }), first!);
}

/** Returns the same text for equal values: 1.0 and 1.00, 0 and -0. */
function exactKey(value: unknown): string {
  if (!(value instanceof Decimal)) return String(value);
  const text = String(value);
  return value.scale > 0 ? text.replace(/\.?0+$/, '') : text;
}

const TYPE_CODES: Readonly<Record<ColumnType, (text: string) => RowErrorCode | null>> = {
  text: () => null,
  integer(text) {
    const exact = parseDecimal(text);
    if (exact === null) return 'NOT_A_NUMBER';
    const whole = roundDecimal(exact, 0, 'error');
    if (whole === null) return 'PRECISION_LOSS';
    return BigInt.asIntN(64, BigInt(whole.digits)) === BigInt(whole.digits) ? null : 'OUT_OF_RANGE';
  },
  decimal: (text) => (parseDecimal(text) === null ? 'NOT_A_NUMBER' : null),
  number: (text) =>
    /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/.test(text) ? null : 'NOT_A_NUMBER',
  boolean: (text) => (/^(?:true|false)$/i.test(text.trim()) ? null : 'NOT_A_BOOLEAN'),
  date: (text) => (parseDateText(text) === null ? 'NOT_A_DATE' : null),
  datetime(text) {
    const instant = readDatetime(text);
    return typeof instant === 'string' ? instant : null;
  },
  json: (text) => (jsonKind(text) === 'none' ? 'BAD_JSON' : null),
};

function planPattern({ pattern = '' }: Rule, { name }: Column, around: RuleScope): PlannedCheck | null {
  const compiled = compileRegularExpression(pattern);
  if ('problem' in compiled) return around.problem('pattern', compiled.problem);
  const judge: Judge = (value) => {
    if (!canTest(compiled, value as string)) return 'TOO_LONG';
    return codeOf(compiled.test(value as string));
  };
  const codeOf = (isFound: boolean): RowErrorCode | null => (isFound ? null : 'PATTERN_MISMATCH');
  const judgeLong: PlannedCheck['judgeLong'] = (value) => {
    const program = canTest(compiled, value as string) ? programForLong(compiled, value as string) : null;
    return program === null ? null : codeInSlices(program, value as string);
  };
  const codeInSlices = function* (program: ByteProgram, text: string) {
    return codeOf(yield* testInSlices(program, text));
  };
  const condition: StatePlan = { kind: 'pattern', text: { kind: 'column', column: name }, pattern };
  return { judge: () => judge, judgeLong, passes: compiled.greedy, condition };
}

// The table of checks on single values, by their name in a rule. Checks on more than one value (required, expr, unique,
// unique_together) are planned in plan-rules.ts.

export const checks: ReadonlyMap<string, Check> = new Map(
  Object.entries({ ...setChecks, ...rangeChecks, ...identifierChecks }),
);
