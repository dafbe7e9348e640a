// Owns CEL's own functions on strings and its strings extension (format is format.ts).
import { reversed } from '../../values/text-edits.ts';
import { indexOfText } from '../../values/text-search.ts';
import { BOOL, BYTES, INT, listOf, mapOf, STRING, variable } from '../check/type.ts';
import type { Integer, ListValue, MapValue } from '../compile/value.ts';
import { countPoints } from '../syntax/text-point.ts';
import { type DocumentedFunction, define, documented, overload } from './definition.ts';
import {
  asciiLower,
  asciiUpper,
  characterAt,
  checkPattern,
  indexOf,
  joinList,
  lastIndexOf,
  prepareMatches,
  quote,
  replaceText,
  slowEdit,
  splitText,
  substring,
  trimText,
} from './edit-text.ts';

export const TEXT_FUNCTIONS: readonly DocumentedFunction[] = [
  documented(
    'size(value)',
    'Characters, bytes, elements or entries.',
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
    'Whether a part occurs; case counts, here as in the next two.',
    '"hello".contains("ell")',
    'true',
    define('contains', 'both', [
      overload([STRING, STRING], BOOL, (text: string, part: string) => indexOfText(text, part) >= 0),
    ]),
  ),
  documented(
    'text.startsWith(part)',
    'Whether it begins so.',
    '"hello".startsWith("he")',
    'true',
    define('startsWith', 'both', [
      overload([STRING, STRING], BOOL, (text: string, part: string) => text.startsWith(part)),
    ]),
  ),
  documented(
    'text.endsWith(part)',
    'Whether it ends so.',
    '"hello".endsWith("lo")',
    'true',
    define('endsWith', 'both', [overload([STRING, STRING], BOOL, (text: string, part: string) => text.endsWith(part))]),
  ),
  documented(
    'text.matches(pattern)',
    'Whether a regular expression (RE2) matches anywhere; ^ and $ hold the whole text.',
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
      overload([STRING, STRING], INT, indexOf),
      overload([STRING, STRING, INT], INT, indexOf),
    ]),
  ),
  documented(
    'text.lastIndexOf(part[, from])',
    'The index of the last occurrence, or -1.',
    '"abcb".lastIndexOf("b")',
    '3',
    define('lastIndexOf', 'both', [
      overload([STRING, STRING], INT, lastIndexOf),
      overload([STRING, STRING, INT], INT, lastIndexOf),
    ]),
  ),
  documented(
    'text.lowerAscii()',
    'Small letters, ASCII only.',
    '"AÉ".lowerAscii()',
    'aÉ',
    define('lowerAscii', 'both', [overload([STRING], STRING, asciiLower)]),
  ),
  documented(
    'text.upperAscii()',
    'Capital letters, ASCII only.',
    '"aé".upperAscii()',
    'Aé',
    define('upperAscii', 'both', [overload([STRING], STRING, asciiUpper)]),
  ),
  documented(
    'text.replace(part, by[, count])',
    'Every occurrence replaced.',
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
    'A list of the parts.',
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
    'Without blanks (of Unicode) at both ends.',
    '"  a ".trim()',
    'a',
    define('trim', 'both', [overload([STRING], STRING, trimText)]),
  ),
  documented(
    'text.reverse()',
    'The characters the other way round.',
    '"abc".reverse()',
    'cba',
    slowEdit('reverse', reversed),
  ),
  documented(
    'list.join([separator])',
    'Texts in one.',
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
    'As a literal of the language.',
    'strings.quote("a\\"b")',
    '"a\\"b"',
    define('strings.quote', 'function', [overload([STRING], STRING, quote)]),
  ),
];
