// The size of batches follows what they cost; what a Run makes does not depend on it (any-pipeline.test.ts).
import { test } from 'tap';
import { BatchPace } from '../../workers/batch-pace.ts';

test('slow batches become smaller, down to a row, and larger again when they are quick', async (t) => {
  const pace = new BatchPace(4096);
  const sizes: number[] = [];
  for (let batch = 0; batch < 8; batch += 1) {
    pace.took(pace.rows, 1000);
    sizes.push(pace.rows);
  }
  t.same(sizes, [1024, 256, 64, 16, 4, 1, 1, 1]);
  pace.took(1, 30);
  t.equal(pace.rows, 1, 'four times that would be too long');
  for (let batch = 0; batch < 7; batch += 1) pace.took(pace.rows, 1);
  t.equal(pace.rows, 4096);
});

test('what counts is the batch as it came, which wide rows make short', async (t) => {
  const pace = new BatchPace(4096);
  pace.took(100, 41);
  t.equal(pace.rows, 25);
});
