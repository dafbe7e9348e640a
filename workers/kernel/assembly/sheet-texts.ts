// XML of a workbook: tags, texts, texts with formatting runs, and shared strings.
import { PREFIX_WORD_BYTES, STATUS_LEFT, STATUS_MORE } from '../layout/sheet';
import { putCharacter } from './json-cells';
import {
  AT,
  ENTRIES_AT,
  ENTRIES_END,
  ENTRY_BYTES,
  PREFIX,
  STATUS,
  TEXTS_AT,
  TEXTS_END,
} from '../layout/shared-strings';

// Tags of a sheet's XML: names with and without the namespace prefix, attributes, and ends of tags. Functions return 0
// for a form that is left to the fallback reader, and an address after `end` if more bytes are needed. The
// fallback reader is the slower reader in workers/input/xlsx, which accepts all forms.

export const SPACE: u32 = 0x20;
export const QUOTE: u32 = 0x22;
export const APOSTROPHE: u32 = 0x27;
export const SLASH: u32 = 0x2f;
export const COLON: u32 = 0x3a;
export const LESS: u32 = 0x3c;
export const EQUALS: u32 = 0x3d;
export const GREATER: u32 = 0x3e;

/** ` xml:space="preserve">`, as in most tags that have an attribute at all. */
const PRESERVE: usize = memory.data<u8>([
  0x20, 0x78, 0x6d, 0x6c, 0x3a, 0x73, 0x70, 0x61, 0x63, 0x65, 0x3d, 0x22, 0x70, 0x72, 0x65, 0x73, 0x65, 0x72, 0x76, 0x65,
  0x22, 0x3e,
]);
const PRESERVE_BYTES: usize = 22;

let prefixAt: usize = 0;
let prefixBytes: usize = 0;

/** True if the tag passed by `afterTag` has no content. */
export let isEmptyTag: bool = false;

/** Results of `nextAttribute`: the attribute's name without prefix, and its value. */
export let nameStart: usize = 0;
export let nameEnd: usize = 0;
export let valueStart: usize = 0;
export let valueEnd: usize = 0;

/** Sets the namespace prefix of element names (layout/sheet.ts). */
export function usePrefix(prefix: usize): void {
  prefixAt = prefix + PREFIX_WORD_BYTES;
  prefixBytes = <usize>load<u32>(prefix);
}

/** Address of a name without the namespace prefix. */
// @ts-ignore: decorator
@inline
export function afterPrefix(name: usize): usize {
  return prefixBytes == 0 ? name : afterLongPrefix(name);
}

function afterLongPrefix(name: usize): usize {
  return memory.compare(name, prefixAt, prefixBytes) == 0 ? name + prefixBytes : name;
}

/** True if the byte ends the name in an opening tag. */
// @ts-ignore: decorator
@inline
export function endsName(byte: u32): bool {
  return byte == GREATER || byte == SLASH || byte <= SPACE;
}

// @ts-ignore: decorator
@inline
export function afterSpaces(at: usize, end: usize): usize {
  while (at < end && <u32>load<u8>(at) <= SPACE) at++;
  return at;
}

/** Returns the address after the `>` of the tag whose name ends at `at`. */
export function afterTag(at: usize, end: usize): usize {
  isEmptyTag = false;
  if (<u32>load<u8>(at) == GREATER) return at + 1;
  if (<u32>load<u8>(at) == SPACE && memory.compare(at, PRESERVE, PRESERVE_BYTES) == 0) return at + PRESERVE_BYTES;
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == GREATER) {
      isEmptyTag = <u32>load<u8>(at - 1) == SLASH;
      return at + 1;
    }
    if (byte != QUOTE && byte != APOSTROPHE) continue;
    at++;
    while (at < end && <u32>load<u8>(at) != byte) at++;
  }
  return end + 1;
}

/**
 * Finds the next attribute after `at` and returns the address after its value. If there is no attribute, returns the
 * address of the `>` or `/` that ends the tag, and nameEnd equals nameStart.
 */
export function nextAttribute(at: usize, end: usize): usize {
  at = afterSpaces(at, end);
  nameStart = at;
  let byte = <u32>load<u8>(at);
  if (byte == GREATER || byte == SLASH) {
    nameEnd = at;
    return at;
  }
  while (at < end && byte != EQUALS) {
    if (byte <= SPACE || byte == GREATER || byte == SLASH || byte == QUOTE || byte == APOSTROPHE || byte == LESS) return 0;
    at++;
    if (byte == COLON) nameStart = at;
    byte = <u32>load<u8>(at);
  }
  nameEnd = at;
  if (nameEnd == nameStart) return 0;
  const quote = <u32>load<u8>(at, 1);
  if (quote != QUOTE && quote != APOSTROPHE) return 0;
  at += 2;
  valueStart = at;
  while (at < end && <u32>load<u8>(at) != quote) at++;
  valueEnd = at;
  return at + 1;
}

/** Returns the address after the `</name>` of one letter, which must be at `at` with optional white space before it. */
export function afterClosing(at: usize, end: usize, letter: u32): usize {
  at = afterSpaces(at, end);
  if (<u32>load<u16>(at) != 0x2f3c) return 0;
  const name = afterPrefix(at + 2);
  return <u32>load<u8>(name) == letter && <u32>load<u8>(name, 1) == GREATER ? name + 2 : 0;
}

// Decodes XML texts: entities and line ends. Escapes of spreadsheet programs (`_x000D_`), CDATA sections and unknown
// entities are left to the fallback reader.

const AMPERSAND: u32 = 0x26;
const SEMICOLON: u32 = 0x3b;
const UNDERSCORE: u32 = 0x5f;
const LETTER_X: u32 = 0x78;
const LF: u32 = 0x0a;
const CR: u32 = 0x0d;

/** `lt;` and the other entities as words in memory order. */
const LT: u32 = 0x3b746c;
const GT: u32 = 0x3b7467;
const AMP: u32 = 0x3b706d61;
const QUOT: u32 = 0x746f7571;
const APOS: u32 = 0x736f7061;

/** Address after the text copied last. */
export let copiedEnd: usize = 0;

// @ts-ignore: decorator
@inline
function setCopiedEnd(at: usize): void {
  copiedEnd = at;
}

/**
 * Copies the text at `at` to `out`, up to the next `<`. Returns the address of the `<`, 0 to leave the text to the
 * fallback reader or if it does not fit below `limit`, or an address after `end` if more bytes are needed. Overwrites
 * up to 16 bytes after the text.
 */
export function copyText(at: usize, end: usize, out: usize, limit: usize): usize {
  // Looks up the four special characters by the low half of the byte, which differs between them. The other
  // entries (0, or -1 at index 0) have another low half than the bytes that select them, so they never equal a byte.
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

/** Address of the first `<` from `at` on, or `end`. */
export function textEnd(at: usize, end: usize): usize {
  for (; at < end; at += 16) {
    const mask = <u32>i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(<i8>LESS)));
    if (mask != 0) return min(at + <usize>ctz(mask), end);
  }
  return end;
}

/** Writes the character of the entity after the `&`, and sets copiedEnd. Returns the address after the semicolon. */
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

/** Decodes `&#233;` or `&#xe9;`. `at` is after the `#`. */
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

/** Value of a digit, or more than 15 if the byte is not a digit. */
function digitOf(byte: u32, isHex: bool): u32 {
  const digit = byte - 0x30;
  if (digit < 10) return digit;
  const letter = (byte | 0x20) - 0x61;
  return isHex && letter < 6 ? letter + 10 : 16;
}

// Texts of cells and shared strings with formatting runs: `<t>`, and `<r>` with a `<t>` and properties. Phonetic
// readings and other elements are left to the fallback reader.

const LETTER_R: u32 = 0x72;
const LETTER_T: u32 = 0x74;

/** `is>`, `si>` and `rPr` in the low three bytes. */
export const IS_CLOSES: u32 = 0x3e7369;
const SI_CLOSES: u32 = 0x3e6973;
const RPR: u32 = 0x725072;
/** `rPr>` */
const RPR_CLOSES: u32 = 0x3e725072;
const THREE_BYTES: u32 = 0xffffff;

/**
 * Joins the texts from `at` up to the item's closing tag, and writes them to `out`. Returns the address after the
 * closing tag, and sets copiedEnd to the end of the text. Returns 0 to leave the item to the fallback reader, or an
 * address after `end` if more bytes are needed.
 * @param closes IS_CLOSES or SI_CLOSES
 */
export function readRichText(at: usize, end: usize, out: usize, limit: usize, closes: u32): usize {
  let isInRun = false;
  while (at < end) {
    at = afterSpaces(at, end);
    if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
    if (<u32>load<u8>(at, 1) == SLASH) {
      const closing = afterPrefix(at + 2);
      if (!isInRun) {
        setCopiedEnd(out);
        return (load<u32>(closing) & THREE_BYTES) == closes ? closing + 3 : 0;
      }
      at = afterClosing(at, end, LETTER_R);
      if (at == 0) return 0;
      isInRun = false;
      continue;
    }
    const name = afterPrefix(at + 1);
    const letter = <u32>load<u8>(name);
    if (letter == LETTER_T && endsName(<u32>load<u8>(name, 1))) {
      at = afterTag(name + 1, end);
      if (at > end) return at;
      if (isEmptyTag) continue;
      at = copyText(at, end, out, limit);
      if (at == 0 || at > end) return at;
      out = copiedEnd;
      at = afterClosing(at, end, LETTER_T);
      if (at == 0) return 0;
    } else if (letter == LETTER_R && endsName(<u32>load<u8>(name, 1)) && !isInRun) {
      at = afterTag(name + 1, end);
      if (at > end) return at;
      isInRun = !isEmptyTag;
    } else if ((load<u32>(name) & THREE_BYTES) == RPR && endsName(<u32>load<u8>(name, 3))) {
      at = afterProperties(name + 3, end);
      if (at == 0 || at > end) return at;
    } else return 0;
  }
  return end + 1;
}

/** Skips the properties of a run (elements without content), whose name ends at `at`. */
function afterProperties(at: usize, end: usize): usize {
  at = afterTag(at, end);
  if (at > end || isEmptyTag) return at;
  while (at < end) {
    at = afterSpaces(at, end);
    if (<u32>load<u8>(at) != LESS) return at >= end ? end + 1 : 0;
    if (<u32>load<u8>(at, 1) == SLASH) {
      const name = afterPrefix(at + 2);
      return load<u32>(name) == RPR_CLOSES ? name + 4 : 0;
    }
    if (!isLetter(<u32>load<u8>(at, 1))) return 0;
    at = afterTag(at + 2, end);
    if (at > end) return at;
    if (!isEmptyTag) return 0;
  }
  return end + 1;
}

// @ts-ignore: decorator
@inline
function isLetter(byte: u32): bool {
  return (byte | 0x20) - 0x61 < 26;
}

// Reads the shared strings of a workbook into memory, for the forms that nearly all programs write: `<si>` with a text
// or with runs. Scalar reference implementation: workers/input/xlsx/shared-strings.ts, which reads all other forms tag
// by tag.

/** `si` in the low two bytes. */
const SI: u32 = 0x6973;

/**
 * Continues from AT up to `end`, which must be followed by a fence (FENCE_BYTES), or until the memory is full. STATUS
 * reports why it stopped.
 */
export function readStrings(state: usize, end: usize): void {
  usePrefix(state + PREFIX);
  const limit = <usize>load<u32>(state, TEXTS_END);
  const entriesEnd = <usize>load<u32>(state, ENTRIES_END);
  let out = <usize>load<u32>(state, TEXTS_AT);
  let entry = <usize>load<u32>(state, ENTRIES_AT);
  let at = <usize>load<u32>(state, AT);
  let status = STATUS_MORE;
  for (;;) {
    at = afterSpaces(at, end);
    if (at >= end) break;
    const after = entry < entriesEnd ? readItem(at, end, out, limit) : 0;
    if (after > end) break;
    if (after == 0) {
      status = STATUS_LEFT;
      break;
    }
    store<u32>(entry, <u32>out);
    store<u32>(entry, <u32>(copiedEnd - out), 4);
    entry += ENTRY_BYTES;
    out = copiedEnd;
    at = after;
  }
  store<u32>(state, <u32>at, AT);
  store<u32>(state, <u32>out, TEXTS_AT);
  store<u32>(state, <u32>entry, ENTRIES_AT);
  store<u32>(state, status, STATUS);
}

/** Copies the text of the item at `at`. Returns the address after the item. */
// @ts-ignore: decorator
@inline
function readItem(at: usize, end: usize, out: usize, limit: usize): usize {
  if (<u32>load<u8>(at) != LESS) return 0;
  const name = afterPrefix(at + 1);
  if (<u32>load<u16>(name) != SI || !endsName(<u32>load<u8>(name, 2))) return 0;
  const inside = afterTag(name + 2, end);
  if (inside > end) return inside;
  return isEmptyTag ? 0 : readRichText(inside, end, out, limit, SI_CLOSES);
}
