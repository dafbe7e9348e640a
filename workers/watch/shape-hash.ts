// Which cells have the same shape, told from their bytes: a file of millions of cells is looked through in seconds.
import { utf8Text } from '../batch/ascii-text.ts';
import { SHAPE_CHARACTERS_MAX, shapeOf } from './column-profile.ts';

/** FNV-1a of 32 bits: of the some thousand shapes of a column hardly two have the same, and then one row less is shown. */
const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

const [DIGIT, UPPER, LOWER, PLUS] = [0x39, 0x41, 0x61, 0x2b];

/** What stands for the shape of each byte below 128; runs are told of digits and letters alone. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, byte) => {
  if (byte >= 0x30 && byte <= 0x39) return DIGIT;
  if (byte >= 0x41 && byte <= 0x5a) return UPPER;
  return byte >= 0x61 && byte <= 0x7a ? LOWER : byte;
});

/** @returns a hash of `shapeOf` of the UTF-8 text that stands there */
export function shapeHash(u8: Uint8Array, start: number, length: number): number {
  let hash = FNV_OFFSET;
  let last = 0;
  let run = 0;
  const end = start + Math.min(length, SHAPE_CHARACTERS_MAX);
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if (byte >= 128) return hashOf(shapeOf(utf8Text(u8, start, length)));
    const shape = CLASSES[byte]!;
    const isRun = shape === last && (shape === DIGIT || shape === UPPER || shape === LOWER);
    run = isRun ? run + 1 : 1;
    last = shape;
    if (run <= 2) hash = Math.imul(hash ^ (run === 2 ? PLUS : shape), FNV_PRIME);
  }
  return hash;
}

function hashOf(shape: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < shape.length; index++) hash = Math.imul(hash ^ shape.charCodeAt(index), FNV_PRIME);
  return hash;
}
