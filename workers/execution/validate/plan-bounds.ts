// Bounds of a rule as a condition that kernels compute over whole columns.
import type { Column } from '../../batch/schema.ts';
import { CalendarDate } from '../../values/calendar.ts';
import { Decimal } from '../../values/decimal.ts';
import { planConstant } from '../expressions/plan-numbers.ts';
import type { NumberForm, NumberPlan, StatePlan } from '../expressions/vector-plan.ts';
import type { Reading } from './bounds.ts';

/** The condition that a cell lies from `low` to `high` (undefined: no bound); null when no kernel computes it exactly. */
export function planBounds(column: Column, reading: Reading, low: unknown, high: unknown): StatePlan | null {
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
