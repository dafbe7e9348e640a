// Parts of texts with characters beyond the basic multilingual plane, and with unpaired surrogates.
import { test } from 'tap';
import { firstPoints, lastPoints } from '../../../../workers/expression/syntax/text-point.ts';
import { fc } from '../../../random.ts';

test('the first and last characters are those of the list of characters', async (t) => {
  const text = fc.array(fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00'), { maxLength: 8 });
  fc.assert(
    fc.property(text, fc.integer({ min: -1, max: 9 }), (parts, count) => {
      const whole = parts.join('');
      const characters = [...whole];
      const left = Math.max(0, count);
      return (
        firstPoints(whole, count) === characters.slice(0, left).join('') &&
        lastPoints(whole, count) === characters.slice(Math.max(0, characters.length - left)).join('')
      );
    }),
  );
  t.pass();
});
