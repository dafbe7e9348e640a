// The histogram of a profile: each row is in the interval that a filter with the texts of its edges would keep.
import { test } from 'tap';
import { ColumnProfile, HISTOGRAM_BARS, type Profile } from '../../../workers/watch/column-profile.ts';
import { fc, seed } from '../../random.ts';

function profileOf(type: 'integer' | 'number' | 'date', values: readonly (number | string)[]): Profile {
  const profile = new ColumnProfile(type);
  for (const value of values) profile.add(String(value), value);
  return profile.profile;
}

function countsBetween(values: readonly number[], starts: readonly number[]): readonly number[] {
  return Array.from({ length: HISTOGRAM_BARS }, (_, bar) => {
    const [from, to] = [starts[bar - 1] ?? Number.NEGATIVE_INFINITY, starts[bar] ?? Number.POSITIVE_INFINITY];
    return values.filter((value) => value >= from && value < to).length;
  });
}

test('intervals are those of their edges', async (t) => {
  const integers = fc.array(fc.integer(), { minLength: 1, maxLength: 30 });
  const numbers = fc.array(fc.double({ noNaN: true, min: -1e15, max: 1e15 }), { minLength: 1, maxLength: 30 });
  const check = (type: 'integer' | 'number', values: readonly number[]): void => {
    const { histogram, edges } = profileOf(type, values);
    const starts = edges.map(Number);
    if (JSON.stringify(histogram) !== JSON.stringify(countsBetween(values, starts)))
      throw new Error(`${type}: ${JSON.stringify({ histogram, edges })}`);
  };
  fc.assert(
    fc.property(integers, (values) => check('integer', values)),
    { seed },
  );
  fc.assert(
    fc.property(numbers, (values) => check('number', values)),
    { seed },
  );
  t.equal(profileOf('integer', [7]).edges.length, HISTOGRAM_BARS - 1);
});

test('edges are rounded to what people read', async (t) => {
  t.strictSame(profileOf('integer', [0, 1200]).edges.slice(0, 3), ['100', '200', '300']);
  t.strictSame(profileOf('number', [0.5, 49.5]).edges.slice(0, 2), ['4.6', '8.7']);
  t.strictSame(profileOf('date', ['2026-01-01', '2026-12-31']).edges.slice(0, 2), ['2026-02-01', '2026-03-03']);
});
