// Plans of expressions that give numbers or dates.
import type { BinaryNode, CallNode, ConditionalNode, ExpressionNode } from '../../expression/syntax/ast.ts';
import { ARITHMETIC, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { parseDateText } from '../../values/calendar.ts';
import { Decimal, parseDecimal } from '../../values/decimal.ts';
import {
  argumentsOf,
  columnOf,
  computed,
  type DatePart,
  functionOf,
  kindOf,
  literalInteger,
  literalText,
  type NumberForm,
  type NumberPlan,
  type Planner,
  textOf,
} from './vector-plan.ts';

/** The plan of an expression that gives numbers or dates, or null where the closures compute all of it. */
export function planNumbers(planner: Planner, node: ExpressionNode): NumberPlan | null {
  const form = kindOf(planner.expression, node);
  if (!isForm(form)) return null;
  switch (node.kind) {
    case 'literal':
      return planConstant(node.value, node.text, form);
    case 'call':
      return planCall(planner, node, form);
    case 'binary':
      return planCalculation(planner, node, form);
    case 'conditional':
      return planChoice(planner, node, form);
    default: {
      const column = columnOf(planner.expression, node);
      return column === null ? null : { kind: 'column', form, column };
    }
  }
}

/** The plan of a node within a planned one, of its own form. */
function numberOf(planner: Planner, node: ExpressionNode, form: NumberForm): NumberPlan | null {
  const kind = kindOf(planner.expression, node);
  if (form === 'decimal' && kind === 'int' && node.kind !== 'literal') {
    const number = numberOf(planner, node, 'int');
    return number === null ? null : { kind: 'converted', form, number };
  }
  if (kind !== form) return null;
  return planner.numbers(node) ?? { ...computed(planner.expression, node), form };
}

/** A number as written, where the form holds it exactly. */
export function planConstant(value: unknown, text: string, form: NumberForm): NumberPlan | null {
  if (form === 'decimal') {
    const decimal = value instanceof Decimal ? value : parseDecimal(text, true);
    const fits = decimal !== null && typeof decimal.digits === 'number' && decimal.scale <= 100;
    return fits ? { kind: 'constant', form, value: decimal } : null;
  }
  if (form === 'double') return typeof value === 'number' ? { kind: 'constant', form, value } : null;
  if (form !== 'int' || typeof value !== 'bigint' || !Number.isSafeInteger(Number(value))) return null;
  return { kind: 'constant', form, value: Number(value) };
}

function planCalculation(planner: Planner, node: BinaryNode, form: NumberForm): NumberPlan | null {
  const { operator } = node;
  if (form === 'date' || !isArithmetic(operator) || (operator === '/' && form !== 'double')) return null;
  const left = numberOf(planner, node.left, form);
  const right = left === null ? null : numberOf(planner, node.right, form);
  return left === null || right === null ? null : { kind: 'calculated', form, operator, left, right };
}

function planChoice(planner: Planner, node: ConditionalNode, form: NumberForm): NumberPlan | null {
  const condition = planner.states(node.condition);
  const then = condition === null ? null : numberOf(planner, node.then, form);
  const otherwise = then === null ? null : numberOf(planner, node.otherwise, form);
  if (condition === null || then === null || otherwise === null) return null;
  return { kind: 'choice', form, condition, then, otherwise };
}

function planCall(planner: Planner, node: CallNode, form: NumberForm): NumberPlan | null {
  const name = functionOf(planner.expression, node);
  const parameters = argumentsOf(planner.expression, node) ?? [];
  const [first, second, ...more] = parameters;
  if (name === null || first === undefined) return null;
  const kind = kindOf(planner.expression, first);
  if (name === form && kind === 'string' && second === undefined) return planParsed(planner, first, form);
  if (name === 'size' && kind === 'string') return { kind: 'size', form, text: textOf(planner, first) };
  if (name === 'similarity' && second !== undefined)
    return { kind: 'likeness', form, left: textOf(planner, first), right: textOf(planner, second) };
  if (name === 'coalesce') {
    const numbers = parameters.map((part) => numberOf(planner, part, form));
    return numbers.every((part) => part !== null) ? { kind: 'first', form, numbers } : null;
  }
  if (name === 'min' || name === 'max') return planExtreme(planner, parameters, form, name === 'max');
  if (name === 'decimal' && kind === 'int') return numberOf(planner, first, 'decimal');
  if (name === 'round' && form === 'decimal' && more.length === 0) return planRounded(planner, first, second);
  if (kind !== 'date') return null;
  const date = numberOf(planner, first, 'date')!;
  if (isDatePart(name)) return { kind: 'date_part', form, part: name, date };
  const other = second === undefined || more.length > 0 ? null : numberOf(planner, second, 'date');
  if (name !== 'days_between' || other === null) return null;
  return { kind: 'calculated', form, operator: '-', left: other, right: date };
}

function planExtreme(
  planner: Planner,
  parameters: readonly ExpressionNode[],
  form: NumberForm,
  greatest: boolean,
): NumberPlan | null {
  const [first, ...others] = parameters.map((part) => numberOf(planner, part, form));
  return others.reduce<NumberPlan | null>(
    (left, right) => (left === null || right === null ? null : { kind: 'extreme', form, greatest, left, right }),
    first ?? null,
  );
}

/** Half away from zero, to a number of digits behind the point that vectors hold. */
function planRounded(planner: Planner, node: ExpressionNode, digits?: ExpressionNode): NumberPlan | null {
  const scale = digits === undefined ? 0 : literalInteger(digits);
  const number = numberOf(planner, node, 'decimal');
  if (scale === null || scale < 0 || scale > ROUNDED_SCALE_MAX || number === null) return null;
  return { kind: 'rounded', form: 'decimal', scale, number };
}

/** Digits behind the point that a decimal of 64 bits may have. */
const ROUNDED_SCALE_MAX = 18;

/** A text as a number or date: of one that is written in the Template at once. */
function planParsed(planner: Planner, node: ExpressionNode, form: NumberForm): NumberPlan | null {
  const literal = form === 'date' ? literalText(node) : null;
  const days = literal === null ? null : parseDateText(literal);
  if (days !== null) return { kind: 'constant', form, value: days };
  const text = planner.texts(node);
  return text === null || text.kind === 'literal' ? null : { kind: 'parsed', form, text };
}

const DATE_PARTS: ReadonlySet<string> = new Set(['year', 'month', 'day', 'weekday'] satisfies DatePart[]);

function isDatePart(name: string): name is DatePart {
  return DATE_PARTS.has(name);
}

function isForm(kind: string): kind is NumberForm {
  return Object.hasOwn(VECTOR_FORMS, kind);
}

function isArithmetic(operator: string): operator is keyof typeof ARITHMETIC {
  return Object.hasOwn(ARITHMETIC, operator);
}
