// Owns our functions on texts: upper, lower, title, left, right, padding, patterns, splitting and joining.
import { stripAccents, titleCase } from '../../values/text-edits.ts';
import { BAD_ARGUMENT } from '../evaluation-error.ts';
import { TEXT_LENGTH_MAX } from '../limits.ts';
import type { PatternMatch, RegularExpression } from '../regular-expression.ts';
import { checkLength, countPoints, firstPoints, lastPoints, limited } from '../text-point.ts';
import { DYN, INT, STRING } from '../type.ts';
import type { Integer, Value } from '../value.ts';
import { valueText } from '../value-text.ts';
import { type Constants, type Context, define, type FunctionDefinition, overload } from './definition.ts';
import { chargeWalk, checkPattern, PLACES_PER_STEP, patternOf, slowEdit } from './text.ts';

function pad(text: string, length: Integer, fill: string, before: boolean): string {
  checkLength(Number(length));
  if (countPoints(fill) !== 1) throw BAD_ARGUMENT;
  const missing = Number(length) - countPoints(text);
  if (missing <= 0) return text;
  return limited(before ? fill.repeat(missing) + text : text + fill.repeat(missing));
}

/** The text of a group, by number or name; without one the first group, or the whole match where there is none. */
function extractor(context: Context, constants: Constants) {
  const pattern = patternOf(constants[1] as string);
  const group = groupOf(pattern, constants[2]);
  return (text: string) => {
    chargeWalk(context, pattern, text);
    return pattern.first(text)?.groups[group] ?? null;
  };
}

function groupOf(pattern: RegularExpression, wanted: Value | undefined): number {
  if (wanted === undefined) return pattern.groupCount > 0 ? 1 : 0;
  if (typeof wanted === 'string') return pattern.groupNames.get(wanted) ?? -1;
  return typeof wanted === 'bigint' && wanted >= 0n && wanted <= pattern.groupCount ? Number(wanted) : -1;
}

function checkExtract(constants: Constants): string | null {
  const problem = checkPattern(1)(constants);
  if (problem !== null || typeof constants[1] !== 'string') return problem;
  return groupOf(patternOf(constants[1]), constants[2]) < 0 ? 'The pattern has no such group.' : null;
}

/** A replacement in pieces: texts, and groups for `$1`, `${name}`; `$$` is a dollar. */
function replacementPieces(pattern: RegularExpression, by: string): (string | number)[] | null {
  const pieces: (string | number)[] = [];
  let end = 0;
  for (const match of by.matchAll(/\$(?:(\$)|([0-9]{1,2})|\{(\w+)\})?/g)) {
    pieces.push(by.slice(end, match.index));
    end = match.index + match[0].length;
    const [, dollar, number, name] = match;
    const group =
      number !== undefined ? Number(number) : (pattern.groupNames.get(name ?? '') ?? Number(name ?? Number.NaN));
    if (dollar !== undefined) pieces.push('$');
    else if (Number.isInteger(group) && group <= pattern.groupCount) pieces.push(group);
    else return null;
  }
  pieces.push(by.slice(end));
  return pieces;
}

/** Every match replaced. */
export function replaceMatches(
  context: Context,
  pattern: RegularExpression,
  pieces: readonly (string | number)[],
  text: string,
): string {
  const fill = (match: PatternMatch) =>
    pieces.map((piece) => (typeof piece === 'string' ? piece : (match.groups[piece] ?? ''))).join('');
  const groups = pieces.filter((piece) => typeof piece === 'number').length;
  const literal = pieces.reduce<number>((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  // However the pattern matches, the result is no longer than this.
  const longest = text.length * (1 + groups) + (text.length + 1) * literal;
  if (pattern.substitute !== null && longest <= TEXT_LENGTH_MAX) {
    context.charge(Math.floor(text.length / (2 * PLACES_PER_STEP)));
    return pattern.substitute(text, pieces.map(scriptPiece).join(''));
  }
  chargeWalk(context, pattern, text);
  let result = '';
  let end = 0;
  let count = 0;
  for (const match of pattern.all(text)) {
    if (++count % PLACES_PER_STEP === 0) context.charge(1);
    const piece = text.slice(end, match.start) + fill(match);
    checkLength(result.length + piece.length);
    result += piece;
    end = match.end;
  }
  return limited(result + text.slice(end));
}

/** A piece in JavaScript's replacement syntax; two digits, so that a digit behind a group is not read into it. */
function scriptPiece(piece: string | number): string {
  if (typeof piece === 'string') return piece.replaceAll('$', '$$$$');
  return piece === 0 ? '$&' : `$${String(piece).padStart(2, '0')}`;
}

function checkReplace(constants: Constants): string | null {
  const problem = checkPattern(1)(constants);
  if (problem !== null || typeof constants[1] !== 'string' || typeof constants[2] !== 'string') return problem;
  const pieces = replacementPieces(patternOf(constants[1]), constants[2]);
  return pieces === null ? 'A $ in the replacement names no group: write $1, or $$ for a dollar.' : null;
}

function replacer(context: Context, constants: Constants) {
  const pattern = patternOf(constants[1] as string);
  const pieces = replacementPieces(pattern, constants[2] as string);
  if (pieces === null) throw BAD_ARGUMENT;
  return (text: string) => replaceMatches(context, pattern, pieces, text);
}

/** The part by number, from 1; from the end when negative; null where there is none. */
function splitPart(text: string, separator: string, part: Integer): string | null {
  if (separator === '' || part === 0) throw BAD_ARGUMENT;
  const parts = text.split(separator);
  return parts.at(Number(part) > 0 ? Number(part) - 1 : Number(part)) ?? null;
}

/** Everything that is not blank, with the separator between. */
function concatWith(separator: Value, ...values: Value[]): string | null {
  if (separator === null) return null;
  const texts = values.filter((value) => value !== null).map(valueText);
  checkLength(texts.reduce((sum, text) => sum + text.length + valueText(separator).length, 0));
  return texts.join(valueText(separator));
}

const padding = (name: string, before: boolean): FunctionDefinition =>
  define(name, 'both', [
    overload([STRING, INT], STRING, (text: string, length: Integer) => pad(text, length, ' ', before)),
    overload([STRING, INT, STRING], STRING, (text: string, length: Integer, fill: string) =>
      pad(text, length, fill, before),
    ),
  ]);

export const ROW_TEXT_FUNCTIONS: readonly FunctionDefinition[] = [
  define('upper', 'both', [overload([STRING], STRING, (text: string) => limited(text.toUpperCase()))]),
  define('lower', 'both', [overload([STRING], STRING, (text: string) => limited(text.toLowerCase()))]),
  slowEdit('title', titleCase),
  define('left', 'both', [overload([STRING, INT], STRING, firstPoints)]),
  define('right', 'both', [overload([STRING, INT], STRING, lastPoints)]),
  padding('pad_left', true),
  padding('pad_right', false),
  slowEdit('strip_accents', stripAccents),
  define('digits', 'both', [overload([STRING], STRING, (text: string) => text.replace(/[^0-9]+/g, ''))]),
  define(
    'extract',
    'both',
    [
      { parameters: [STRING, STRING], result: STRING, prepare: extractor },
      { parameters: [STRING, STRING, INT], result: STRING, prepare: extractor },
      { parameters: [STRING, STRING, STRING], result: STRING, prepare: extractor },
    ],
    { literals: [1, 2], check: checkExtract },
  ),
  define('replace_re', 'both', [{ parameters: [STRING, STRING, STRING], result: STRING, prepare: replacer }], {
    literals: [1, 2],
    check: checkReplace,
  }),
  define('split_part', 'both', [overload([STRING, STRING, INT], STRING, splitPart)]),
  define('concat_ws', 'function', [{ parameters: [DYN, DYN], rest: DYN, result: STRING, prepare: () => concatWith }], {
    acceptsNull: true,
  }),
];
