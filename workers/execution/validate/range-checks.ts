// Checks of values against bounds: numbers, dates, lengths, and the row before.
import type { Column, ColumnType } from '../../batch/schema.ts';
import { greedyPattern } from '../../expression/patterns/greedy-pattern.ts';
import type { RowErrorCode } from '../../run/report.ts';
import { characterCount } from '../../values/text-edits.ts';
import { CELL_BYTES_MAX } from '../cells/cell-limit.ts';
import type { Constant } from '../cells/constant-value.ts';
import { bound, compare, dayOf, instantOf, isFault, type Reading, readDates, readNumbers } from './bounds.ts';
import { planBounds } from './plan-bounds.ts';
import type { Check, Judge, PlannedCheck, Rule, RuleParameter, RuleScope } from './rule.ts';

const ORDERED: readonly ColumnType[] = ['text', 'integer', 'decimal', 'number', 'date', 'datetime'];
const DATED: readonly ColumnType[] = ['text', 'date', 'datetime'];

export const rangeChecks: Readonly<Record<string, Check>> = {
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
    summary: 'from `min` to `max`, both allowed: OUT_OF_RANGE; texts must be plain numbers: NOT_A_NUMBER',
    takes: ['min', 'max'],
    needs: [['min', 'max']],
    types: ORDERED,
    plan: (rule, column, around) => within(rule.min, rule.max, column, numbersOrDates(column), around),
  },
  date_between: {
    summary:
      'a day from `min` to `max`, one of them or both, both allowed: OUT_OF_RANGE; texts are read as 2026-01-31: NOT_A_DATE',
    takes: ['min', 'max'],
    needs: [['min'], ['max']],
    types: DATED,
    plan: (rule, column, around) => within(rule.min, rule.max, column, readDates(column.type), around),
  },
  not_future: {
    summary:
      'not after the day (UTC), or the instant, at which the Run started: OUT_OF_RANGE; texts are read as 2026-01-31: NOT_A_DATE',
    takes: [],
    needs: [],
    types: DATED,
    plan: (_rule, column, { uses }) => {
      uses.add('started_at');
      return notFuture(readDates(column.type)!);
    },
  },
  length: {
    summary: '`value` characters, or from `min` to `max`: too many are TOO_LONG, too few OUT_OF_RANGE',
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
      'greater than in the row before, nulls passed over, texts by code points; equal with `allow_equal: true`: OUT_OF_RANGE',
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
  if (reading === null) throw new Error('a check takes a type that it cannot read');
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

/** `count` gives null for texts that are not of the kind. */
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

/** Kernels count in u32: no cell has so many characters. */
function capped(count: number): number {
  return Math.min(count, CELL_BYTES_MAX + 1);
}

/** Longer runs of digits are counted by the check alone. */
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
