// Tags of a sheet's XML: names with and without the sheet's prefix, attributes, ends of tags. 0 says that a tag is written in a
// way that is left to another reader; an address behind the end that more bytes are wanted.
import { PREFIX_WORD_BYTES } from '../layout/xml';

export const SPACE: u32 = 0x20;
export const QUOTE: u32 = 0x22;
export const APOSTROPHE: u32 = 0x27;
export const SLASH: u32 = 0x2f;
export const COLON: u32 = 0x3a;
export const LESS: u32 = 0x3c;
export const EQUALS: u32 = 0x3d;
export const GREATER: u32 = 0x3e;

/** ` xml:space="preserve">`, as it stands in most tags that have an attribute at all. */
const PRESERVE: usize = memory.data<u8>([
  0x20, 0x78, 0x6d, 0x6c, 0x3a, 0x73, 0x70, 0x61, 0x63, 0x65, 0x3d, 0x22, 0x70, 0x72, 0x65, 0x73, 0x65, 0x72, 0x76, 0x65,
  0x22, 0x3e,
]);
const PRESERVE_BYTES: usize = 22;

let prefixAt: usize = 0;
let prefixBytes: usize = 0;

/** The tag that `behindTag` passed has no content. */
export let isEmptyTag: bool = false;

/** What `nextAttribute` found: its name without prefix (in the lowest byte its first letter), and its value. */
export let nameStart: usize = 0;
export let nameEnd: usize = 0;
export let valueStart: usize = 0;
export let valueEnd: usize = 0;

/** Names are those of a part with this prefix (layout/xml.ts) from now on. */
export function usePrefix(prefix: usize): void {
  prefixAt = prefix + PREFIX_WORD_BYTES;
  prefixBytes = <usize>load<u32>(prefix);
}

/** Address of a name without the sheet's prefix. */
// @ts-ignore: decorator
@inline
export function behindPrefix(name: usize): usize {
  return prefixBytes == 0 ? name : behindLongPrefix(name);
}

function behindLongPrefix(name: usize): usize {
  return memory.compare(name, prefixAt, prefixBytes) == 0 ? name + prefixBytes : name;
}

/** True where the byte ends the name in an opening tag. */
// @ts-ignore: decorator
@inline
export function endsName(byte: u32): bool {
  return byte == GREATER || byte == SLASH || byte <= SPACE;
}

// @ts-ignore: decorator
@inline
export function behindSpaces(at: usize, end: usize): usize {
  while (at < end && <u32>load<u8>(at) <= SPACE) at++;
  return at;
}

/** Behind the `>` of the tag whose name ends at `at`. */
export function behindTag(at: usize, end: usize): usize {
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
 * Goes to the next attribute behind `at`: gives the address behind its value. Where there is none, that of the `>` or `/` that
 * ends the tag, and nameEnd is nameStart.
 */
export function nextAttribute(at: usize, end: usize): usize {
  at = behindSpaces(at, end);
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

/** Behind the `</name>` of one letter that must stand here, white space before it allowed. */
export function behindClosing(at: usize, end: usize, letter: u32): usize {
  at = behindSpaces(at, end);
  if (<u32>load<u16>(at) != 0x2f3c) return 0;
  const name = behindPrefix(at + 2);
  return <u32>load<u8>(name) == letter && <u32>load<u8>(name, 1) == GREATER ? name + 2 : 0;
}
