// Which cells have the same shape, told from their bytes: a file of millions of cells is looked through in seconds.
import { utf8Text } from '../batch/ascii-text.ts';
import { ASCII_SHAPES, RUNS, SHAPE_CHARACTERS_MAX, shapeOf } from './column-profile.ts';

/** FNV-1a of 32 bits: of the some thousand shapes of a column hardly two have the same, and then one row less is shown. */
const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

const PLUS = 0x2b;

/** @returns a hash of `shapeOf` of the UTF-8 text that stands there */
export function shapeHash(u8: Uint8Array, start: number, length: number): number {
  let hash = FNV_OFFSET;
  let last = 0;
  let run = 0;
  const end = start + Math.min(length, SHAPE_CHARACTERS_MAX);
  for (let at = start; at < end; at++) {
    const byte = u8[at]!;
    if (byte >= ASCII_SHAPES.length) return hashOf(shapeOf(utf8Text(u8, start, length)));
    const shape = ASCII_SHAPES[byte]!;
    run = shape === last && RUNS.has(shape) ? run + 1 : 1;
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
