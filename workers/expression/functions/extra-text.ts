// Our functions on texts, including their similarity.
import { COMPARED_LENGTH_MAX, fingerprintOf, jaroWinkler, longFingerprint } from '../../values/similarity.ts';
import {
  done,
  lowerCase,
  lowerCaseInSlices,
  PIECE_UNITS,
  stripAccents,
  stripAccentsInSlices,
  type TextWork,
  titleCase,
  titleCaseInSlices,
  upperCase,
  upperCaseInSlices,
} from '../../values/text-edits.ts';
import { countInSlices, partInSlices, splitText } from '../../values/text-search.ts';
import { DOUBLE, DYN, INT, STRING } from '../check/type.ts';
import { BAD_ARGUMENT, type Integer, TEXT_TOO_LONG, type Value } from '../compile/value.ts';
import { valueText } from '../compile/value-text.ts';
import { firstInSlices, isLongFind, matchesInSlices } from '../patterns/long-find.ts';
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
import { chargeMatching, checkPattern, longEdit, PLACES_PER_STEP, patternOf, slowEdit } from './text.ts';

// Our functions for the similarity of texts.

/** Number of character comparisons per step. */
const COMPARED_PER_STEP = 64;

function similarity(context: Context) {
  return (left: string, right: string): number => {
    const [a, b] = [pointsOf(left), pointsOf(right)];
    context.charge(Math.floor((a.length * b.length) / COMPARED_PER_STEP));
    return jaroWinkler(a, b);
  };
}

function pointsOf(text: string): readonly string[] {
  // A code point has at most two UTF-16 units.
  if (text.length > COMPARED_LENGTH_MAX * 2) throw TEXT_TOO_LONG;
  const points = [...text];
  if (points.length > COMPARED_LENGTH_MAX) throw TEXT_TOO_LONG;
  return points;
}

export const EXTRA_SIMILARITY_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'fingerprint(text)',
    "A key that is equal for different spellings of a name, like OpenRefine's fingerprint: lower case, without accents and punctuation, with sorted and distinct words.",
    'fingerprint("Müller,  Anna") == fingerprint("anna MULLER")',
    'true',
    longEdit('fingerprint', fingerprintOf, longFingerprint),
  ),
  documented(
    'similarity(a, b)',
    'Jaro-Winkler similarity of two texts (1990), from 0 to 1: 1 means equal, and values above 0.9 are often typing errors. Half transpositions are rounded down, and a common prefix counts only above 0.7. Case matters; each text has at most 1,000 characters (TOO_LONG).',
    'similarity("MARTHA", "MARHTA") > 0.96',
    'true',
    define('similarity', 'both', [{ parameters: [STRING, STRING], result: DOUBLE, prepare: similarity }]),
  ),
];

// Our functions on texts: upper, lower, title, left, right, padding, patterns, splitting and joining.

function pad(text: string, length: Integer, fill: string, before: boolean): string {
  checkLength(Number(length));
  if (countPoints(fill) !== 1) throw BAD_ARGUMENT;
  const missing = Number(length) - countPoints(text);
  if (missing <= 0) return text;
  return limited(before ? fill.repeat(missing) + text : text + fill.repeat(missing));
}

/**
 * The text of a group, by number or name. Without a group argument, the first group or, if the pattern has no groups,
 * the whole match.
 */
function extractor(context: Context, constants: Constants) {
  const pattern = patternOf(constants[1] as string);
  const group = groupOf(pattern, constants[2]);
  return (text: string) => {
    chargeMatching(context, pattern, text);
    if (!isLongFind(pattern, text)) return pattern.first(text)?.groups[group] ?? null;
    return context.longEdits.made(text.length, () => longExtract(pattern, group, text));
  };
}

function* longExtract(
  pattern: RegularExpression,
  group: number,
  text: string,
): Generator<undefined, string | null, undefined> {
  return (yield* firstInSlices(pattern, text))?.[group] ?? null;
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

/** Splits a replacement into texts and group numbers: `$1`, `${name}`; `$$` is a dollar sign. */
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

/** Replaces every match. */
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
  // Upper bound of the result's length for any matches.
  const longest = text.length * (1 + groups) + (text.length + 1) * literal;
  const { substitute } = pattern;
  const isSubstituted = substitute !== null && longest <= TEXT_LENGTH_MAX;
  if (isSubstituted) context.charge(Math.floor(text.length / (2 * PLACES_PER_STEP)));
  else chargeMatching(context, pattern, text);
  const inSlices = function* (): TextWork {
    let parts: string[] = [];
    let length = 0;
    let end = 0;
    let count = 0;
    for (const match of matchesInSlices(pattern, text)) {
      if (match === undefined) {
        yield;
        continue;
      }
      if (++count % PLACES_PER_STEP === 0 && !isSubstituted) context.longEdits.chargeWithin(1);
      const piece = text.slice(end, match.start) + fill(match);
      length += piece.length;
      checkLength(length);
      parts.push(piece);
      end = match.end;
      if (parts.length < PARTS_MAX) continue;
      parts = [parts.join('')];
      yield;
    }
    return limited(parts.join('') + text.slice(end));
  };
  const replaced = (): string =>
    isSubstituted ? substitute(text, pieces.map(scriptPiece).join('')) : done(inSlices());
  if (isLongFind(pattern, text)) return context.longEdits.made(text.length, inSlices);
  return context.longEdits.edited(text, replaced, inSlices);
}

/** Replacements between two pauses. */
const PARTS_MAX = 1024;

/**
 * A piece in JavaScript's replacement syntax. Two digits, so that a digit after a group is not read as part of its
 * number.
 */
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

/** The part with the given number, starting at 1, or from the end if negative; null if it does not exist. */
const splitPart =
  ({ longEdits }: Context) =>
  (text: string, separator: string, part: Integer): string | null => {
    if (separator === '' || part === 0) throw BAD_ARGUMENT;
    const number = Number(part) > 0 ? Number(part) - 1 : Number(part);
    if (text.length <= PIECE_UNITS) return splitText(text, separator).at(number) ?? null;
    return longEdits.made(text.length, () => longPart(text, separator, number));
  };

/** @param number from 0, or from the end if negative */
function* longPart(text: string, separator: string, number: number): Generator<undefined, string | null, undefined> {
  const parts = number < 0 ? (yield* countInSlices(text, separator)) + 1 : 0;
  return number + parts < 0 ? null : yield* partInSlices(text, separator, number + parts);
}

/** Joins all values except nulls with the separator. */
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
    'Upper case, according to Unicode.',
    'upper("Straße")',
    'STRASSE',
    longEdit('upper', upperCase, upperCaseInSlices),
  ),
  documented(
    'lower(text)',
    'Lower case, according to Unicode.',
    'lower("ÉTÉ")',
    'été',
    longEdit('lower', lowerCase, lowerCaseInSlices),
  ),
  documented(
    'title(text)',
    'Title case: a capital at the start of every word.',
    'title("anna MÜLLER")',
    'Anna Müller',
    slowEdit('title', titleCase, titleCaseInSlices),
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
    'Adds characters (spaces by default) at the start, up to a length.',
    'pad_left("7", 3, "0")',
    '007',
    padding('pad_left', true),
  ),
  documented(
    'pad_right(text, length[, character])',
    'Adds characters (spaces by default) at the end, up to a length.',
    'pad_right("7", 3, ".")',
    '7..',
    padding('pad_right', false),
  ),
  documented(
    'strip_accents(text)',
    'Removes accents: é becomes e, ø becomes o, ß becomes ss.',
    'strip_accents("Łódź")',
    'Lodz',
    slowEdit('strip_accents', stripAccents, stripAccentsInSlices),
  ),
  documented(
    'digits(text)',
    'Only the digits 0 to 9.',
    'digits("+49 30-12")',
    '493012',
    define('digits', 'both', [overload([STRING], STRING, (text: string) => text.replace(/[^0-9]+/g, ''))]),
  ),
  documented(
    'extract(text, pattern[, group])',
    'The match of a group of a regular expression (of the first group by default, or the whole match if there are no groups); null without a match.',
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
    `Replaces every match of a regular expression; $1 is a group (\${1} before a digit), $$ a dollar.`,
    'replace_re("2024-05", "([0-9]+)-([0-9]+)", "$2/$1")',
    '05/2024',
    define('replace_re', 'both', [{ parameters: [STRING, STRING, STRING], result: STRING, prepare: replacer }], {
      literals: [1, 2],
      check: checkReplace,
    }),
  ),
  documented(
    'split_part(text, separator, number)',
    'A part of a split text by its number from 1, or from the end if negative; null if it does not exist.',
    'split_part("a;b;c", ";", -1)',
    'c',
    define('split_part', 'both', [{ parameters: [STRING, STRING, INT], result: STRING, prepare: splitPart }]),
  ),
  documented(
    'concat_ws(separator, value...)',
    'Joins the values that are not null (+ with a null would give null).',
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
