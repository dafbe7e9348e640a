// Where a text stops being UTF-8: off the fast path.
import { isUtf8 } from 'node:buffer';

/** Bytes of a character at most. */
const CHARACTER_BYTES_MAX = 4;

/** Bytes looked at in one step before the place is near. */
const STEP_BYTES = 4096;

/** Address of the first byte of [from, to) that belongs to no character; `to` where all do. */
export function invalidByte(u8: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const step = characterStart(u8, at, Math.min(at + STEP_BYTES, to), to);
    if (isUtf8(u8.subarray(at, step))) at = step;
    else return firstInvalid(u8, at, step);
  }
  return to;
}

function firstInvalid(u8: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const bytes = characterBytes(u8, at, to);
    if (bytes === 0) return at;
    at += bytes;
  }
  return to;
}

/** 0: none begins here. */
function characterBytes(u8: Uint8Array, at: number, to: number): number {
  for (let bytes = 1; bytes <= CHARACTER_BYTES_MAX && at + bytes <= to; bytes++) {
    if (isUtf8(u8.subarray(at, at + bytes))) return bytes;
  }
  return 0;
}

/** The last place up to `at` where a character may begin, behind `from`. */
function characterStart(u8: Uint8Array, from: number, at: number, to: number): number {
  if (at === to) return to;
  for (let back = 0; back < CHARACTER_BYTES_MAX && at - back > from; back++) {
    if ((u8[at - back]! & 0xc0) !== 0x80) return at - back;
  }
  return at;
}
