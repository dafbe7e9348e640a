// Texts inside JSON strings, escaped as JSON.stringify escapes them, and JSON values that pass as they are.
import { copyOver, maskOf } from './emit-copy';

/** Bytes of one escaped byte at most: \u00XX. */
export const ESCAPE_BYTES_MAX: usize = 6;

/**
 * Copies [start, end) into a JSON string: quote, backslash and what lies below U+0020 are escaped, all else passes. With
 * `doubled` it is the inside of a quoted CSV field: two quotes are one.
 */
export function putEscaped(out: usize, start: usize, end: usize, doubled: bool): usize {
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const space = i8x16.splat(0x20);
  let at = start;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const marks = v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash));
    const left = end - at;
    const mask = maskOf(<u32>i8x16.bitmask(v128.or(marks, i8x16.lt_u(bytes, space))), left);
    if (mask == 0) {
      const length: usize = left < 16 ? left : 16;
      at += length;
      out += length;
      continue;
    }
    const clean = <usize>ctz(mask);
    const byte = <u32>load<u8>(at + clean);
    out = putEscape(out + clean, byte);
    at += clean + (doubled && byte == 0x22 ? 2 : 1);
  }
  return out;
}

/**
 * As putEscaped, quicker where nothing is to be escaped: the first 32 bytes are copied whatever the length is. Writes up to 32
 * bytes in any case.
 */
// @ts-ignore: decorator
@inline
export function putCommon(out: usize, start: usize, end: usize, doubled: bool): usize {
  const low = v128.load(start);
  const high = v128.load(start, 16);
  v128.store(out, low);
  v128.store(out, high, 16);
  const length = end - start;
  let mask = escapedBytes(low) | (escapedBytes(high) << 16);
  if (length < 32) mask &= (1 << (<u32>length)) - 1;
  if (mask != 0) return putEscaped(out, start, end, doubled);
  return length <= 32 ? out + length : putEscaped(out + 32, start + 32, end, doubled);
}

/** Bits of the bytes that JSON escapes. */
// @ts-ignore: decorator
@inline
function escapedBytes(bytes: v128): u32 {
  const marks = v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c)));
  const controls = i8x16.eq(i8x16.min_u(bytes, i8x16.splat(0x1f)), bytes);
  return <u32>i8x16.bitmask(v128.or(marks, controls));
}

function putEscape(out: usize, byte: u32): usize {
  let letter: u32 = 0;
  if (byte == 0x22 || byte == 0x5c) letter = byte;
  else if (byte == 0x0a) letter = 0x6e;
  else if (byte == 0x0d) letter = 0x72;
  else if (byte == 0x09) letter = 0x74;
  else if (byte == 0x08) letter = 0x62;
  else if (byte == 0x0c) letter = 0x66;
  if (letter != 0) {
    store<u16>(out, <u16>(0x5c | (letter << 8)));
    return out + 2;
  }
  const low = byte & 15;
  store<u32>(out, 0x3030755c);
  store<u8>(out, <u8>(0x30 + (byte >> 4)), 4);
  store<u8>(out, <u8>(low < 10 ? 0x30 + low : 0x57 + low), 5);
  return out + 6;
}

/** Copies a JSON value on one line: below U+0020 a valid one holds nothing but white space between its tokens. */
export function putJson(out: usize, start: usize, end: usize): usize {
  const space = i8x16.splat(0x20);
  let target = out;
  for (let at = start; at < end; at += 16) {
    const bytes = v128.load(at);
    v128.store(target, v128.bitselect(space, bytes, i8x16.lt_u(bytes, space)));
    target += 16;
  }
  return out + (end - start);
}

/** Copies a text of the program. */
export function putText(out: usize, at: usize, length: usize): usize {
  return copyOver(out, at, at + length);
}
