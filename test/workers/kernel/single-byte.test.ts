// The kernel that decodes single-byte encodings (single-byte.ts), against its scalar reference.
import { equal } from 'node:assert/strict';
import { FROM, LENGTH_SHIFT, STATE_BYTES, TO, UTF8_BYTES_MAX } from '../../../workers/kernel/layout/single-byte.ts';
import { fc } from '../../random.ts';
import { sweep } from '../../sweep.ts';
import { checkKernel } from './kernel-rig.ts';
import { decodeSingleBytes } from './scalar/single-byte.ts';

/** Code units of the bytes from 0x80 on. Two bytes are undefined. */
const CHARACTERS = Uint16Array.from({ length: 128 }, (_, index) => {
  if (index === 1 || index === 127) return 0;
  return index % 3 === 0 ? 0x20ac + index : 0xa0 + index * 2;
});

/** For each byte, its UTF-8 and the length of the UTF-8. */
const TABLE = [...CHARACTERS].flatMap((unit) => {
  if (unit === 0) return [0];
  const bytes = Buffer.from(String.fromCharCode(unit));
  return [(bytes.length << LENGTH_SHIFT) | bytes.readUIntLE(0, bytes.length)];
});

/** Texts in which some parts are ASCII and others are not. The last one has an undefined byte. */
const bytes = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(1, 2, 15, 16, 17, 33).map((length) => Array<number>(length).fill(0x61)) },
      {
        weight: 4,
        arbitrary: fc.array(fc.integer({ min: 0x82, max: 0xfe }), { minLength: 1, maxLength: 18 }),
      },
      { weight: 1, arbitrary: fc.constantFrom([0], [0x81], [0xff]) },
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.flat());

checkKernel(
  'decodeSingleBytes: the text up to a byte that is not defined, in two parts',
  fc.tuple(bytes, fc.nat()),
  (rig, [input, pick], before) => {
    const split = pick % (input.length + 1);
    const from = rig.byteList(input, before);
    // The kernel may write up to 16 bytes after the text.
    const to = rig.region(input.length * UTF8_BYTES_MAX + 16, before);
    const state = rig.wordList(Array<number>(STATE_BYTES / 4).fill(0), 8);
    const table = rig.wordList(TABLE, before);
    rig.setWord(state + FROM, from);
    rig.setWord(state + TO, to);
    rig.exports.decodeSingleBytes(state, from + split, table);
    const first = decodeSingleBytes(Uint8Array.from(input.slice(0, split)), CHARACTERS);
    equal(rig.word(state + FROM), from + first.bytes);
    rig.exports.decodeSingleBytes(state, from + input.length, table);
    const expected = decodeSingleBytes(Uint8Array.from(input), CHARACTERS);
    equal(rig.word(state + FROM), from + expected.bytes);
    equal(Buffer.from(rig.bytes.subarray(to, rig.word(state + TO))).toString(), expected.text);
  },
  sweep({ short: 150, long: 1500 }),
);
