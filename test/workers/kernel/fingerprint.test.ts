// Fingerprints of keys against published ones and a scalar reference implementation, and the set of fingerprints against a set of
// texts.

import { test } from 'tap';
import { FingerprintSet, PRINT_ABSENT } from '../../../workers/execution/keys/hash-table.ts';
import { VIEW_BYTES } from '../../../workers/kernel/layout/cells.ts';
import { PRINT_BYTES } from '../../../workers/kernel/layout/keys.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';
import { fingerprint } from './scalar/fingerprint.ts';

/** From the reference implementation: key 00 to 0f, texts of the bytes 00, 01, ... with these lengths. */
const PUBLISHED: Readonly<Record<number, string>> = {
  0: 'a3817f04ba25a8e66df67214c7550293',
  1: 'da87c1d86b99af44347659119b22fc45',
  2: '8177228da4a45dc7fca38bdef60affe4',
  3: '9c70b60c5267a94e5f33b6b02985ed51',
  7: 'a1f1ebbed8dbc153c0b84aa61ff08239',
  8: '3b62a9ba6258f5610f83e264f31497b4',
  15: '5493e99933b0a8117e08ec0f97cfc3d9',
  63: '5150d1772f50834a503e069a973fbd7c',
};
const KEY = Buffer.from(Array.from({ length: 16 }, (_, at) => at));

/** Stores keys in memory. Returns the address of their views. */
function placeViews({ heap, arena }: ReturnType<typeof makeMemory>, keys: readonly (Uint8Array | null)[]): number {
  const places = keys.map((key) => {
    if (key === null) return [0, 0];
    const at = arena.take(Math.max(1, key.length)) + (key.length % 3);
    arena.take(16);
    heap.u8.set(key, at);
    return [at, key.length];
  });
  const views = arena.take(keys.length * VIEW_BYTES);
  heap.u32.set(places.flat(), views >>> 2);
  return views;
}

function placeRows({ heap, arena }: ReturnType<typeof makeMemory>, count: number): number {
  const rows = arena.take(count * 4);
  for (let row = 0; row < count; row++) heap.u32[(rows >>> 2) + row] = row;
  return rows;
}

test('fingerprints equal SipHash-2-4 with 128 bits', async (t) => {
  const memory = makeMemory();
  const { heap, arena, kernel } = memory;
  for (const [length, published] of Object.entries(PUBLISHED)) {
    const text = Buffer.from(Array.from({ length: Number(length) }, (_, at) => at));
    t.equal(Buffer.from(fingerprint(text, KEY)).toString('hex'), published, `${length} bytes`);
  }
  const texts = fc.array(fc.option(fc.uint8Array({ maxLength: 300 }), { freq: 5 }), { minLength: 1, maxLength: 20 });
  const property = fc.property(texts, fc.uint8Array({ minLength: 16, maxLength: 16 }), (keys, secret) => {
    arena.clear();
    heap.u8.fill(0xa5, arena.next, arena.limit);
    const views = placeViews(memory, keys);
    const rows = placeRows(memory, keys.length);
    const at = arena.take(PRINT_BYTES);
    heap.u8.set(secret, at);
    const prints = arena.take(keys.length * PRINT_BYTES);
    kernel.exports.fingerprintViews(views, rows, keys.length, at, prints);
    const made = keys.map((_, i) =>
      Buffer.from(heap.u8.subarray(prints + i * 16, prints + i * 16 + 16)).toString('hex'),
    );
    return made.every((hex, i) => hex === Buffer.from(fingerprint(keys[i]!, secret)).toString('hex'));
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 120, long: 2_000 }) }));
});

test('the set distinguishes fingerprints that differ in any bit', async (t) => {
  const memory = makeMemory();
  const { heap, arena } = memory;
  // Few first words, so that most fingerprints share one chain, and each other word sometimes decides.
  const word = fc.constantFrom(0, 1, 0x8000_0000);
  const print = fc.tuple(word, word, word, word).map((words) => words.join());
  const property = fc.property(
    fc.array(print, { maxLength: 200 }),
    fc.array(print, { maxLength: 20 }),
    (all, asked) => {
      arena.clear();
      const set = new FingerprintSet(heap, memory.kernel);
      const place = (some: readonly string[]) => {
        const [prints, ids] = [arena.take(some.length * PRINT_BYTES), arena.take(some.length * 4)];
        heap.u32.set(
          some.flatMap((one) => one.split(',').map(Number)),
          prints >>> 2,
        );
        return { views: 0, rows: 0, count: some.length, prints, ids };
      };
      const idsOf = ({ ids, count }: { ids: number; count: number }) => [
        ...heap.u32.subarray(ids >>> 2, (ids >>> 2) + count),
      ];
      const list = place(all);
      set.add(list);
      const seen = new Map<string, number>();
      const areRight = idsOf(list).every((id, at) => {
        const isNew = !seen.has(all[at]!);
        if (isNew) seen.set(all[at]!, seen.size);
        return isNew ? id === seen.size - 1 : id >= seen.size && id !== PRINT_ABSENT;
      });
      const found = place(asked);
      set.find(found);
      const areFound = idsOf(found).every((id, at) => (id === PRINT_ABSENT) !== seen.has(asked[at]!));
      return areRight && areFound && set.count === seen.size;
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 19, long: 300 }) }));
});

test('the set grows and forgets', async (t) => {
  const memory = makeMemory({ arenaBytes: 8 * 1024 * 1024 });
  const { heap, arena, kernel } = memory;
  const set = new FingerprintSet(heap, kernel);
  const count = 60_000;
  const texts = Array.from({ length: count }, (_, i) => (i % 7 === 0 ? null : Buffer.from(`key ${i % 40_000}`)));
  const list = {
    views: placeViews(memory, texts),
    rows: placeRows(memory, count),
    count,
    prints: arena.take(count * PRINT_BYTES),
    ids: arena.take(count * 4),
  };
  const distinct = new Set(texts.map(String)).size;
  set.fingerprint(list);
  t.equal(set.add(list), count);
  t.equal(set.count, distinct);
  t.equal(set.add(list), count);
  t.equal(set.count, distinct, 'the same again');
  set.clear();
  set.find(list);
  t.ok(heap.u32.subarray(list.ids >>> 2, (list.ids >>> 2) + count).every((id) => id === PRINT_ABSENT));
  t.equal(set.add(list), count);
  t.equal(set.count, distinct);
});
