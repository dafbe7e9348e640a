// Plans whole expressions for the kernels: rules for texts, for numbers and dates, and for conditions.

import type { CheckedExpression } from '../../expression/check/resolution.ts';
import {
  compileRegularExpression,
  type RegularExpression,
  searchedBytesMax,
} from '../../expression/patterns/regular-expression.ts';
import type { BinaryNode, CallNode, ConditionalNode, ExpressionNode } from '../../expression/syntax/ast.ts';
import { ARITHMETIC, ORDERS, VECTOR_FORMS } from '../../kernel/bindings/expression-words.ts';
import { compileDatePattern } from '../../values/date-pattern.ts';
import { Decimal, parseDecimal } from '../../values/decimal.ts';
import { parseDateText } from '../../values/timestamp.ts';
import { dateWriter } from '../cells/dates.ts';
import { literalStep, patternStep, TOO_LONG } from '../cells/replace-steps.ts';
import type { TextStep } from '../cells/text-chain.ts';
import {
  accentStep,
  asciiCaseStep,
  capitaliseStep,
  caseStep,
  digitStep,
  fingerprintStep,
  padStep,
  trimStep,
} from '../cells/text-steps.ts';
import {
  argumentsOf,
  type ComputedPlan,
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
  type StatePlan,
  type TextPlan,
  textOf,
} from './vector-plan.ts';

// Plans of expressions whose results are texts.

/** Maximum length of a text that kernels search for. Their search time grows with both lengths. */
const PART_BYTES_MAX = 32;

/** Returns the plan of an expression whose results are texts, or null if closures must compute all of it. */
function planTexts(planner: Planner, node: ExpressionNode): TextPlan | null {
  if (kindOf(planner.expression, node) !== 'string') return null;
  switch (node.kind) {
    case 'literal':
      return { kind: 'literal', text: node.value as string };
    case 'binary':
      return node.operator === '+' ? planJoined(planner, [node.left, node.right]) : null;
    case 'conditional': {
      const condition = planner.states(node.condition);
      if (condition === null) return null;
      const [then, otherwise] = [textOf(planner, node.then), textOf(planner, node.otherwise)];
      return { kind: 'choice', condition, then, otherwise };
    }
    case 'call':
      return planTextResult(planner, node);
    default: {
      const column = columnOf(planner.expression, node);
      return column === null ? null : { kind: 'column', column };
    }
  }
}

/** Plans a + b + c as one join of three texts. */
function planJoined(planner: Planner, nodes: readonly ExpressionNode[]): TextPlan | null {
  if (nodes.some((node) => kindOf(planner.expression, node) !== 'string')) return null;
  const texts = nodes.flatMap((node) => {
    const plan = textOf(planner, node);
    return plan.kind === 'joined' ? plan.texts : [plan];
  });
  return { kind: 'joined', texts };
}

/** Plans the text of a number or date. Closures format doubles. */
function planWritten(planner: Planner, node: ExpressionNode): TextPlan | null {
  if (kindOf(planner.expression, node) === 'string') return planner.texts(node);
  const number = planner.numbers(node);
  return number === null || number.form === 'double' || number.kind === 'constant' ? null : { kind: 'written', number };
}

/** Parts of a pattern that depend only on the day. */
const DAY_LETTERS = 'yYwQMdDEe';

/** Plans the text of a date, or of an instant of a column. */
function planFormatted(
  planner: Planner,
  node: ExpressionNode,
  [source, locale]: readonly ExpressionNode[],
): TextPlan | null {
  const [text, language] = [literalText(source), locale === undefined ? 'en' : literalText(locale)];
  if (text === null || language === null) return null;
  const pattern = compileDatePattern(text, { locale: language });
  if ('problem' in pattern) return null;
  const place = dateWriter(pattern);
  if (kindOf(planner.expression, node) !== 'timestamp') {
    const date = numberOf(planner, node, 'date');
    return date === null ? null : { kind: 'formatted', pattern, place, of: date };
  }
  const column = columnOf(planner.expression, node);
  const isOfDay = pattern.parts.every(({ letter }) => DAY_LETTERS.includes(letter));
  // The kernel does not know fractions of a second.
  const hasKernel = place !== null && pattern.parts.every(({ letter }) => letter !== 'S');
  if (column === null || !(hasKernel || isOfDay)) return null;
  return { kind: 'formatted', pattern, place: hasKernel ? place : null, of: { kind: 'instants', column } };
}

/** Plans a call on a text from its other arguments. Returns null if the kernels do not support these. */
type CallPlanner = (
  parameters: readonly ExpressionNode[],
  itself: ComputedPlan,
) => ((text: TextPlan) => TextPlan) | null;

type StepMaker = Extract<TextPlan, { kind: 'edited' }>['step'];

const edited = (step: StepMaker) => (text: TextPlan) => ({ kind: 'edited', step, text }) as const;

const CALLS: ReadonlyMap<string, CallPlanner> = new Map<string, CallPlanner>([
  ['upper', () => edited((heap) => caseStep(heap, 'upper'))],
  ['lower', () => edited((heap) => caseStep(heap, 'lower'))],
  ['upperAscii', () => edited(() => asciiCaseStep('upper'))],
  ['lowerAscii', () => edited(() => asciiCaseStep('lower'))],
  ['strip_accents', () => edited((heap) => accentStep(heap))],
  ['fingerprint', () => edited((heap) => fingerprintStep(heap))],
  ['charAt', planCharacter],
  ['trim', () => edited(() => trimStep())],
  ['digits', () => edited((heap) => digitStep(heap))],
  ['title', () => edited(() => capitaliseStep('word'))],
  ['left', (parameters) => planCut(parameters, false)],
  ['right', (parameters) => planCut(parameters, true)],
  ['substring', planSlice],
  ['split_part', planSplit],
  ['replace', planReplaced],
  ['extract', planFound],
  ['replace_re', planReplacedMatches],
  ['pad_left', (parameters) => planPadded(parameters, 'left')],
  ['pad_right', (parameters) => planPadded(parameters, 'right')],
]);

function planTextResult(planner: Planner, node: CallNode): TextPlan | null {
  const parameters = argumentsOf(planner.expression, node);
  const name = functionOf(planner.expression, node);
  if (parameters === null || name === null) return null;
  if (name === 'coalesce') return { kind: 'first', texts: parameters.map((part) => textOf(planner, part)) };
  const [text, ...others] = parameters;
  if (name === 'concat_ws') return planPresent(planner, literalText(text), others);
  if (name === 'string' && text !== undefined) return planWritten(planner, text);
  if (name === 'format_date' && text !== undefined) return planFormatted(planner, text, others);
  if (text === undefined || kindOf(planner.expression, text) !== 'string') return null;
  return CALLS.get(name)?.(others, computed(planner.expression, node))?.(textOf(planner, text)) ?? null;
}

/** concat_ws: leaves out null texts. */
function planPresent(planner: Planner, separator: string | null, nodes: readonly ExpressionNode[]): TextPlan | null {
  const texts = nodes.map((node) =>
    kindOf(planner.expression, node) === 'string' ? textOf(planner, node) : planWritten(planner, node),
  );
  if (separator === null || separator.length > PUT_LENGTH_MAX || texts.includes(null)) return null;
  return { kind: 'present', separator, texts: texts as readonly TextPlan[] };
}

const planCut = ([count]: readonly ExpressionNode[], fromEnd: boolean): ReturnType<CallPlanner> => {
  const length = literalInteger(count);
  return length === null ? null : (text) => ({ kind: 'cut', length: Math.max(0, length), fromEnd, text });
};

function planSlice([from, to]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const [first, last] = [literalInteger(from), to === undefined ? null : literalInteger(to)];
  if (first === null || first < 0 || (to !== undefined && (last === null || last < first))) return null;
  return (text) => ({ kind: 'slice', from: first, to: last, text });
}

/** Closures handle the position after the last character, which gives the empty text. */
function planCharacter([place]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const at = literalInteger(place);
  return at === null || at < 0 ? null : (text) => ({ kind: 'slice', from: at, to: at + 1, text });
}

function planSplit([separator, part]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const [between, number] = [literalText(separator), literalInteger(part)];
  if (between === null || !isSearched(between) || number === null || number === 0) return null;
  return (text) => ({ kind: 'split', separator: between, number, text });
}

function planReplaced([part, by, count]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const [find, put] = [literalText(part), literalText(by)];
  const times = count === undefined ? -1 : literalInteger(count);
  if (find === null || put === null || times === null || !isSearched(find) || put.length > PUT_LENGTH_MAX) return null;
  return edited((heap) => literalStep(heap, find, put, times < 0 ? null : times));
}

/**
 * Plans the text of a group, for a pattern that can be matched item by item without backtracking, and whose group is
 * never empty. Any other pattern needs an automaton.
 */
function planFound([source, wanted]: readonly ExpressionNode[], otherwise: ComputedPlan): ReturnType<CallPlanner> {
  const pattern = patternOf(source);
  if (pattern === null) return null;
  const group = wanted === undefined ? Math.min(1, pattern.groupCount) : groupOf(pattern, wanted);
  if (group === null) return null;
  const span = pattern.greedy?.groups[group];
  if (pattern.greedy !== null && span !== undefined) {
    const [from, to] = span;
    const { greedy } = pattern;
    if (greedy.items.slice(from, to).some(({ least }) => least > 0)) {
      return (text) => ({ kind: 'found', pattern: greedy, from, to, text });
    }
  }
  return (text) => ({ kind: 'matched', pattern, group, text, otherwise });
}

/** Returns the number of a group given as a literal, or null. */
function groupOf({ groupNames, groupCount }: RegularExpression, wanted: ExpressionNode): number | null {
  const name = literalText(wanted);
  const group = name === null ? literalInteger(wanted) : (groupNames.get(name) ?? null);
  return group !== null && group >= 0 && group <= groupCount ? group : null;
}

function planReplacedMatches([source, by]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const [pattern, put] = [patternOf(source), literalText(by)];
  if (pattern === null || put === null || put.length > PUT_LENGTH_MAX) return null;
  return edited((heap) => sureStep(patternStep(heap, pattern, put, null), searchedBytesMax(pattern, 'all')));
}

/**
 * A step that leaves texts above a length in bytes to the closures, which might count more steps than allowed for them.
 */
function sureStep(step: TextStep, lengthMax: number): TextStep {
  const { editInSlices: _, ...short } = step;
  return { ...short, edit: (text) => (Buffer.byteLength(text) > lengthMax ? TOO_LONG : step.edit(text)) };
}

function patternOf(node: ExpressionNode | undefined): RegularExpression | null {
  const source = literalText(node);
  const compiled = source === null ? null : compileRegularExpression(source);
  return compiled === null || 'problem' in compiled ? null : compiled;
}

function planPadded([count, fill]: readonly ExpressionNode[], side: 'left' | 'right'): ReturnType<CallPlanner> {
  const length = literalInteger(count);
  const character = fill === undefined ? ' ' : literalText(fill);
  if (length === null || length > PADDED_LENGTH_MAX || character === null || [...character].length !== 1) return null;
  return edited((heap) => padStep(heap, Math.max(0, length), character, side));
}

/** Maximum length of a padded text, in characters. */
const PADDED_LENGTH_MAX = 4096;

/** Maximum length of an inserted text, so that no cell grows far beyond what kernels support. */
const PUT_LENGTH_MAX = 256;

function isSearched(part: string): boolean {
  return part !== '' && Buffer.byteLength(part) <= PART_BYTES_MAX;
}

// Plans of expressions whose results are numbers or dates.

/** Returns the plan of an expression whose results are numbers or dates, or null if closures must compute all of it. */
function planNumbers(planner: Planner, node: ExpressionNode): NumberPlan | null {
  const form = kindOf(planner.expression, node);
  if (!isForm(form)) return null;
  switch (node.kind) {
    case 'literal':
      return planConstant(node.value, node.text, form);
    case 'call':
      return planNumberCall(planner, node, form);
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

/** Returns the plan of an inner node, in the required form. */
function numberOf(planner: Planner, node: ExpressionNode, form: NumberForm): NumberPlan | null {
  const kind = kindOf(planner.expression, node);
  if (form === 'decimal' && kind === 'int' && node.kind !== 'literal') {
    const number = numberOf(planner, node, 'int');
    return number === null ? null : { kind: 'converted', form, number };
  }
  if (kind !== form) return null;
  return planner.numbers(node) ?? { ...computed(planner.expression, node), form };
}

/** Returns a number literal if the form can represent it exactly. */
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

function planNumberCall(planner: Planner, node: CallNode, form: NumberForm): NumberPlan | null {
  const name = functionOf(planner.expression, node);
  const parameters = argumentsOf(planner.expression, node) ?? [];
  const [first, second, ...more] = parameters;
  if (name === null || first === undefined) return null;
  const kind = kindOf(planner.expression, first);
  if (name === form && kind === 'string' && second === undefined) return planParsed(planner, first, form);
  if (name === 'size' && kind === 'string') return { kind: 'size', form, text: textOf(planner, first) };
  if (name === 'similarity' && second !== undefined)
    return { kind: 'similarity', form, left: textOf(planner, first), right: textOf(planner, second) };
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

/** Plans rounding (half away from zero) to a number of decimal places that vectors can represent. */
function planRounded(planner: Planner, node: ExpressionNode, digits?: ExpressionNode): NumberPlan | null {
  const scale = digits === undefined ? 0 : literalInteger(digits);
  const number = numberOf(planner, node, 'decimal');
  if (scale === null || scale < 0 || scale > ROUNDED_SCALE_MAX || number === null) return null;
  return { kind: 'rounded', form: 'decimal', scale, number };
}

/** Maximum number of decimal places of a 64-bit decimal. */
const ROUNDED_SCALE_MAX = 18;

/** Plans the conversion of a text to a number or date. A literal is converted immediately. */
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

// Plans of conditions.

/** Maximum number of texts. More texts are found faster in the set of the closures. */
export const TEXTS_MAX = 64;

/** Returns the plan of a condition, or null if closures must compute all of it. */
function planStates(planner: Planner, node: ExpressionNode): StatePlan | null {
  if (kindOf(planner.expression, node) !== 'bool') return null;
  switch (node.kind) {
    case 'logical': {
      const [left, right] = [planner.states(node.left), planner.states(node.right)];
      if (left === null && right === null) return null;
      const and = node.operator === '&&';
      return {
        kind: 'logical',
        and,
        left: left ?? stateOf(planner, node.left),
        right: right ?? stateOf(planner, node.right),
      };
    }
    case 'unary': {
      const operand = planner.states(node.operand);
      return operand === null ? null : { kind: 'not', operand };
    }
    case 'binary':
      return planTextTest(planner, node) ?? planTextComparison(planner, node) ?? planComparison(planner, node);
    case 'call':
      return planTextCall(planner, node);
    default: {
      const column = columnOf(planner.expression, node);
      return column === null ? null : { kind: 'boolean', column };
    }
  }
}

function stateOf(planner: Planner, node: ExpressionNode): StatePlan {
  return computed(planner.expression, node);
}

/** Plans the comparison of numbers of the same kind, or of a double with an integer literal. */
function planComparison(planner: Planner, node: BinaryNode): StatePlan | null {
  const negate = node.operator === '!=';
  const operator = negate ? '==' : node.operator;
  if (!isOrder(operator)) return null;
  const left = planner.numbers(node.left);
  const right = left === null ? null : planner.numbers(node.right);
  if (left === null || right === null) return null;
  const asDoubles = left.form === 'double' && right.form === 'int' && right.kind === 'constant' && operator !== '==';
  return left.form === right.form || asDoubles ? { kind: 'compared', operator, negate, left, right } : null;
}

/** Plans a text with ==, !=, in, < and the like against literals, or with == null. */
function planTextTest(planner: Planner, { operator, left, right }: BinaryNode): StatePlan | null {
  const text = planner.texts(left);
  if (text === null || text.kind === 'literal') return null;
  const texts = right.kind === 'list' ? listedTexts(right) : [right];
  const literals = texts.map((node) => (node?.kind === 'literal' ? node.value : undefined));
  if (operator === 'in' && right.kind === 'list' && literals.every((value) => typeof value === 'string')) {
    return literals.length > TEXTS_MAX ? null : { kind: 'text', text, test: 'isAny', texts: literals, negate: false };
  }
  const [literal] = literals;
  if (right.kind !== 'literal') return null;
  const equality = operator === '==' || operator === '!=';
  if (literal === null && equality)
    return { kind: 'text', text, test: 'isNull', texts: [''], negate: operator === '!=' };
  if (typeof literal !== 'string') return null;
  if (equality) return { kind: 'text', text, test: 'isAny', texts: [literal], negate: operator === '!=' };
  const negate = operator === '>' || operator === '>=';
  if (!negate && operator !== '<' && operator !== '<=') return null;
  const test = operator === '<' || operator === '>=' ? '<' : '<=';
  return { kind: 'text', text, test, texts: [literal], negate };
}

/** Plans the comparison of two texts, of which closures may compute one. */
function planTextComparison(planner: Planner, { operator, left, right }: BinaryNode): StatePlan | null {
  const areTexts = [left, right].every((node) => kindOf(planner.expression, node) === 'string');
  if (!areTexts || [left, right].every((node) => planner.texts(node) === null)) return null;
  const [first, second] = [textOf(planner, left), textOf(planner, right)];
  if (operator === '==' || operator === '!=') {
    return { kind: 'texts', test: 'isAny', negate: operator === '!=', left: first, right: second };
  }
  if (operator !== '<' && operator !== '<=' && operator !== '>' && operator !== '>=') return null;
  const negate = operator === '>' || operator === '>=';
  return {
    kind: 'texts',
    test: operator === '<' || operator === '>=' ? '<' : '<=',
    negate,
    left: first,
    right: second,
  };
}

function listedTexts(list: ExpressionNode & { kind: 'list' }): (ExpressionNode | undefined)[] {
  return list.elements.map(({ value, optional }) => (optional ? undefined : value));
}

/** Plans x.startsWith("a") and similar calls. */
function planTextCall(planner: Planner, node: CallNode): StatePlan | null {
  const name = functionOf(planner.expression, node);
  const [first, part, ...more] = argumentsOf(planner.expression, node) ?? [];
  if (first === undefined || kindOf(planner.expression, first) !== 'string' || more.length > 0) return null;
  if (name === 'is_blank') return { kind: 'blank', text: textOf(planner, first) };
  const literal = literalText(part);
  if (literal === null) return null;
  if (name === 'matches') return { kind: 'pattern', text: textOf(planner, first), pattern: literal };
  if (name !== 'startsWith' && name !== 'endsWith' && name !== 'contains') return null;
  return { kind: 'text', text: textOf(planner, first), test: name, texts: [literal], negate: false };
}

function isOrder(operator: string): operator is keyof typeof ORDERS {
  return Object.hasOwn(ORDERS, operator);
}

// Plans whole expressions for the kernels, with one file of rules per kind of result.

export function plannerOf(expression: CheckedExpression): Planner {
  const planner: Planner = {
    expression,
    texts: (node) => planTexts(planner, node),
    numbers: (node) => planNumbers(planner, node),
    states: (node) => planStates(planner, node),
  };
  return planner;
}
