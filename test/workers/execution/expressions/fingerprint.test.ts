// The kernel and the closures compute the same fingerprints, for all words, punctuation and control characters.
import { test } from 'tap';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { Comparison } from './comparison.ts';

test('fingerprints of many words, signs and controls', async (t) => {
  const comparison = new Comparison({ t: 'text' });
  const expression = comparison.checked('fingerprint(t)')!;
  const word = fc.string({ unit: fc.constantFrom(...'abAB01-_.^`$+\u0001\u001c\u007f'), maxLength: 6 });
  const between = fc.constantFrom(' ', '  ', '\t', '\n', '\v', ' - ', '\u00a0', 'é');
  const many = fc.array(fc.tuple(word, between), { maxLength: 60, size: 'max' }).map((parts) => parts.flat().join(''));
  const cells = fc.array(fc.option(many, { nil: null, freq: 9 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(cells, (texts) => {
      const rows = texts.map((text) => [text]);
      comparison.sameColumn(expression, rows);
    }),
    { numRuns: sweep({ short: 25, long: 2000 }) },
  );
  t.pass('all are the same');
});
