// CEL's string functions and its strings extension, and the implementations that functions on texts share.

import {
  BETWEEN_CHARACTERS,
  editInPieces,
  firstCharacters,
  insertBetween,
  insertBetweenInSlices,
  lowerAscii,
  lowerAsciiInSlices,
  PIECE_UNITS,
  reversed,
  reversedInSlices,
  type TextWork,
  upperAscii,
  upperAsciiInSlices,
} from '../../values/text-edits.ts';
import {
  countInSlices,
  indexOfInSlices,
  indexOfText,
  isLongSearch,
  lastIndexOfInSlices,
  lastIndexOfText,
  replaceAllInSlices,
  replaceAllText,
  replaceFirstInSlices,
  splitText as splitAt,
  splitInSlices,
} from '../../values/text-search.ts';
import { BOOL, BYTES, INT, listOf, mapOf, STRING, variable } from '../check/type.ts';
import type { LongEdit } from '../compile/long-edits.ts';
import {
  BAD_ARGUMENT,
  INDEX_OUT_OF_RANGE,
  type Integer,
  type ListValue,
  type MapValue,
  TOO_MANY_STEPS,
} from '../compile/value.ts';
import { programForLong, testInSlices } from '../patterns/long-find.ts';
import { canTest, compileRegularExpression, type RegularExpression } from '../patterns/regular-expression.ts';
import { STEP_LENGTH, STEP_PATTERN_LENGTH, STEP_PATTERN_WORK } from '../syntax/limits.ts';
import { checkLength, countPoints, limited, unitPosition } from '../syntax/text-point.ts';
import {
  type CallStyle,
  type Context,
  type DocumentedFunction,
  define,
  documented,
  type FunctionDefinition,
  overload,
} from './definition.ts';

// Implementations of functions on texts: search, patterns, parts and replacements, including the steps that they
// charge.

/** Number of compiled patterns that a call caches if its pattern is not a literal. */
const PATTERNS_KEPT_MAX = 16;

/** Number of matches that one step replaces: each costs a few hundred nanoseconds, and a step is worth about 10 µs. */
export const PLACES_PER_STEP = 64;

/** White space that trim() removes: Unicode's White_Space, regardless of the runtime's trim. */
const BLANK_RUN = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const LEADING_BLANKS = new RegExp(`^${BLANK_RUN}`);
const BLANK = new RegExp(`^${BLANK_RUN}$`);

/** Removes white space at both ends. */
export function trimText(text: string): string {
  const start = text.replace(LEADING_BLANKS, '');
  // Scan from the end without a pattern: a pattern with $ would try every run of white space.
  let end = start.length;
  while (end > 0 && BLANK.test(start[end - 1]!)) end--;
  return start.slice(0, end);
}

/** Returns a check of the literal pattern at a position. */
export function checkPattern(position: number) {
  return (constants: readonly unknown[]): string | null => {
    const pattern = constants[position];
    if (typeof pattern !== 'string') return null;
    const compiled = compileRegularExpression(pattern);
    return 'problem' in compiled ? compiled.problem : null;
  };
}

/** Compiles a pattern. A literal was checked before; an invalid pattern from a row throws BAD_ARGUMENT. */
export function patternOf(source: string): RegularExpression {
  const compiled = compileRegularExpression(source);
  if ('problem' in compiled) throw BAD_ARGUMENT;
  return compiled;
}

/** Charges the steps of searching a text for the matches of a pattern. */
export function chargeMatching({ charge }: Context, { program }: RegularExpression, text: string): void {
  charge(Math.floor((text.length * program) / STEP_PATTERN_WORK));
}

/** True if the pattern is found. re2js uses a DFA for this. */
function found({ charge, longEdits }: Context, pattern: RegularExpression, text: string): boolean {
  if (!canTest(pattern, text)) throw TOO_MANY_STEPS;
  if (pattern.engineName === 're2') charge(Math.floor(text.length / STEP_PATTERN_LENGTH));
  const long = programForLong(pattern, text);
  return long === null ? pattern.test(text) : longEdits.made(text.length, () => testInSlices(long, text));
}

function prepareMatches(context: Context, constants: readonly unknown[]) {
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

function placeOf({ longEdits }: Context, text: string, part: string, from = 0): number {
  if (!isLongSearch(text, part)) return indexOfText(text, part, from);
  return longEdits.made(text.length, () => indexOfInSlices(text, part, from));
}

const indexOf =
  (context: Context) =>
  (text: string, part: string, from: Integer = 0): number => {
    const found = placeOf(context, text, part, unitPosition(text, from));
    return found < 0 ? -1 : countPoints(text.slice(0, found));
  };

const lastIndexOf =
  ({ longEdits }: Context) =>
  (text: string, part: string, from?: Integer): number => {
    const start = from === undefined ? text.length : unitPosition(text, from);
    const found = isLongSearch(text, part)
      ? longEdits.made(text.length, () => lastIndexOfInSlices(text, part, start))
      : lastIndexOfText(text, part, start);
    return found < 0 ? -1 : countPoints(text.slice(0, found));
  };

function characterAt(text: string, index: Integer): string {
  const at = unitPosition(text, index);
  return at === text.length ? '' : String.fromCodePoint(text.codePointAt(at)!);
}

function substring(text: string, from: Integer, to?: Integer): string {
  if (to !== undefined && to < from) throw INDEX_OUT_OF_RANGE;
  return text.slice(unitPosition(text, from), to === undefined ? text.length : unitPosition(text, to));
}

/** Replaces the first `count` matches; all matches if it is negative. */
function replaceText(context: Context, text: string, part: string, by: string, count: Integer = -1): string {
  const places = countPlaces(context, text, part);
  context.charge(Math.floor(places / PLACES_PER_STEP));
  checkLength(text.length + places * by.length);
  const { longEdits } = context;
  if (part === '') return insertFirst(context, text, by, count);
  if (count < 0 || count >= places) {
    return longEdits.edited(
      text,
      () => replaceAllText(text, part, by),
      () => replaceAllInSlices(text, part, by),
    );
  }
  return longEdits.edited(
    text,
    () => replaceFirst(text, part, by, Number(count)),
    () => replaceFirstInSlices(text, part, by, Number(count)),
  );
}

/** Replaces the first `count` matches. The text has at least as many. */
function replaceFirst(text: string, part: string, by: string, count: number): string {
  let result = '';
  let end = 0;
  for (let replaced = 0; replaced < count; replaced++) {
    const at = indexOfText(text, part, end);
    result += text.slice(end, at) + by;
    end = at + part.length;
  }
  return result + text.slice(end);
}

/** An empty part matches before every character and at the end. */
function insertFirst({ longEdits }: Context, text: string, by: string, count: Integer): string {
  if (count === 0) return text;
  // The last place is after these characters.
  const before = count < 0 ? text : firstCharacters(text, Number(count) - 1);
  const inserted = longEdits.edited(
    before,
    () => insertBetween(before, by),
    () => insertBetweenInSlices(before, by),
  );
  return inserted + text.slice(before.length);
}

function countPlaces({ longEdits }: Context, text: string, part: string): number {
  if (part === '') return text.length + 1;
  if (text.length > PIECE_UNITS) return longEdits.made(text.length, () => countInSlices(text, part));
  let count = 0;
  for (let at = indexOfText(text, part); at >= 0; at = indexOfText(text, part, at + part.length)) count++;
  return count;
}

function splitText(context: Context, text: string, separator: string, limit: Integer = -1): readonly string[] {
  if (limit === 0) return [];
  context.charge(separator === '' ? countPoints(text) : countPlaces(context, text, separator) + 1);
  const pieces = separator === '' ? [...text] : piecesOf(context, text, separator);
  if (limit < 0 || limit >= pieces.length) return pieces;
  const kept = pieces.slice(0, Number(limit) - 1);
  return [...kept, pieces.slice(Number(limit) - 1).join(separator)];
}

function piecesOf({ longEdits }: Context, text: string, separator: string): readonly string[] {
  if (!isLongSearch(text, separator)) return splitAt(text, separator);
  return longEdits.made(text.length, () => splitInSlices(text, separator));
}

function joinList(context: Context, list: ListValue, separator = ''): string {
  context.charge(list.length);
  let length = separator.length * list.length;
  for (const element of list) {
    if (typeof element !== 'string') throw BAD_ARGUMENT;
    length += element.length;
  }
  checkLength(length);
  return list.join(separator);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
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

function escaped(text: string): string {
  return text.replace(/["\\\x07-\r]/g, (character) => ESCAPES.get(character) ?? character);
}

/** Quotes a text as a literal of the language. */
function quote(text: string): string {
  return `"${escaped(text)}"`;
}

/** Like quote, for long texts. */
function* quoteInSlices(text: string): TextWork {
  return `"${yield* editInPieces(text, BETWEEN_CHARACTERS, escaped)}"`;
}

/** Defines an edit whose work on a long text may pause. */
export function longEdit(
  name: string,
  edit: (text: string) => string,
  inSlices: LongEdit,
  style: CallStyle = 'both',
): FunctionDefinition {
  return define(name, style, [
    {
      parameters: [STRING],
      result: STRING,
      prepare:
        ({ longEdits }) =>
        (text: string) =>
          limited(longEdits.edited(text, edit, inSlices)),
    },
  ]);
}

/**
 * Defines edits that cost a few hundred nanoseconds per character: they charge four times the steps of reading the
 * text.
 */
export const slowEdit = (name: string, edit: (text: string) => string, inSlices: LongEdit): FunctionDefinition =>
  define(name, 'both', [
    {
      parameters: [STRING],
      result: STRING,
      prepare:
        ({ charge, longEdits }) =>
        (text: string) => {
          charge(Math.floor((3 * text.length) / STEP_LENGTH));
          return limited(longEdits.edited(text, edit, inSlices));
        },
    },
  ]);

// CEL's string functions and its strings extension (for format see conversion.ts).

export const TEXT_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'size(value)',
    'Number of characters, bytes, elements or entries.',
    'size("πέντε")',
    '5',
    define('size', 'both', [
      overload([STRING], INT, countPoints),
      overload([BYTES], INT, (bytes: Uint8Array) => bytes.length),
      overload([listOf(variable('A'))], INT, (list: ListValue) => list.length),
      overload([mapOf(variable('A'), variable('B'))], INT, (map: MapValue) => map.size),
    ]),
  ),
  documented(
    'text.contains(part)',
    'Whether a part occurs. Case matters, here and in the next two functions.',
    '"hello".contains("ell")',
    'true',
    define('contains', 'both', [
      {
        parameters: [STRING, STRING],
        result: BOOL,
        prepare: (context) => (text: string, part: string) => placeOf(context, text, part) >= 0,
      },
    ]),
  ),
  documented(
    'text.startsWith(part)',
    'Whether the text starts with a part.',
    '"hello".startsWith("he")',
    'true',
    define('startsWith', 'both', [
      overload([STRING, STRING], BOOL, (text: string, part: string) => text.startsWith(part)),
    ]),
  ),
  documented(
    'text.endsWith(part)',
    'Whether the text ends with a part.',
    '"hello".endsWith("lo")',
    'true',
    define('endsWith', 'both', [overload([STRING, STRING], BOOL, (text: string, part: string) => text.endsWith(part))]),
  ),
  documented(
    'text.matches(pattern)',
    'Whether a regular expression (RE2) matches a part; ^ and $ anchor it to the whole text.',
    '"a1".matches("^[a-z][0-9]$")',
    'true',
    define('matches', 'both', [{ parameters: [STRING, STRING], result: BOOL, prepare: prepareMatches }], {
      check: checkPattern(1),
    }),
  ),
  documented(
    'text.charAt(index)',
    'The character at an index from 0.',
    '"abc".charAt(1)',
    'b',
    define('charAt', 'both', [overload([STRING, INT], STRING, characterAt)]),
  ),
  documented(
    'text.indexOf(part[, from])',
    'The index of the first occurrence, or -1.',
    '"abcb".indexOf("b")',
    '1',
    define('indexOf', 'both', [
      { parameters: [STRING, STRING], result: INT, prepare: indexOf },
      { parameters: [STRING, STRING, INT], result: INT, prepare: indexOf },
    ]),
  ),
  documented(
    'text.lastIndexOf(part[, from])',
    'The index of the last occurrence, or -1.',
    '"abcb".lastIndexOf("b")',
    '3',
    define('lastIndexOf', 'both', [
      { parameters: [STRING, STRING], result: INT, prepare: lastIndexOf },
      { parameters: [STRING, STRING, INT], result: INT, prepare: lastIndexOf },
    ]),
  ),
  documented(
    'text.lowerAscii()',
    'Lower case, ASCII only.',
    '"AÉ".lowerAscii()',
    'aÉ',
    longEdit('lowerAscii', lowerAscii, lowerAsciiInSlices),
  ),
  documented(
    'text.upperAscii()',
    'Upper case, ASCII only.',
    '"aé".upperAscii()',
    'Aé',
    longEdit('upperAscii', upperAscii, upperAsciiInSlices),
  ),
  documented(
    'text.replace(part, by[, count])',
    'Replaces every occurrence.',
    '"a-b-c".replace("-", "/")',
    'a/b/c',
    define('replace', 'both', [
      {
        parameters: [STRING, STRING, STRING],
        result: STRING,
        prepare: (context) => (text: string, part: string, by: string) => replaceText(context, text, part, by),
      },
      {
        parameters: [STRING, STRING, STRING, INT],
        result: STRING,
        prepare: (context) => (text: string, part: string, by: string, count: Integer) =>
          replaceText(context, text, part, by, count),
      },
    ]),
  ),
  documented(
    'text.split(separator[, limit])',
    'Splits a text into a list of parts.',
    '"a,b".split(",")',
    '["a","b"]',
    define('split', 'both', [
      {
        parameters: [STRING, STRING],
        result: listOf(STRING),
        prepare: (context) => (text: string, separator: string) => splitText(context, text, separator),
      },
      {
        parameters: [STRING, STRING, INT],
        result: listOf(STRING),
        prepare: (context) => (text: string, separator: string, limit: Integer) =>
          splitText(context, text, separator, limit),
      },
    ]),
  ),
  documented(
    'text.substring(from[, to])',
    'Characters from an index (from 0) up to another.',
    '"abcd".substring(1, 3)',
    'bc',
    define('substring', 'both', [
      overload([STRING, INT], STRING, substring),
      overload([STRING, INT, INT], STRING, substring),
    ]),
  ),
  documented(
    'text.trim()',
    'Removes white space (according to Unicode) at both ends.',
    '"  a ".trim()',
    'a',
    define('trim', 'both', [overload([STRING], STRING, trimText)]),
  ),
  documented(
    'text.reverse()',
    'The characters in reverse order.',
    '"abc".reverse()',
    'cba',
    slowEdit('reverse', reversed, reversedInSlices),
  ),
  documented(
    'list.join([separator])',
    'Joins texts.',
    '["a", "b"].join("-")',
    'a-b',
    define('join', 'method', [
      {
        parameters: [listOf(STRING)],
        result: STRING,
        prepare: (context) => (list: ListValue) => joinList(context, list),
      },
      {
        parameters: [listOf(STRING), STRING],
        result: STRING,
        prepare: (context) => (list: ListValue, separator: string) => joinList(context, list, separator),
      },
    ]),
  ),
  documented(
    'strings.quote(text)',
    'A literal of the expression language.',
    'strings.quote("a\\"b")',
    '"a\\"b"',
    longEdit('strings.quote', quote, quoteInSlices, 'function'),
  ),
];
