// The table of short keys: its kernels against their scalar reference implementation, over several successive lists of rows.

import { test } from 'tap';
import { HELD_MAX, KEY_CACHE_BYTES } from '../../../workers/kernel/layout/keys.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { makeMemory } from '../operations/harness.ts';
import { addCachedKeys, findCachedKeys, type KeyCacheTable } from './scalar/key-cache.ts';

const CELL = fc.constantFrom(
  null,
  '',
  'a',
  'b',
  'ab',
  '\u0001',
  'é',
  '漢字',
  'seven b',
  '14 bytes long.',
  '15 bytes long..',
  '16 bytes long...',
);

test('short keys are known as by the twin', async (t) => {
  const { heap, arena, kernel } = makeMemory();
  const { exports } = kernel;
  const table = heap.allocate(KEY_CACHE_BYTES);
  const lists = fc.integer({ min: 1, max: 3 }).chain((columns) =>
    fc.array(fc.array(fc.tuple(...(Array(columns).fill(CELL) as (typeof CELL)[])), { maxLength: 40 }), {
      minLength: 2,
      maxLength: 4,
    }),
  );
  const property = fc.property(lists, fc.integer({ min: 0, max: 12 }), (given, most) => {
    heap.u8.fill(0, table, table + KEY_CACHE_BYTES);
    heap.u32[(table + HELD_MAX) >>> 2] = most;
    const twin: KeyCacheTable = new Map();
    let next = 0;
    for (const keys of given) {
      arena.clear();
      const columns = keys[0]?.length ?? 1;
      // Every other physical row is in no list.
      const views = Array.from({ length: columns }, () => arena.take(keys.length * 16));
      for (const [i, cells] of keys.entries()) {
        for (const [column, cell] of cells.entries()) {
          const at = arena.next;
          const length = cell === null ? 0 : arena.write(cell);
          heap.u32.set(cell === null ? [0, 0] : [at, length], (views[column]! >>> 2) + i * 4 + 2);
        }
      }
      const words = (values: readonly number[]): number => {
        const at = arena.take(values.length * 4 + 16);
        heap.u32.set(values, at >>> 2);
        return at;
      };
      const [addresses, rows] = [words(views), words(keys.map((_, i) => i * 2 + 1))];
      const [numbers, missedRows, missedAt] = [
        words(keys.map(() => 0)),
        words(keys.map(() => 0)),
        words(keys.map(() => 0)),
      ];
      const missed = exports.findCachedKeys(
        table,
        addresses,
        columns,
        rows,
        keys.length,
        numbers,
        missedRows,
        missedAt,
      );
      const list = (at: number, count: number): number[] => [...heap.u32.subarray(at >>> 2, (at >>> 2) + count)];
      const expected = findCachedKeys(twin, keys);
      const places = list(missedAt, missed);
      if (places.join() !== expected.flatMap((number, i) => (number === null ? [i] : [])).join()) return false;
      if (list(missedRows, missed).join() !== places.map((i) => i * 2 + 1).join()) return false;
      const found = list(numbers, keys.length);
      if (expected.some((number, i) => number !== null && number !== found[i])) return false;
      const fresh = places.map(() => next++);
      const given = words(fresh);
      exports.scatter(given, missedAt, missed, numbers);
      if (places.some((i, n) => list(numbers, keys.length)[i] !== fresh[n])) return false;
      exports.addCachedKeys(table, addresses, columns, missedRows, missed, given);
      addCachedKeys(
        twin,
        places.map((i) => keys[i]!),
        fresh,
        most,
      );
      if (heap.u32[table >>> 2] !== twin.size) return false;
    }
    return true;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: sweep({ short: 63, long: 1_000 }) }));
});

test('a table that is full knows the keys that it holds', async (t) => {
  const { heap, arena, kernel } = makeMemory();
  const { exports } = kernel;
  const [table, most, count] = [heap.allocate(KEY_CACHE_BYTES), 2048, 3000];
  heap.u8.fill(0, table, table + KEY_CACHE_BYTES);
  heap.u32[(table + HELD_MAX) >>> 2] = most;
  const [views, rows, missedRows] = [arena.take(count * 8), arena.take(count * 4), arena.take(count * 4)];
  const [numbers, missedAt, addresses] = [arena.take(count * 4), arena.take(count * 4), arena.take(8)];
  for (let i = 0; i < count; i++) {
    const at = arena.next;
    const length = arena.write(`key ${i}`);
    heap.u32.set([at, length], (views >>> 2) + i * 2);
    heap.u32[(rows >>> 2) + i] = i;
    heap.u32[(numbers >>> 2) + i] = i;
  }
  heap.u32[addresses >>> 2] = views;
  exports.addCachedKeys(table, addresses, 1, rows, count, numbers);
  heap.u32.fill(0, numbers >>> 2, (numbers >>> 2) + count);
  const missed = exports.findCachedKeys(table, addresses, 1, rows, count, numbers, missedRows, missedAt);
  t.equal(missed, count - most);
  t.equal(heap.u32[missedRows >>> 2], most, 'the first keys fit');
  for (let i = 0; i < most; i++) if (heap.u32[(numbers >>> 2) + i] !== i) t.fail(`key ${i}`);
});
