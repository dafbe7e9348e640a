// Checks of values against lists, types, patterns and conditions.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { compileRegularExpression, mayTest } from '../../expression/patterns/regular-expression.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { parseDateText } from '../../values/calendar.ts';
import { Decimal, parseDecimal, roundDecimal } from '../../values/decimal.ts';
import { jsonKind } from '../../values/json-parts.ts';
import { parseTimestamp } from '../../values/timestamp.ts';
import { constantValue } from '../cells/constant-value.ts';
import { TEXTS_MAX } from '../expressions/plan-states.ts';
import type { StatePlan } from '../expressions/vector-plan.ts';
import { matchSteps, matchText } from '../keys/match-level.ts';
import type { Check, Judge, PlannedCheck, Rule, RuleScope } from './rule.ts';

export const setChecks: Readonly<Record<string, Check>> = {
  in: {
    summary: 'one of `values`, texts compared by `match`: NOT_IN_SET',
    takes: ['values', 'match'],
    needs: [['values']],
    types: null,
    plan: (rule, column, around) => listed(rule, column, around, true),
  },
  not_in: {
    summary: 'none of `values`, texts compared by `match`: NOT_IN_SET',
    takes: ['values', 'match'],
    needs: [['values']],
    types: null,
    plan: (rule, column, around) => listed(rule, column, around, false),
  },
  type: {
    summary:
      'a text that `cast` could make the `type` of: NOT_A_NUMBER, PRECISION_LOSS, OUT_OF_RANGE, NOT_A_DATE, NOT_A_BOOLEAN or BAD_JSON',
    takes: ['type'],
    needs: [['type']],
    types: ['text'],
    plan: ({ type }) => ({ judge: () => (value) => TYPE_CODES[type as ColumnType](value as string) }),
  },
  pattern: {
    summary: '`pattern` (RE2) is found in it; `^` and `$` hold the whole text: PATTERN_MISMATCH',
    takes: ['pattern'],
    needs: [['pattern']],
    types: ['text'],
    plan: planPattern,
  },
  starts_with: {
    summary: 'begins with `value`, or with one of `values`: PATTERN_MISMATCH',
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

/** Null for lists that are faster looked up one by one. */
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

/** The same text for equal values: 1.0 and 1.00, 0 and -0. */
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
  datetime: (text) => (parseTimestamp(text) === null ? 'NOT_A_DATE' : null),
  json: (text) => (jsonKind(text) === 'none' ? 'BAD_JSON' : null),
};

function planPattern({ pattern = '' }: Rule, { name }: Column, around: RuleScope): PlannedCheck | null {
  const compiled = compileRegularExpression(pattern);
  if ('problem' in compiled) return around.problem('pattern', compiled.problem);
  const judge: Judge = (value) => {
    if (!mayTest(compiled, value as string)) return 'TOO_LONG';
    return compiled.test(value as string) ? null : 'PATTERN_MISMATCH';
  };
  const condition: StatePlan = { kind: 'pattern', text: { kind: 'column', column: name }, pattern };
  return { judge: () => judge, passes: compiled.greedy, condition };
}
