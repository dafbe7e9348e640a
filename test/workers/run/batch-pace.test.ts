// The number of rows that a step processes at once depends on the cost of the rows; the output does not depend on it
// (any-pipeline.test.ts).
import { test } from 'tap';
import { BatchPace } from '../../../workers/run/pipeline.ts';

test('slow slices become smaller, down to a row, and larger again when they are quick', async (t) => {
  const pace = new BatchPace(256);
  const sizes: number[] = [];
  for (let slice = 0; slice < 5; slice += 1) {
    pace.took(pace.rows, 32);
    sizes.push(pace.rows);
  }
  t.same(sizes, [64, 16, 4, 1, 1]);
  pace.took(1, 5);
  t.equal(pace.rows, 1, 'four times that would be too long');
  for (let slice = 0; slice < 7; slice += 1) pace.took(pace.rows, 1);
  t.equal(pace.rows, 4096);
});

test('what counts is the slice as it came, which wide rows make short', async (t) => {
  const pace = new BatchPace(256);
  pace.took(100, 16);
  t.equal(pace.rows, 50);
  pace.took(10, 0.1);
  t.equal(pace.rows, 50, 'a short one that was quick tells nothing of more rows');
});

test('there are never more rows than a batch may have', async (t) => {
  const pace = new BatchPace(256, 7);
  t.equal(pace.rows, 7);
  pace.took(7, 0);
  t.equal(pace.rows, 7);
});
