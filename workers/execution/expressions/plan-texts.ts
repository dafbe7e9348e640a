// Plans of expressions that give texts.
import { compileRegularExpression, type RegularExpression } from '../../expression/patterns/regular-expression.ts';
import { walkedLengthMax } from '../../expression/patterns/walked-length.ts';
import type { CallNode, ExpressionNode } from '../../expression/syntax/ast.ts';
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
  functionOf,
  kindOf,
  literalInteger,
  literalText,
  type Planner,
  type TextPlan,
  textOf,
} from './vector-plan.ts';

/** Longer texts are searched for in time that grows with both lengths, which the kernels do not do. */
const PART_BYTES_MAX = 32;

/** The plan of an expression that gives texts, or null where the closures compute all of it. */
export function planTexts(planner: Planner, node: ExpressionNode): TextPlan | null {
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
      return planCall(planner, node);
    default: {
      const column = columnOf(planner.expression, node);
      return column === null ? null : { kind: 'column', column };
    }
  }
}

/** a + b + c is one join of three. */
function planJoined(planner: Planner, nodes: readonly ExpressionNode[]): TextPlan | null {
  if (nodes.some((node) => kindOf(planner.expression, node) !== 'string')) return null;
  const texts = nodes.flatMap((node) => {
    const plan = textOf(planner, node);
    return plan.kind === 'joined' ? plan.texts : [plan];
  });
  return { kind: 'joined', texts };
}

/** The text of a number or date; doubles are written by the closures. */
function planWritten(planner: Planner, node: ExpressionNode): TextPlan | null {
  if (kindOf(planner.expression, node) === 'string') return planner.texts(node);
  const number = planner.numbers(node);
  return number === null || number.form === 'double' || number.kind === 'constant' ? null : { kind: 'written', number };
}

/** What a call makes of its text, by its other arguments; null where these are not as the kernels want them. */
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

function planCall(planner: Planner, node: CallNode): TextPlan | null {
  const parameters = argumentsOf(planner.expression, node);
  const name = functionOf(planner.expression, node);
  if (parameters === null || name === null) return null;
  if (name === 'coalesce') return { kind: 'first', texts: parameters.map((part) => textOf(planner, part)) };
  const [text, ...others] = parameters;
  if (name === 'concat_ws') return planPresent(planner, literalText(text), others);
  if (name === 'string' && text !== undefined) return planWritten(planner, text);
  if (text === undefined || kindOf(planner.expression, text) !== 'string') return null;
  return CALLS.get(name)?.(others, computed(planner.expression, node))?.(textOf(planner, text)) ?? null;
}

/** concat_ws: what is null is left out. */
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

/** Behind the last character is the empty text, which is left to the closures. */
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

/** What a group took: of a pattern that never gives a character back by items, where the group is never empty. */
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
  return (text) => ({ kind: 'walked', pattern, group, text, otherwise });
}

/** Number of a group that is named as written; null where it is none. */
function groupOf({ groupNames, groupCount }: RegularExpression, wanted: ExpressionNode): number | null {
  const name = literalText(wanted);
  const group = name === null ? literalInteger(wanted) : (groupNames.get(name) ?? null);
  return group !== null && group >= 0 && group <= groupCount ? group : null;
}

function planReplacedMatches([source, by]: readonly ExpressionNode[]): ReturnType<CallPlanner> {
  const [pattern, put] = [patternOf(source), literalText(by)];
  if (pattern === null || put === null || put.length > PUT_LENGTH_MAX) return null;
  return edited((heap) => sureStep(patternStep(heap, pattern, put, null), walkedLengthMax(pattern, 'all')));
}

/** A step that gives up on texts, in bytes, for which the closures might count more steps than there are. */
function sureStep(step: TextStep, lengthMax: number): TextStep {
  return { ...step, edit: (text) => (Buffer.byteLength(text) > lengthMax ? TOO_LONG : step.edit(text)) };
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

/** Of texts that are filled up to a length, in characters. */
const PADDED_LENGTH_MAX = 4096;

/** Of texts that are put in the place of others, so that no cell grows far beyond what kernels take. */
const PUT_LENGTH_MAX = 256;

function isSearched(part: string): boolean {
  return part !== '' && Buffer.byteLength(part) <= PART_BYTES_MAX;
}
