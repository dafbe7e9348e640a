// Plain numbers are the same durations on the fast path as via nanoseconds.
import { test } from 'tap';
import { DURATION_UNITS, durationIn, plainDurationReader, readDuration } from '../../../workers/values/durations.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';

const digits = (most: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: most });
const text = fc.oneof(
  fc.tuple(digits(12), digits(8)).map(([whole, fraction]) => `${whole}.${fraction}`),
  digits(12),
  fc.constantFrom('3472222', '3472223', '99999999', '0', '0.000001', '00.10', '1.', '.5', '-1', ' 7', '1:30', '1e3'),
);
const unit = fc.constantFrom(...DURATION_UNITS);

test('each number on the fast path equals the result of the slow path', async (t) => {
  let read = 0;
  fc.assert(
    fc.property(text, unit, unit, (each, plain, wanted) => {
      const found = plainDurationReader({ plain }, wanted)?.(each) ?? null;
      if (found === null) return;
      read += 1;
      const duration = readDuration(each, { plain });
      const expected = duration === null ? null : durationIn(duration, wanted);
      if (String(found) !== String(expected) || found.scale !== expected?.scale)
        throw new Error(`${each} ${plain} in ${wanted}: ${found}, not ${expected}`);
    }),
    { numRuns: sweep({ short: 5000, long: 50_000 }) },
  );
  t.ok(read > 1000, `${read} were read so`);
});

test('the fast path leaves other texts, and durations beyond ten thousand years', async (t) => {
  const read = plainDurationReader({ plain: 'd' }, 's')!;
  for (const each of ['', ' 1', '-1', '1,5', '1:30', '99999999', '1.1234567']) t.equal(read(each), null, each);
  t.equal(String(read('1.5')), '129600');
  t.equal(plainDurationReader({ plain: 's' }, 'min'), null, 'what does not divide');
  t.equal(plainDurationReader({}, 's'), null);
  t.equal(plainDurationReader({ plain: 's', decimal: ',' }, 's'), null);
});
