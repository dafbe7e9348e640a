// Texts whose UTF-8 was read as windows-1252 become the texts that they were.
import { test } from 'tap';
import { repairEncoding, repairEncodingInSlices } from '../../../workers/values/double-encoding.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const windows1252 = new TextDecoder('windows-1252');
const misread = (text: string): string => windows1252.decode(Buffer.from(text, 'utf8'));

test('a text that was misread once or twice is repaired', async (t) => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 2 }), (given, times) => {
      // Texts that look misread are repaired further.
      fc.pre(repairEncoding(given) === given);
      let broken = given;
      for (let round = 0; round < times; round++) broken = misread(broken);
      return repairEncoding(broken) === given;
    }),
    { numRuns: sweep({ short: 300, long: 10_000 }) },
  );
  t.pass();
});

test('any text stays as it is if a character cannot be of a misread text', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (given) => repairEncoding(`${given}中`) === `${given}中`),
    { numRuns: sweep({ short: 300, long: 10_000 }) },
  );
  t.pass();
});

test('the work on long texts can pause', async (t) => {
  const text = 'Käse, '.repeat(20_000);
  const work = repairEncodingInSlices(misread(text));
  let step = work.next();
  let pauses = 0;
  for (; step.done !== true; step = work.next()) pauses++;
  t.ok(step.value === text);
  t.ok(pauses > 5, `${pauses} pauses`);
});
