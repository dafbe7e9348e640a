// Owns the work of the functions on texts: search, patterns, parts, replacements, with the steps that they are charged.
import { indexOfText, lastIndexOfText, replaceAllText, splitText as splitAt } from '../../values/text-search.ts';
import { STRING } from '../check/type.ts';
import { BAD_ARGUMENT, INDEX_OUT_OF_RANGE, TOO_MANY_STEPS } from '../compile/evaluation-error.ts';
import type { Integer, ListValue } from '../compile/value.ts';
import { compileRegularExpression, mayTest, type RegularExpression } from '../patterns/regular-expression.ts';
import { STEP_LENGTH, STEP_PATTERN_LENGTH, STEP_PATTERN_WORK } from '../syntax/limits.ts';
import { checkLength, countPoints, limited, unitPosition } from '../syntax/text-point.ts';
import { type Context, define, type FunctionDefinition } from './definition.ts';

/** Compiled patterns that one call keeps when its pattern is no literal. */
const PATTERNS_KEPT_MAX = 16;

/** Places of a text that one step replaces: each costs some hundred nanoseconds, a step is worth about 10 µs. */
export const PLACES_PER_STEP = 64;

/** Blanks that trim() takes away: Unicode's White_Space, whatever the runtime's own trim does. */
const BLANK_RUN = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const LEADING_BLANKS = new RegExp(`^${BLANK_RUN}`);
const BLANK = new RegExp(`^${BLANK_RUN}$`);

/** A text without the blanks at both ends. */
export function trimText(text: string): string {
  const start = text.replace(LEADING_BLANKS, '');
  // From the end by hand: a pattern with $ alone would try every run of blanks.
  let end = start.length;
  while (end > 0 && BLANK.test(start[end - 1]!)) end--;
  return start.slice(0, end);
}

/** What is wrong with a literal pattern at a position. */
export function checkPattern(position: number) {
  return (constants: readonly unknown[]): string | null => {
    const pattern = constants[position];
    if (typeof pattern !== 'string') return null;
    const compiled = compileRegularExpression(pattern);
    return 'problem' in compiled ? compiled.problem : null;
  };
}

/** The compiled pattern of a literal, which was checked, or BAD_ARGUMENT for one of a row. */
export function patternOf(source: string): RegularExpression {
  const compiled = compileRegularExpression(source);
  if ('problem' in compiled) throw BAD_ARGUMENT;
  return compiled;
}

/** Steps of walking a text by a pattern for what it matches. */
export function chargeWalk({ charge }: Context, { program }: RegularExpression, text: string): void {
  charge(Math.floor((text.length * program) / STEP_PATTERN_WORK));
}

/** Whether a pattern is found; re2js has a DFA for that. */
function found({ charge }: Context, pattern: RegularExpression, text: string): boolean {
  if (!mayTest(pattern, text)) throw TOO_MANY_STEPS;
  if (pattern.lane === 're2') charge(Math.floor(text.length / STEP_PATTERN_LENGTH));
  return pattern.test(text);
}

export function prepareMatches(context: Context, constants: readonly unknown[]) {
  if (typeof constants[1] === 'string') {
    const compiled = patternOf(constants[1]);
    return (text: string) => found(context, compiled, text);
  }
  const kept = new Map<string, RegularExpression>();
  return (text: string, pattern: string) => {
    let compiled = kept.get(pattern);
    if (compiled === undefined) {
      context.charge(pattern.length);
      compiled = patternOf(pattern);
      if (kept.size >= PATTERNS_KEPT_MAX) kept.clear();
      kept.set(pattern, compiled);
    }
    return found(context, compiled, text);
  };
}

export function indexOf(text: string, part: string, from: Integer = 0): number {
  const found = indexOfText(text, part, unitPosition(text, from));
  return found < 0 ? -1 : countPoints(text.slice(0, found));
}

export function lastIndexOf(text: string, part: string, from?: Integer): number {
  const start = from === undefined ? text.length : unitPosition(text, from);
  const found = lastIndexOfText(text, part, start);
  return found < 0 ? -1 : countPoints(text.slice(0, found));
}

export function characterAt(text: string, index: Integer): string {
  const at = unitPosition(text, index);
  return at === text.length ? '' : String.fromCodePoint(text.codePointAt(at)!);
}

export function substring(text: string, from: Integer, to?: Integer): string {
  if (to !== undefined && to < from) throw INDEX_OUT_OF_RANGE;
  return text.slice(unitPosition(text, from), to === undefined ? text.length : unitPosition(text, to));
}

/** Replaces the first `count` places, all of them when it is negative. */
export function replaceText(context: Context, text: string, part: string, by: string, count: Integer = -1): string {
  const places = countPlaces(text, part);
  context.charge(Math.floor(places / PLACES_PER_STEP));
  checkLength(text.length + places * by.length);
  if (part === '') return insertBetween(text, by, count);
  if (count < 0 || count >= places) return replaceAllText(text, part, by);
  let result = '';
  let end = 0;
  for (let replaced = 0; replaced < count; replaced++) {
    const at = indexOfText(text, part, end);
    result += text.slice(end, at) + by;
    end = at + part.length;
  }
  return result + text.slice(end);
}

/** An empty part is found before every character and at the end. */
function insertBetween(text: string, by: string, count: Integer): string {
  const characters = [...text];
  const places = count < 0 ? characters.length + 1 : Number(count);
  const pieces = characters.map((character, index) => (index < places ? by : '') + character);
  return pieces.join('') + (places > characters.length ? by : '');
}

function countPlaces(text: string, part: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = indexOfText(text, part); at >= 0; at = indexOfText(text, part, at + part.length)) count++;
  return count;
}

export function splitText(context: Context, text: string, separator: string, limit: Integer = -1): string[] {
  if (limit === 0) return [];
  context.charge(separator === '' ? countPoints(text) : countPlaces(text, separator) + 1);
  const pieces = separator === '' ? [...text] : splitAt(text, separator);
  if (limit < 0 || limit >= pieces.length) return pieces;
  const kept = pieces.slice(0, Number(limit) - 1);
  return [...kept, pieces.slice(Number(limit) - 1).join(separator)];
}

export function joinList(context: Context, list: ListValue, separator = ''): string {
  context.charge(list.length);
  let length = separator.length * list.length;
  for (const element of list) {
    if (typeof element !== 'string') throw BAD_ARGUMENT;
    length += element.length;
  }
  checkLength(length);
  return list.join(separator);
}

/** A text as a literal of the language. */
export function quote(text: string): string {
  const escapes = new Map([
    ['\x07', '\\a'],
    ['\b', '\\b'],
    ['\f', '\\f'],
    ['\n', '\\n'],
    ['\r', '\\r'],
    ['\t', '\\t'],
    ['\v', '\\v'],
    ['\\', '\\\\'],
    ['"', '\\"'],
  ]);
  return limited(`"${text.replace(/["\\\x07-\r]/g, (character) => escapes.get(character) ?? character)}"`);
}

export const asciiLower = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
export const asciiUpper = (text: string) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** Edits that cost some hundred nanoseconds a character: the steps of reading the text count four times. */
export const slowEdit = (name: string, edit: (text: string) => string): FunctionDefinition =>
  define(name, 'both', [
    {
      parameters: [STRING],
      result: STRING,
      prepare:
        ({ charge }) =>
        (text: string) => {
          charge(Math.floor((3 * text.length) / STEP_LENGTH));
          return limited(edit(text));
        },
    },
  ]);
