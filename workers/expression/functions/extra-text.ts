// Owns our functions on texts: upper, lower, title, left, right, padding, patterns, splitting and joining.
import { stripAccents, titleCase } from '../../values/text-edits.ts';
import { splitText } from '../../values/text-search.ts';
import { DYN, INT, STRING } from '../check/type.ts';
import { BAD_ARGUMENT } from '../compile/evaluation-error.ts';
import type { Integer, Value } from '../compile/value.ts';
import { valueText } from '../compile/value-text.ts';
import type { PatternMatch, RegularExpression } from '../patterns/regular-expression.ts';
import { TEXT_LENGTH_MAX } from '../syntax/limits.ts';
import { checkLength, countPoints, firstPoints, lastPoints, limited } from '../syntax/text-point.ts';
import {
  type Constants,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  overload,
} from './definition.ts';
import { chargeWalk, checkPattern, PLACES_PER_STEP, patternOf, slowEdit } from './edit-text.ts';

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
  return pieces === null
    ? `A $ in the replacement names no group: write $1, \${1} before a digit, or $$ for a dollar.`
    : null;
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
  const parts = splitText(text, separator);
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

export const EXTRA_TEXT_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'upper(text)',
    'Capital letters, by Unicode.',
    'upper("Straße")',
    'STRASSE',
    define('upper', 'both', [overload([STRING], STRING, (text: string) => limited(text.toUpperCase()))]),
  ),
  documented(
    'lower(text)',
    'Small letters, by Unicode.',
    'lower("ÉTÉ")',
    'été',
    define('lower', 'both', [overload([STRING], STRING, (text: string) => limited(text.toLowerCase()))]),
  ),
  documented(
    'title(text)',
    'A capital at the start of every word.',
    'title("anna MÜLLER")',
    'Anna Müller',
    slowEdit('title', titleCase),
  ),
  documented(
    'left(text, count)',
    'The first characters.',
    'left("DE123", 2)',
    'DE',
    define('left', 'both', [overload([STRING, INT], STRING, firstPoints)]),
  ),
  documented(
    'right(text, count)',
    'The last characters.',
    'right("DE123", 3)',
    '123',
    define('right', 'both', [overload([STRING, INT], STRING, lastPoints)]),
  ),
  documented(
    'pad_left(text, length[, character])',
    'Filled in front (with spaces).',
    'pad_left("7", 3, "0")',
    '007',
    padding('pad_left', true),
  ),
  documented(
    'pad_right(text, length[, character])',
    'Filled behind.',
    'pad_right("7", 3, ".")',
    '7..',
    padding('pad_right', false),
  ),
  documented(
    'strip_accents(text)',
    'Letters without accents: é as e, ø as o, ß as ss.',
    'strip_accents("Łódź")',
    'Lodz',
    slowEdit('strip_accents', stripAccents),
  ),
  documented(
    'digits(text)',
    'The digits 0 to 9 alone.',
    'digits("+49 30-12")',
    '493012',
    define('digits', 'both', [overload([STRING], STRING, (text: string) => text.replace(/[^0-9]+/g, ''))]),
  ),
  documented(
    'extract(text, pattern[, group])',
    'What a group of a regular expression found (the first, or the whole match); null without a match.',
    'extract("INV-0042", "0*([1-9][0-9]*)")',
    '42',
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
  ),
  documented(
    'replace_re(text, pattern, by)',
    `Every match of a regular expression replaced; $1 is a group (\${1} before a digit), $$ a dollar.`,
    'replace_re("2024-05", "([0-9]+)-([0-9]+)", "$2/$1")',
    '05/2024',
    define('replace_re', 'both', [{ parameters: [STRING, STRING, STRING], result: STRING, prepare: replacer }], {
      literals: [1, 2],
      check: checkReplace,
    }),
  ),
  documented(
    'split_part(text, separator, number)',
    'A part by its number from 1, from the end when negative; null where there is none.',
    'split_part("a;b;c", ";", -1)',
    'c',
    define('split_part', 'both', [overload([STRING, STRING, INT], STRING, splitPart)]),
  ),
  documented(
    'concat_ws(separator, value...)',
    'Values that are not null, joined; + with a null would give null.',
    'concat_ws(", ", "a", null, 3)',
    'a, 3',
    define(
      'concat_ws',
      'function',
      [{ parameters: [DYN, DYN], rest: DYN, result: STRING, prepare: () => concatWith }],
      {
        acceptsNull: true,
      },
    ),
  ),
];
