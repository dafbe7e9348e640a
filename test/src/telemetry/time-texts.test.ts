// Formatted times equal those of JavaScript, in any order of calls.

import t from 'tap';
import { TimeTexts } from '../../../src/telemetry/time-texts.ts';
import { fc } from '../../random.ts';

t.test('they are as Date writes them', async (t) => {
  t.equal(new TimeTexts().of(Date.UTC(2026, 1, 3, 4, 5, 6, 7)), '2026-02-03T04:05:06.007Z');
  const far = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
  // A few seconds that take turns, more of them than are kept.
  const near = fc.integer({ min: 0, max: 7_000 }).map((later) => Date.UTC(2026, 11, 31, 23, 59, 57) + later);
  fc.assert(
    fc.property(fc.array(fc.oneof(near, far), { maxLength: 40 }), (times) => {
      const texts = new TimeTexts();
      return times.every((time) => texts.of(time) === new Date(time).toISOString());
    }),
  );
});
