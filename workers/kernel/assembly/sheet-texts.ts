// Texts of XML into what they mean: entities and line ends. Escapes of spreadsheet programs (`_x000D_`), CDATA sections and
// entities that XML does not know are left to another reader.
import { putCharacter } from './json-cells';
import { LESS } from './sheet-tags';

const AMPERSAND: u32 = 0x26;
const SEMICOLON: u32 = 0x3b;
const UNDERSCORE: u32 = 0x5f;
const LETTER_X: u32 = 0x78;
const LF: u32 = 0x0a;
const CR: u32 = 0x0d;

/** `lt;` and the others, as they lie in memory. */
const LT: u32 = 0x3b746c;
const GT: u32 = 0x3b7467;
const AMP: u32 = 0x3b706d61;
const QUOT: u32 = 0x746f7571;
const APOS: u32 = 0x736f7061;

/** Behind the text that was copied last. */
export let copiedEnd: usize = 0;

// @ts-ignore: decorator
@inline
export function setCopiedEnd(at: usize): void {
  copiedEnd = at;
}

/**
 * Copies the text that begins at `at` to `out`, up to the next `<`, of which the address is given. 0: it is left to another
 * reader, or finds no room below `limit`; behind `end`: more bytes are wanted. Up to 16 bytes behind are overwritten.
 */
export function copyText(at: usize, end: usize, out: usize, limit: usize): usize {
  // By their low halves: the four signs have different ones, and what stands elsewhere in the table has another than its place.
  const signs = i8x16(-1, 0, 0, 0, 0, 0, 0x26, 0, 0, 0, 0, 0, 0x3c, 0x0d, 0, 0x5f);
  while (at < end) {
    if (out > limit) return 0;
    const bytes = v128.load(at);
    v128.store(out, bytes);
    const found = i8x16.eq(i8x16.swizzle(signs, v128.and(bytes, i8x16.splat(0x0f))), bytes);
    const mask = <u32>i8x16.bitmask(found);
    if (mask == 0) {
      at += 16;
      out += 16;
      continue;
    }
    const clean = <usize>ctz(mask);
    at += clean;
    out += clean;
    const byte = <u32>load<u8>(at);
    if (byte == LESS) {
      copiedEnd = out;
      return out > limit ? 0 : at;
    }
    if (byte == AMPERSAND) {
      at = putEntity(at + 1, end, out);
      if (at == 0) return 0;
      out = copiedEnd;
    } else if (byte == CR) {
      store<u8>(out++, <u8>LF);
      at += <u32>load<u8>(at, 1) == LF ? 2 : 1;
    } else {
      if (<u32>load<u8>(at, 1) == LETTER_X) return 0;
      out++;
      at++;
    }
  }
  return end + 1;
}

/** The first `<` from `at` on, or `end`. */
export function textEnd(at: usize, end: usize): usize {
  for (; at < end; at += 16) {
    const mask = <u32>i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(<i8>LESS)));
    if (mask != 0) return min(at + <usize>ctz(mask), end);
  }
  return end;
}

/** Puts what the entity behind the `&` stands for, up to copiedEnd; gives the address behind its semicolon. */
function putEntity(at: usize, end: usize, out: usize): usize {
  const word = load<u32>(at);
  copiedEnd = out + 1;
  if ((word & 0xffffff) == LT || (word & 0xffffff) == GT) {
    store<u8>(out, (word & 0xffffff) == LT ? 0x3c : 0x3e);
    return at + 3;
  }
  if (word == AMP) {
    store<u8>(out, 0x26);
    return at + 4;
  }
  if (word == QUOT || word == APOS) {
    store<u8>(out, word == QUOT ? 0x22 : 0x27);
    return <u32>load<u8>(at, 4) == SEMICOLON ? at + 5 : 0;
  }
  return (word & 0xff) == 0x23 ? putNumbered(at + 1, out) : 0;
}

/** `&#233;` or `&#xe9;`, of which `at` is behind the sharp. */
function putNumbered(at: usize, out: usize): usize {
  const isHex = <u32>load<u8>(at) == LETTER_X;
  if (isHex) at++;
  const start = at;
  const limit = at + (isHex ? 6 : 7);
  let code: u32 = 0;
  for (; at < limit; at++) {
    const digit = digitOf(<u32>load<u8>(at), isHex);
    if (digit > 15) break;
    code = isHex ? (code << 4) | digit : code * 10 + digit;
  }
  if (at == start || <u32>load<u8>(at) != SEMICOLON) return 0;
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  copiedEnd = putCharacter(out, code);
  return at + 1;
}

/** Above 15: it is none. */
function digitOf(byte: u32, isHex: bool): u32 {
  const digit = byte - 0x30;
  if (digit < 10) return digit;
  const letter = (byte | 0x20) - 0x61;
  return isHex && letter < 6 ? letter + 10 : 16;
}
