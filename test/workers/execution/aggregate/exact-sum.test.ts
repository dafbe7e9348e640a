// Sums and means of doubles against exact fractions.

import { test } from 'tap';
import { ExactSum } from '../../../../workers/execution/aggregate/sums.ts';
import { fc } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';

function meanOf(values: readonly number[]): number {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum.mean(values.length);
}

/** The value of a double as a multiple of 2^-1074. */
function inUnits(value: number): bigint {
  let [size, shift] = [Math.abs(value), 0n];
  while (!Number.isInteger(size)) {
    size *= 2;
    shift++;
  }
  return (BigInt(size) << (1074n - shift)) * (value < 0 ? -1n : 1n);
}

function neighbours(value: number): number[] {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const word = bits.getBigUint64(0);
  return [word - 1n, word + 1n].map((near) => {
    bits.setBigUint64(0, near);
    return Math.sign(value) * bits.getFloat64(0);
  });
}

test('no other double is nearer to the mean', async () => {
  const double = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }),
    fc.integer({ min: -1000, max: 1000 }).map((n) => n / 10),
    fc.constantFrom(Number.MIN_VALUE, 3 * Number.MIN_VALUE, 2 ** -1022, 1, 1 + Number.EPSILON, 2 ** 53, -0.1),
  );
  fc.assert(
    fc.property(fc.array(double, { minLength: 1, maxLength: 12 }), (values) => {
      const mean = meanOf(values);
      const sum = values.reduce((total, value) => total + inUnits(value), 0n);
      const distance = (candidate: number): bigint => {
        const rest = sum - inUnits(candidate) * BigInt(values.length);
        return rest < 0n ? -rest : rest;
      };
      if (mean === 0) return distance(0) <= distance(Number.MIN_VALUE) && distance(0) <= distance(-Number.MIN_VALUE);
      return neighbours(mean).every((near) => distance(mean) <= distance(near));
    }),
    { numRuns: sweep({ short: 1_250, long: 100_000 }) },
  );
});

test('a mean is rounded once', async (t) => {
  // The sum alone is rounded to 2^53 + 4 before the division.
  t.equal(meanOf([2 ** 53, 1, 2]), 3002399751580331.5, 'not the third of a rounded sum');
  t.equal(meanOf([0.1, 0.2, 0.3]), 0.2);
  t.equal(meanOf([Number.MAX_VALUE, Infinity]), Infinity);
  t.ok(Number.isNaN(meanOf([Infinity, -Infinity])));
  t.equal(meanOf([5]), 5);
});
