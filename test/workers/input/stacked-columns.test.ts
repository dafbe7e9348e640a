// The columns of a later table are found in the first one, whatever their order, in time that grows with their number.
import { test } from 'tap';
import { type FirstTable, placesInFirst } from '../../../workers/input/stacked-columns.ts';
import { done } from '../../../workers/scheduling/time-slices.ts';

const COLUMNS = 2_000;
const TEXTS = Array.from({ length: COLUMNS }, (_, column) => `c${column}`);

/** The first table, and how often its headers have been read. */
function countedTable(): { readonly first: FirstTable; reads: () => number } {
  let reads = 0;
  const texts = new Proxy(TEXTS, {
    get(target, key, receiver) {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  return { first: { texts, added: [], fields: null }, reads: () => reads };
}

test('columns in another order', async (t) => {
  const { first, reads } = countedTable();
  const places = done(placesInFirst(first, TEXTS.toReversed(), null));
  t.same(places, [...TEXTS.keys()].toReversed());
  t.ok(reads() < COLUMNS * 20, `${reads()} reads of ${COLUMNS} headers`);
});

test('columns that the first table lacks', async (t) => {
  const { first, reads } = countedTable();
  t.equal(done(placesInFirst(first, [...TEXTS.slice(1), 'other'], null)), null);
  t.ok(reads() < COLUMNS * 20, `${reads()} reads of ${COLUMNS} headers`);
});
