// Makes clean cells of those that stand in the file with escapes, or with white space between the tokens of JSON. What comes
// out is never longer than what stood there, and takes its place.
import { KIND_UNSETTLED } from '../layout/json';
import { KIND_JSON } from '../layout/native-kinds';
import { BACKSLASH, hexValue, QUOTE } from './json-tokens';
import { isNullText, mayBeNullText } from './null-texts';

const HIGH_SURROGATE: u32 = 0xd800;
const LOW_SURROGATE: u32 = 0xdc00;
const BEHIND_SURROGATES: u32 = 0xe000;

/** Stands for half of a surrogate pair, which UTF-8 cannot hold. */
const REPLACEMENT: u32 = 0xfffd;

/** Settles the cells of one column. @param texts list of the texts that mean "missing", 0 = there are none */
export function settleCells(views: usize, kinds: usize, rows: u32, texts: usize): void {
  for (let row: usize = 0; row < <usize>rows; row++) {
    const view = views + (row << 3);
    const start = <usize>load<u32>(view);
    if (start == 0) continue;
    const kind = <u32>load<u8>(kinds + row);
    let bytes = <usize>load<u32>(view, 4);
    if ((kind & KIND_UNSETTLED) != 0) {
      const clean = kind & ~KIND_UNSETTLED;
      const end = start + bytes;
      bytes = clean == KIND_JSON ? withoutSpaces(start, end) : unescape(start, end, start);
      store<u32>(view, <u32>bytes, 4);
      store<u8>(kinds + row, <u8>clean);
    }
    if (texts != 0 && mayBeNullText(texts, <u32>bytes) && isNullText(texts, start, <u32>bytes)) store<u64>(view, 0);
  }
}

/** Writes the text of a sound string's inside [from, to) to `target`, which may be `from`; gives its bytes. */
export function unescape(from: usize, to: usize, target: usize): usize {
  let out = target;
  while (from < to) {
    const byte = <u32>load<u8>(from);
    if (byte != BACKSLASH) {
      store<u8>(out++, <u8>byte);
      from++;
      continue;
    }
    const letter = <u32>load<u8>(from, 1);
    if (letter != 0x75) {
      store<u8>(out++, <u8>escaped(letter));
      from += 2;
      continue;
    }
    let code = <u32>hexValue(from + 2);
    from += 6;
    if (code >= HIGH_SURROGATE && code < BEHIND_SURROGATES) {
      const low = code < LOW_SURROGATE ? lowSurrogate(from, to) : 0;
      if (low != 0) {
        code = 0x10000 + ((code - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE);
        from += 6;
      } else code = REPLACEMENT;
    }
    out = putCharacter(out, code);
  }
  return out - target;
}

/** The second half of a pair, where it is escaped here, else 0. */
function lowSurrogate(p: usize, to: usize): u32 {
  if (p + 6 > to || <u32>load<u8>(p) != BACKSLASH || <u32>load<u8>(p, 1) != 0x75) return 0;
  const code = <u32>hexValue(p + 2);
  return code >= LOW_SURROGATE && code < BEHIND_SURROGATES ? code : 0;
}

/** b, f, n, r and t are letters for what cannot be seen; the others stand for themselves. */
function escaped(letter: u32): u32 {
  if (letter == 0x6e) return 0x0a;
  if (letter == 0x74) return 0x09;
  if (letter == 0x72) return 0x0d;
  if (letter == 0x62) return 0x08;
  return letter == 0x66 ? 0x0c : letter;
}

/** Writes a character as UTF-8; gives the address behind it. */
export function putCharacter(out: usize, code: u32): usize {
  if (code < 0x80) {
    store<u8>(out, <u8>code);
    return out + 1;
  }
  if (code < 0x800) {
    store<u8>(out, <u8>(0xc0 | (code >> 6)));
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 1);
    return out + 2;
  }
  if (code < 0x10000) {
    store<u8>(out, <u8>(0xe0 | (code >> 12)));
    store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 1);
    store<u8>(out, <u8>(0x80 | (code & 0x3f)), 2);
    return out + 3;
  }
  store<u8>(out, <u8>(0xf0 | (code >> 18)));
  store<u8>(out, <u8>(0x80 | ((code >> 12) & 0x3f)), 1);
  store<u8>(out, <u8>(0x80 | ((code >> 6) & 0x3f)), 2);
  store<u8>(out, <u8>(0x80 | (code & 0x3f)), 3);
  return out + 4;
}

/** Leaves out the white space between the tokens of sound JSON; gives the bytes that stay. */
function withoutSpaces(from: usize, to: usize): usize {
  let out = from;
  let inString = false;
  for (let p = from; p < to; p++) {
    const byte = <u32>load<u8>(p);
    if (inString) {
      if (byte == BACKSLASH) {
        store<u8>(out++, <u8>byte);
        p++;
      } else if (byte == QUOTE) inString = false;
    } else if (byte <= 0x20) continue;
    else if (byte == QUOTE) inString = true;
    store<u8>(out++, load<u8>(p));
  }
  return out - from;
}
