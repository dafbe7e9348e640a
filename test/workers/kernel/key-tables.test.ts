// Kernels that write keys of rows and find them in tables (keys.ts), against references that use Map and BigInt.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { META_BIG, META_NULL } from '../../../workers/kernel/layout/cells.ts';
import {
  ABSENT,
  KEY_BOOLEAN,
  KEY_DECIMAL,
  KEY_DOUBLE,
  KEY_SLOT_BYTES,
  KEY_WORD,
  KNOWN,
  LONG,
  PRINT_SLOT_BYTES,
  REST_BYTES,
  TABLE_HELD,
  TABLE_NEXT,
} from '../../../workers/kernel/layout/keys.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, type KernelRig, rowCounts, rowOf } from './kernel-rig.ts';

const CHARACTERS = ['a', 'b', '\u0000', 'é', '漢'];
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 }).map((characters) => characters.join(''));
/** Lengths around the largest one that an encoded key states in one byte. */
const longText = fc.constantFrom(LONG - 2, LONG - 1, LONG, LONG + 1, 300).map((length) => 'x'.repeat(length));
const cell = fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: longText }, fc.constant(null));

/** The bytes that a view by physical row shows. */
function keyAt(rig: KernelRig, views: number, position: number): number[] {
  const view = views + rowOf(position) * 8;
  return rig.byteValues(rig.word(view), rig.word(view + 4));
}

const MASK = 2n ** 64n - 1n;
const FIRST_FACTOR = 0x9e3779b185ebca87n;
const SECOND_FACTOR = 0xc2b2ae3d27d4eb4fn;

function mixed(value: bigint): bigint {
  const product = ((value ^ (value >> 32n)) * SECOND_FACTOR) & MASK;
  return product ^ (product >> 29n);
}

/** Hash of a text: words of eight bytes, and then the remaining bytes. */
function hashOf(value: string | null, seed: bigint): bigint {
  if (value === null) return mixed((seed + FIRST_FACTOR) & MASK);
  const bytes = Buffer.from(value);
  const restAt = bytes.length - (bytes.length % 8);
  let hash = ((BigInt(bytes.length) ^ seed) * FIRST_FACTOR) & MASK;
  for (let at = 0; at < restAt; at += 8) {
    hash = ((hash ^ bytes.readBigUInt64LE(at)) * FIRST_FACTOR) & MASK;
    hash ^= hash >> 29n;
  }
  if (restAt === bytes.length) return mixed(hash);
  const rest = Buffer.alloc(8);
  bytes.copy(rest, 0, restAt);
  return mixed(((hash ^ rest.readBigUInt64LE()) * SECOND_FACTOR) & MASK);
}

checkKernel(
  'hashViews: 64 bits of each cell, other for null than for an empty text',
  fc.tuple(columnOf(cell), fc.nat(0xffff_ffff)),
  (rig, [values, seed], before) => {
    const hashes = rig.region(values.length * 8, before);
    rig.exports.hashViews(rig.texts(values, before), rig.rows(values.length), values.length, seed, hashes);
    deepStrictEqual(
      values.map((_, position) => BigInt.asUintN(64, rig.long(hashes + position * 8))),
      values.map((value) => hashOf(value, BigInt(seed))),
    );
  },
);

function encoded(value: string | null): number[] {
  if (value === null) return [0];
  const bytes = [...Buffer.from(value)];
  if (bytes.length + 1 < LONG) return [bytes.length + 1, ...bytes];
  return [LONG, bytes.length & 0xff, bytes.length >> 8, 0, 0, ...bytes];
}

/** Space that the kernel requires before each length, besides the byte that most lengths need. */
const LENGTH_SPARE_BYTES = 4;

checkKernel(
  'composeKeys: lengths and bytes of all columns',
  rowCounts.chain((count) =>
    fc.array(fc.array(cell, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 3 }),
  ),
  (rig, all, before) => {
    const count = all[0]!.length;
    const expected = Array.from({ length: count }, (_, position) =>
      all.flatMap((column) => encoded(column[position]!)),
    );
    const bytes = expected.reduce((sum, key) => sum + key.length, 0);
    const columns = rig.wordList(
      all.map((column) => rig.texts(column, before)),
      before,
    );
    const keys = rig.region(count * 16, 16);
    const next = rig.region(bytes + LENGTH_SPARE_BYTES, before);
    const rows = rig.rows(count);
    const compose = (limit: number): number =>
      rig.exports.composeKeys(columns, all.length, rows, count, keys, next, limit) >>> 0;
    if (bytes > 0) equal(compose(next + bytes - 1), 0);
    equal(compose(next + bytes + LENGTH_SPARE_BYTES), next + bytes);
    deepStrictEqual(
      expected.map((_, position) => keyAt(rig, keys, position)),
      expected,
    );
  },
);

const longs = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 10n, -1200n, 10n ** 18n, -(2n ** 63n), 2n ** 63n - 1n),
  // Negative zero, infinity, and NaN with a sign and other bits.
  fc.constantFrom(-(2n ** 63n), 0x7ff0_0000_0000_0000n, -0x0008_0000_0000_0000n, 0x7ff8_0000_0000_0001n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const NOT_A_NUMBER = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];

const bytesOf = (bits: bigint): number[] => [...new Uint8Array(BigInt64Array.of(bits).buffer)];

function typedKey([bits, meta]: readonly [bigint, number], kind: number): number[] {
  if (kind === KEY_BOOLEAN) return [meta];
  if (kind === KEY_WORD) return bytesOf(bits);
  if (kind === KEY_DOUBLE) {
    const value = Buffer.from(bytesOf(bits)).readDoubleLE();
    return Number.isNaN(value) ? NOT_A_NUMBER : value === 0 ? bytesOf(0n) : bytesOf(bits);
  }
  let [digits, scale] = [bits, meta];
  for (; scale > 0 && digits % 10n === 0n; scale -= 1) digits /= 10n;
  return [...bytesOf(digits), scale];
}

checkKernel(
  'typedKeys: equal values have equal bytes, and decimals beyond 64 bits are left',
  fc.tuple(
    columnOf(fc.tuple(longs, fc.constantFrom(0, 1, 2, 18, META_BIG, META_NULL))),
    fc.constantFrom(KEY_WORD, KEY_DOUBLE, KEY_BOOLEAN, KEY_DECIMAL),
  ),
  (rig, [cells, kind], before) => {
    const count = cells.length;
    const at = rig.region(count * 16, 16);
    const meta = rig.region(count * 2, before);
    for (const [position, [bits, mark]] of cells.entries()) {
      rig.setLong(at + rowOf(position) * 8, bits);
      rig.bytes[meta + rowOf(position)] = mark;
    }
    const isLeft = ([, mark]: readonly [bigint, number]): boolean => kind === KEY_DECIMAL && mark === META_BIG;
    const written = cells.filter((given) => kind === KEY_DECIMAL && given[1] !== META_NULL && !isLeft(given));
    const bytes = written.length * 9;
    const views = rig.region(count * 16, 16);
    const todo = rig.region((count + 1) * 4, 16);
    const next = rig.region(bytes, before);
    const rows = rig.rows(count);
    const write = (limit: number): number =>
      rig.exports.typedKeys(at, meta, rows, count, kind, views, next, limit, todo) >>> 0;
    if (bytes > 0) equal(write(next + bytes - 1), 0);
    equal(write(next + bytes), next + bytes);
    const left = cells.flatMap((given, position) => (isLeft(given) ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(todo, left.length + 1), [left.length, ...left]);
    for (const [position, given] of cells.entries()) {
      if (isLeft(given)) continue;
      const expected = given[1] === META_NULL ? [] : typedKey(given, kind);
      deepStrictEqual(keyAt(rig, views, position), expected);
    }
  },
);

const SLOTS = 64;

/** An empty table: its head and its slots. */
function placeTable(
  rig: KernelRig,
  slotBytes: number,
  heldMax: number,
  freeBytes: number,
): { table: number; next: number; slots: number } {
  const slots = rig.region(SLOTS * slotBytes, 16);
  rig.bytes.fill(0, slots, slots + SLOTS * slotBytes);
  const next = rig.region(freeBytes, 100);
  const table = rig.wordList([slots, SLOTS - 1, 0, heldMax, next, next + freeBytes], 8);
  return { table, next, slots };
}

/** Few keys, so that many are equal, and few hashes near the end of the slots, so that they collide and wrap around. */
const tableKey = fc.oneof(
  fc.constant(null),
  fc.constantFrom('', 'a', 'b', 'ab', 'é', 'a long key of many bytes'),
  text,
);
const lowHash = (key: string | null): number => [SLOTS - 1, SLOTS - 2, 0, SLOTS][(key?.length ?? 3) % 4]!;

checkKernel(
  'insertKeys, moveSlots and findKeys: ids in the order of insertion, until the table is full',
  fc.tuple(columnOf(tableKey), fc.nat(40), fc.nat(200), fc.nat(3)),
  (rig, [keys, heldMax, freeBytes, from], before) => {
    const count = keys.length;
    const first = Math.min(from, count);
    const expected = new Map<string | null, number>();
    const ids: number[] = [];
    let bytes = 0;
    for (const key of keys.slice(first)) {
      const needed = bytes + Buffer.byteLength(key ?? '');
      if (!expected.has(key)) {
        if (expected.size >= heldMax || needed > freeBytes) break;
        expected.set(key, expected.size);
        bytes = needed;
      }
      ids.push(expected.get(key)!);
    }
    const views = rig.texts(keys, before);
    const rows = rig.rows(count);
    const hashes = rig.wordList(
      keys.flatMap((key) => [lowHash(key), 7]),
      before,
    );
    const made = rig.region(count * 4, 8);
    const { table, next } = placeTable(rig, KEY_SLOT_BYTES, heldMax, freeBytes);
    equal(rig.exports.insertKeys(table, views, rows, first, count, hashes, made) >>> 0, first + ids.length);
    deepStrictEqual(rig.wordValues(made + first * 4, ids.length), ids);
    deepStrictEqual([rig.word(table + TABLE_HELD), rig.word(table + TABLE_NEXT) - next], [expected.size, bytes]);
    const found = rig.region(count * 4, 8);
    const isFound = (): void => {
      rig.exports.findKeys(table, views, rows, 0, count, hashes, found);
      deepStrictEqual(
        rig.wordValues(found, count),
        keys.map((key) => expected.get(key) ?? ABSENT),
      );
    };
    isFound();
    rig.exports.moveSlots(table, rig.region(SLOTS * 2 * KEY_SLOT_BYTES, 16), SLOTS * 2);
    isFound();
  },
);

const xor = (words: readonly number[]): number => words.reduce((made, word) => made ^ word, 0);

checkKernel('touchSlots: reads the slot of each hash', columnOf(fc.nat(0xffff_ffff)), (rig, hashes, before) => {
  const { table, slots } = placeTable(rig, KEY_SLOT_BYTES, 0, 0);
  for (let slot = 0; slot < SLOTS; slot += 1) rig.bytes[slots + slot * KEY_SLOT_BYTES] = slot + 1;
  const at = rig.wordList(
    hashes.flatMap((hash) => [hash, 9]),
    before,
  );
  equal(rig.exports.touchSlots(table, at, hashes.length), xor(hashes.map((hash) => (hash & (SLOTS - 1)) + 1)));
});

checkKernel(
  'splitByNew: rows with new ids, and the others',
  fc.tuple(columnOf(fc.nat(12)), fc.nat(40), fc.boolean()),
  (rig, [keys, start, listsSeen], before) => {
    const from = Math.min(start, keys.length);
    const distinct = [...new Set(keys)];
    const known = new Set(keys.slice(0, from)).size;
    const ids = rig.wordList(
      keys.map((key) => distinct.indexOf(key)),
      before,
    );
    const isFresh = keys.map((key, position) => position >= from && keys.indexOf(key) === position);
    const [fresh, seen] = [rig.region(keys.length * 4, 8), rig.region(keys.length * 4, 16)];
    const rows = rig.rows(keys.length, before);
    const count = rig.exports.splitByNew(rows, from, keys.length, ids, known, fresh, listsSeen ? seen : 0) >>> 0;
    const rowsOf = (wanted: boolean): number[] =>
      isFresh.flatMap((now, position) => (position >= from && now === wanted ? [rowOf(position)] : []));
    equal(count, rowsOf(true).length);
    deepStrictEqual(rig.wordValues(fresh, count), rowsOf(true));
    if (listsSeen) deepStrictEqual(rig.wordValues(seen, rowsOf(false).length), rowsOf(false));
  },
);

/** Few fingerprints, of which some differ in one word only. */
const print = fc.tuple(fc.constantFrom(0, SLOTS - 1, SLOTS * 2 - 1), fc.nat(2), fc.nat(1), fc.nat(1));

checkKernel(
  'addPrints, movePrints and findPrints: numbers in the order of insertion, until the set is full',
  fc.tuple(columnOf(print), fc.nat(40), fc.nat(36), fc.nat(11), fc.nat(3)),
  (rig, [prints, heldMax, entries, spareBytes, from], before) => {
    const count = prints.length;
    const first = Math.min(from, count);
    const keys = prints.map((words) => words.join());
    const expected = new Set<string>();
    const ids: number[] = [];
    for (const key of keys.slice(first)) {
      if (expected.has(key)) ids.push(KNOWN);
      else if (expected.size >= Math.min(heldMax, entries)) break;
      else {
        ids.push(expected.size);
        expected.add(key);
      }
    }
    const at = rig.wordList(prints.flat(), before);
    const made = rig.region(count * 4, 8);
    const { table, next } = placeTable(rig, PRINT_SLOT_BYTES, heldMax, entries * REST_BYTES + spareBytes);
    equal(rig.exports.addPrints(table, at, first, count, made) >>> 0, first + ids.length);
    deepStrictEqual(rig.wordValues(made + first * 4, ids.length), ids);
    const used = rig.word(table + TABLE_NEXT) - next;
    deepStrictEqual([rig.word(table + TABLE_HELD), used], [expected.size, expected.size * REST_BYTES]);
    const isFound = (): void => {
      rig.exports.findPrints(table, at, 0, count, made);
      deepStrictEqual(
        rig.wordValues(made, count),
        keys.map((key) => (expected.has(key) ? KNOWN : ABSENT)),
      );
    };
    isFound();
    rig.exports.movePrints(table, rig.region(SLOTS * 2 * PRINT_SLOT_BYTES, 16), SLOTS * 2);
    isFound();
  },
);

checkKernel('touchPrints: reads the slot of each fingerprint', columnOf(fc.nat(0xffff_ffff)), (rig, words, before) => {
  const { table, slots } = placeTable(rig, PRINT_SLOT_BYTES, 0, 0);
  for (let slot = 0; slot < SLOTS; slot += 1) rig.bytes[slots + slot * PRINT_SLOT_BYTES] = slot + 1;
  const at = rig.wordList(
    words.flatMap((word) => [word, 9, 9, 9]),
    before,
  );
  equal(rig.exports.touchPrints(table, at, words.length), xor(words.map((word) => (word & (SLOTS - 1)) + 1)));
});
