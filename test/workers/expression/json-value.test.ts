// JSON texts that valueOfJsonText parses instead of JSON.parse: the same values, and whole numbers with all their digits.

import t from 'tap';
import { jsonText, valueOfJsonText } from '../../../workers/expression/compile/value-text.ts';
import { isValidJson, JSON_DEPTH_MAX } from '../../../workers/values/json-text.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

t.test('is what JSON.parse reads', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      // The key makes valueOfJsonText use its own parser.
      const text = JSON.stringify({ 1: value, a: [value, value] }, null, space);
      const read = valueOfJsonText(text);
      if (read === undefined) return false;
      return JSON.stringify(JSON.parse(jsonText(read))) === JSON.stringify(JSON.parse(text));
    }),
  );
});

t.test('whole numbers of 64 bits', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (whole) => {
      const read = valueOfJsonText(`[${whole},"${'1'.repeat(16)}"]`);
      return read !== undefined && jsonText(read) === `[${whole},"${'1'.repeat(16)}"]`;
    }),
  );
  t.equal(valueOfJsonText('18446744073709551616'), 2 ** 64, 'beyond them a double');
  t.equal(valueOfJsonText('1234567890123456.5'), 1234567890123456.5);
});

t.test('nested as deep as other JSON', async (t) => {
  const nested = (depth: number): string => `${'['.repeat(depth)}{"1":2}${']'.repeat(depth)}`;
  t.type(valueOfJsonText(nested(JSON_DEPTH_MAX - 1)), Array);
  t.equal(valueOfJsonText(nested(JSON_DEPTH_MAX)), undefined);
  t.equal(valueOfJsonText(nested(JSON_DEPTH_MAX).replace('"1"', '"x"')), undefined);
});

t.test('a text that is only walked through is sound where JSON.parse reads it', async (t) => {
  const pieces = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '1',
    '-0.5e+3',
    '01',
    'true',
    ' ',
    '\n',
    '\u0001',
  );
  const texts = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
    fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  );
  const changed = fc.tuple(texts, fc.nat(), pieces).map(([text, at, piece]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + piece + text.slice(place);
  });
  fc.assert(
    fc.property(fc.oneof(texts, changed), (text) => isValidJson(text, 200) === isParsed(text)),
    { numRuns: sweep({ short: 120, long: 2000 }) },
  );
  t.ok(isValidJson(`${'['.repeat(200)}${']'.repeat(200)}`, 200));
  t.notOk(isValidJson(`${'['.repeat(201)}${']'.repeat(201)}`, 200), 'deeper than is allowed');
});

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
