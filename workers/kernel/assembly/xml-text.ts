// Texts as content of XML elements: what XML 1.0 cannot say is written as spreadsheets do, _x0000_. Twin:
// kernel/plain/xml-text.ts.
import { maskOf } from './emit-copy';

/**
 * Copies [start, end), valid UTF-8, escaped. Controls but tab and line feed, U+FFFE and U+FFFF become `_xHHHH_`, and so does
 * the first underscore of a text that reads like one of those. Up to 16 bytes behind are overwritten.
 */
export function putXml(out: usize, start: usize, end: usize): usize {
  let at = start;
  while (at < end) {
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const left = end - at;
    const mask = maskOf(suspects(bytes), left);
    if (mask == 0) {
      const length: usize = left < 16 ? left : 16;
      at += length;
      out += length;
      continue;
    }
    const clean = <usize>ctz(mask);
    at += clean;
    out += clean;
    const byte = <u32>load<u8>(at);
    if (byte == 0x5f && !readsAsEscape(at, end)) out++;
    else if (byte == 0xef && !isNoCharacter(at)) out++;
    else if (byte == 0x09 || byte == 0x0a) out++;
    else {
      out = putEscape(out, at, byte);
      if (byte == 0xef) at += 2;
    }
    at++;
  }
  return out;
}

/** True when XML readers would drop the first or the last character: white space. */
// @ts-ignore: decorator
@inline
export function hasEdgeSpace(start: usize, end: usize): bool {
  if (start == end) return false;
  const first = <u32>load<u8>(start), last = <u32>load<u8>(end - 1);
  return isSpace(first) || isSpace(last);
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x09 || byte == 0x0a;
}

/** Bits of the bytes that may have to be escaped. */
// @ts-ignore: decorator
@inline
function suspects(bytes: v128): u32 {
  const controls = i8x16.eq(i8x16.min_u(bytes, i8x16.splat(0x1f)), bytes);
  // '<' and '>' differ in one bit.
  const angles = i8x16.eq(v128.or(bytes, i8x16.splat(2)), i8x16.splat(0x3e));
  const signs = v128.or(i8x16.eq(bytes, i8x16.splat(0x26)), i8x16.eq(bytes, i8x16.splat(0x5f)));
  const wide = i8x16.eq(bytes, i8x16.splat(<i8>0xef));
  return <u32>i8x16.bitmask(v128.or(v128.or(controls, angles), v128.or(signs, wide)));
}

/** `_xHHHH_` */
function readsAsEscape(at: usize, end: usize): bool {
  if (end - at < 7 || load<u8>(at, 1) != 0x78 || load<u8>(at, 6) != 0x5f) return false;
  for (let i: usize = 2; i < 6; i++) {
    const byte = <u32>load<u8>(at + i);
    const isHex = byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 6;
    if (!isHex) return false;
  }
  return true;
}

/** U+FFFE or U+FFFF. */
function isNoCharacter(at: usize): bool {
  return load<u8>(at, 1) == 0xbf && load<u8>(at, 2) >= 0xbe;
}

function putEscape(out: usize, at: usize, byte: u32): usize {
  if (byte == 0x26) {
    store<u32>(out, 0x706d6126);
    store<u8>(out, 0x3b, 4);
    return out + 5;
  }
  if (byte == 0x3c || byte == 0x3e) {
    store<u32>(out, byte == 0x3c ? 0x3b746c26 : 0x3b746726);
    return out + 4;
  }
  const code: u32 = byte == 0xef ? 0xff40 + <u32>load<u8>(at, 2) : byte;
  store<u16>(out, 0x785f);
  for (let i: usize = 0; i < 4; i++) store<u8>(out + 2 + i, hexDigit((code >> (12 - 4 * <u32>i)) & 15));
  store<u8>(out, 0x5f, 6);
  return out + 7;
}

// @ts-ignore: decorator
@inline
function hexDigit(value: u32): u8 {
  return <u8>(value < 10 ? 0x30 + value : 0x37 + value);
}
