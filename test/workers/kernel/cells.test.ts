// Kernels that copy, measure or rewrite cells one by one, each against a reference in JavaScript.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'tap';
import { KIND_TEXT } from '../../../workers/kernel/layout/cells.ts';
import { FALSE, NULL, SET, TRUE } from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { checkKernel, columnOf, KernelRig, rowOf } from './kernel-rig.ts';

const CHARACTERS = ['a', 'Z', 'z', 'A', '@', '[', '`', '{', '0', 'é', 'ß', '漢', '😀', '\u0000'];
const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 40 }).map((characters) => characters.join(''));
const anyText = fc.option(text, { nil: null, freq: 8 });
const texts = columnOf(anyText);

/** CRC-32 bit by bit. */
function crcOf(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

checkKernel('crc32: of bytes at once, and of two pieces', fc.uint8Array({ maxLength: 80 }), (rig, bytes, before) => {
  const at = rig.byteList([...bytes], before);
  equal(rig.exports.crc32(0, at, bytes.length) >>> 0, crcOf(bytes));
  const half = bytes.length >> 1;
  const first = rig.exports.crc32(0, at, half);
  equal(rig.exports.crc32(first, at + half, bytes.length - half) >>> 0, crcOf(bytes));
});

checkKernel(
  'matchLength: characters, not bytes or UTF-16 units',
  fc.tuple(texts, fc.nat(12), fc.nat(12)),
  (rig, [values, least, more], before) => {
    const views = rig.texts(values, before);
    const states = rig.byteList(
      values.map(() => 7),
      before,
    );
    rig.exports.matchLength(views, rig.rows(values.length), values.length, least, least + more, states, SET);
    deepStrictEqual(
      rig.byteValues(states, values.length),
      values.map((value) => {
        if (value === null) return NULL;
        const { length } = [...value];
        return length >= least && length <= least + more ? TRUE : FALSE;
      }),
    );
  },
);

checkKernel(
  'findLongTexts: positions with more UTF-16 units',
  fc.tuple(texts, fc.nat(30)),
  (rig, [values, unitsMax], before) => {
    const views = rig.texts(values, before);
    const found = rig.region(values.length * 4, 16);
    const count = rig.exports.findLongTexts(views, rig.rows(values.length), values.length, unitsMax, found) >>> 0;
    const expected = values.flatMap((value, position) => (value !== null && value.length > unitsMax ? [position] : []));
    deepStrictEqual(rig.wordValues(found, count), expected);
  },
);

checkKernel(
  'changeAsciiCase: letters of ASCII alone, or 0 if the region is too small',
  fc.tuple(texts, fc.constantFrom('a', 'A')),
  (rig, [values, first], before) => {
    const change = (value: string): string =>
      first === 'a'
        ? value.replace(/[a-z]/g, (letter) => letter.toUpperCase())
        : value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const bytesMax = values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);
    const views = rig.texts(values, before);
    const next = rig.region(bytesMax, before);
    const rows = rig.rows(values.length);
    const end =
      rig.exports.changeAsciiCase(views, rows, values.length, first.charCodeAt(0), next, next + bytesMax) >>> 0;
    deepStrictEqual(
      rig.textsOf(views, values.length),
      values.map((value) => (value === null ? null : change(value))),
    );
    const changed = values.filter((value) => value !== null && change(value) !== value);
    equal(
      end - next,
      changed.reduce((sum, value) => sum + Buffer.byteLength(value!), 0),
      'only changed cells take space',
    );
  },
);

const HEX = Buffer.from('0123456789abcdef');
const HEX_BITS = 4;
/** Memory that the kernel needs for a block, and free space that it asks for before each digest. */
const SCRATCH_BYTES = 448;
const DIGEST_SPACE_BYTES = 96;
const DIGEST_BYTES = 64;

checkKernel(
  'digestTexts: SHA-256 and HMAC in hexadecimal, around the length of a block',
  fc.tuple(
    columnOf(
      fc.option(
        fc.nat(130).map((length) => 'x'.repeat(length)),
        { nil: null },
      ),
    ),
    fc.boolean(),
  ),
  (rig, [values, isKeyed], before) => {
    const secret = Buffer.from('pepper');
    const pads = [0x36, 0x5c].flatMap((pad) => Array.from({ length: 64 }, (_, index) => (secret[index] ?? 0) ^ pad));
    const key = isKeyed ? rig.byteList(pads, before) : 0;
    const views = rig.texts(values, before);
    const alphabet = rig.byteList([...HEX], before);
    const scratch = rig.region(SCRATCH_BYTES, 64);
    const bytes = values.length * DIGEST_BYTES + DIGEST_SPACE_BYTES;
    const next = rig.region(bytes, before);
    const rows = rig.rows(values.length);
    const form = [key, alphabet, HEX_BITS, 0, DIGEST_BYTES, scratch] as const;
    const end = rig.exports.digestTexts(views, rows, values.length, ...form, next, next + bytes) >>> 0;
    const hash = () => (isKeyed ? createHmac('sha256', secret) : createHash('sha256'));
    deepStrictEqual(
      rig.textsOf(views, values.length),
      values.map((value) => (value === null ? null : hash().update(value).digest('hex'))),
    );
    equal(end - next, values.filter((value) => value !== null).length * DIGEST_BYTES);
  },
);

checkKernel(
  'keepKinds: an unchanged text keeps its kind, and an empty text instead of a null has none',
  columnOf(fc.tuple(anyText, text, fc.boolean())),
  (rig, cells, before) => {
    const [old, now] = [
      cells.map(([first]) => first),
      cells.map(([first, second, isSame]) => (isSame ? (first ?? '') : second)),
    ];
    const kinds = rig.byteList(
      cells.flatMap((_, index) => [0, 20 + (index % 5)]),
      before,
    );
    const made = rig.byteList(
      cells.flatMap(() => [9, 9]),
      before,
    );
    const rows = rig.rows(cells.length);
    rig.exports.keepKinds(rig.texts(old, before), kinds, rig.texts(now, before + 1), made, rows, cells.length);
    deepStrictEqual(
      rig.byteValues(made, cells.length * 2),
      cells.flatMap((_, index) => [9, old[index] === now[index] ? 20 + (index % 5) : KIND_TEXT]),
    );
  },
);

checkKernel(
  'copyCells: words and marks of rows in any order, as often as they are named',
  columnOf(fc.tuple(fc.nat(0xffff_ffff), fc.nat(255), fc.nat(1000))),
  (rig, cells, before) => {
    const count = cells.length;
    const at = rig.wordList(
      cells.flatMap(([word]) => [word, word ^ 0x5a5a]),
      before - (before % 8),
    );
    const meta = rig.byteList(
      cells.map(([, mark]) => mark),
      before,
    );
    const wanted = cells.map(([, , pick]) => pick % Math.max(1, count));
    const rows = rig.wordList(wanted, before);
    const [out, outMeta] = [rig.region(count * 8, 16), rig.region(count, before)];
    rig.exports.copyCells(at, meta, rows, count, out, outMeta);
    deepStrictEqual(
      rig.wordValues(out, count * 2),
      wanted.flatMap((row) => [cells[row]![0], (cells[row]![0] ^ 0x5a5a) >>> 0]),
    );
    deepStrictEqual(
      rig.byteValues(outMeta, count),
      wanted.map((row) => cells[row]![1]),
    );
  },
);

checkKernel(
  'numberRows: all rows live, and each knows the number of its source',
  fc.tuple(columnOf(fc.nat(5000)), fc.nat()),
  (rig, [rows, first], before) => {
    const list = rig.wordList(rows, before);
    const [selection, sources] = [rig.region(rows.length * 4, 16), rig.region(rows.length * 8, 16)];
    rig.exports.numberRows(list, rows.length, first, selection, sources);
    deepStrictEqual(
      rig.wordValues(selection, rows.length),
      rows.map((_, position) => position),
    );
    const numbers = new Float64Array(rig.bytes.slice(sources, sources + rows.length * 8).buffer);
    deepStrictEqual(
      [...numbers],
      rows.map((row) => first + row),
    );
  },
);

test('a list of rows of a full batch is compacted across pages', (t) => {
  const rig = new KernelRig();
  const values = Array.from({ length: 1500 }, (_, index) => (index % 3 === 0 ? '' : 'x'));
  const views = rig.texts(values, 100);
  const rows = rig.rows(values.length, 2000);
  const kept = rig.exports.keepEmpty(views, rows, values.length) >>> 0;
  t.strictSame(
    rig.wordValues(rows, kept),
    values.flatMap((value, position) => (value === '' ? [rowOf(position)] : [])),
    'every third row is kept',
  );
  rig.checkGuards();
  t.end();
});
