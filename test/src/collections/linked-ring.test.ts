// Entries of a ring are in order, and a removed entry is gone at once.
import t from 'tap';
import { LinkedRing } from '../../../src/collections/linked-ring.ts';

t.test('values are in the order of insertion, and removing is idempotent', async (t) => {
  const ring = new LinkedRing<string>();
  t.equal(ring.first, null);
  t.ok(ring.isEmpty);
  const [one, two, three] = ['one', 'two', 'three'].map((value) => ring.add(value));
  t.strictSame([...ring.values()], ['one', 'two', 'three']);
  two!.remove();
  two!.remove();
  t.strictSame([...ring.values()], ['one', 'three']);
  t.notOk(two!.isIn);
  one!.remove();
  t.equal(ring.first, three);
  three!.remove();
  t.ok(ring.isEmpty);
});

t.test('an iteration skips what is removed meanwhile', async (t) => {
  const ring = new LinkedRing<number>();
  const entries = [0, 1, 2, 3].map((value) => ring.add(value));
  const seen: number[] = [];
  for (const value of ring.values()) {
    seen.push(value);
    if (value === 0) for (const at of [0, 1]) entries[at]!.remove();
  }
  t.strictSame(seen, [0, 2, 3]);
});

t.test('a removed entry keeps no other entry alive', async (t) => {
  const ring = new LinkedRing<number>();
  const entries = [0, 1, 2].map((value) => ring.add(value));
  entries[1]!.remove();
  t.equal(entries[1]!.after, entries[1]);
});
