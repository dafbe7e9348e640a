// Tables that are read one after the other. The columns of a later table are found in the first one, whatever their order, in
// time that grows with their number. The list of the files of an archive is read with pauses.
import { test } from 'tap';
import { type FirstTable, placesInFirst } from '../../../workers/input/stacked-columns.ts';
import { packedFile } from '../../../workers/input/zip/packed-file.ts';
import { ZipArchive } from '../../../workers/input/zip/zip-archive.ts';
import { inSlices, runCoroutine } from '../../../workers/scheduling/coroutine.ts';
import { done, type Sliced } from '../../../workers/scheduling/time-slices.ts';
import { inMemory, zipOf } from './xlsx/zip-writer.ts';

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

test('the list of the files of an archive is read with pauses', async (t) => {
  const files = 20_000;
  const bytes = zipOf(
    Array.from({ length: files }, (_, index) => ({ name: `folder/${index}.csv`, content: '', isStored: true })),
  );
  const source = { ...inMemory(bytes), close: () => {} };
  let pauses = 0;
  const clock = { isDue: () => true };
  const giveWay = async (): Promise<void> => {
    pauses++;
  };
  const counted = async <T>(work: Sliced<T>): Promise<readonly [T, number]> => {
    const before = pauses;
    const made = await runCoroutine(inSlices(work, { clock, giveWay }));
    return [made, pauses - before];
  };
  const [archive, readPauses] = await counted(ZipArchive.read(source, null, () => null));
  t.equal([...archive.names].length, files);
  t.ok(readPauses >= (2 * files) / 1000, `${readPauses} pauses while the list is read`);
  for (const wanted of [
    { file: null, files: '*.csv' },
    { file: '7.csv', files: null },
  ]) {
    const [, pauses] = await counted(packedFile(archive, source, wanted));
    t.ok(pauses >= files / 1000, `${pauses} pauses while files are chosen`);
  }
});
