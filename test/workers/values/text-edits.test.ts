// Edits of texts that are long enough for the path over pieces: the result equals that of the same texts in short parts.
import assert from 'node:assert/strict';
import t from 'tap';
import { collapseWhiteSpace, reversed, sentenceCase, titleCase } from '../../../workers/values/text-edits.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const unit = fc.constantFrom(
  ...[
    'a',
    'Z',
    'é',
    'ß',
    'İ',
    'i\u0307',
    'ı',
    'ǆ',
    'ﬁ',
    'Σ',
    "'",
    '\u2019',
    '\u0301',
    '\u064b',
    '0',
    '9',
    ' ',
    '.',
    '!',
    '?',
  ],
  ...['\u00a0', '\u0085', '\u3000', '\ufeff', '\u200b', 'ﷺ', '😀', '𐐨', '\ud800', '\udc00', '-', '\n'],
);
const REPEATS = 400;

t.test('words and sentences of a long text are those of its pieces', async () => {
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 40 }), (piece) => {
      // After this piece, each repetition starts afresh.
      const ended = `${piece}. `;
      const padded = `${ended.repeat(REPEATS)}${'. '.repeat(4096)}`;
      for (const edit of [titleCase, sentenceCase])
        assert.equal(edit(padded), `${edit(ended).repeat(REPEATS)}${'. '.repeat(4096)}`);
    }),
    { numRuns: sweep({ short: 25, long: 2_000 }) },
  );
});

t.test('runs of white space follow Unicode', async (t) => {
  for (let point = 0; point <= 0xffff; point++) {
    const character = String.fromCharCode(point);
    const expected = /\p{White_Space}/u.test(character) ? 'x x' : `x${character}x`;
    if (collapseWhiteSpace(`x${character}x`) !== expected) t.fail(`U+${point.toString(16)}`);
  }
  t.equal(collapseWhiteSpace('\u3000 \u00a0a\n\tb\u0085'), ' a b ');
});

t.test('a text is turned around by code points, halves of pairs among them', async () => {
  const point = fc.constantFrom('a', 'é', '\u{1f600}', '\ud83d', '\ude00');
  fc.assert(
    fc.property(fc.string({ unit: point, maxLength: 20 }), (text) => {
      assert.equal(reversed(text), [...text].reverse().join(''));
    }),
  );
});
