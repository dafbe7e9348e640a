// JSON texts that are read here and not by JSON.parse: the same values, whole numbers with all their digits.
import fc from 'fast-check';
import t from 'tap';
import { valueOfJsonText } from '../../../workers/expression/json-value.ts';
import { JSON_DEPTH_MAX, jsonText } from '../../../workers/expression/value-text.ts';

t.test('is what JSON.parse reads', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      // The key brings the text into the lane that reads it here.
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
