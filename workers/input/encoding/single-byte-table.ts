// Character tables of single-byte encodings, and the conversion of a file's first part with them.
import { TextDecoder } from 'node:util';

// Character tables of single-byte encodings. Tables of WHATWG encodings come from TextDecoder, so that they are not
// duplicated here. The exception is windows-1252, the most frequent one: asking TextDecoder takes as long as reading a
// small file. Two DOS code pages, which WHATWG lacks and old exports use, are defined here.

/** Names of WHATWG's single-byte encodings that the runtime supports. */
const WHATWG_NAMES = [
  ...['windows-1252', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
  ...['windows-1257', 'windows-1258', 'windows-874', 'macintosh', 'x-mac-cyrillic', 'koi8-r', 'koi8-u', 'ibm866'],
  ...['iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'iso-8859-8-i'],
  ...['iso-8859-10', 'iso-8859-13', 'iso-8859-14', 'iso-8859-15'],
];

/** Characters of the bytes from 0x80 on. */
const DOS_CHARACTERS: Readonly<Record<string, string>> = {
  ibm437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
    'αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0',
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀' +
    'ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00AD±‗¾¶§÷¸°¨·¹³²■\u00A0',
};

const LATIN_1 = String.fromCharCode(...Array.from({ length: 96 }, (_, index) => 0xa0 + index));

/** Encodings whose characters are defined here instead of requested from TextDecoder. */
const KNOWN_CHARACTERS: Readonly<Record<string, string>> = {
  ...DOS_CHARACTERS,
  'windows-1252': `€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ${LATIN_1}`,
};

const FIRST_BYTE = 0x80;
const BYTES = 128;

/** Character that TextDecoder returns for an undefined byte. */
const REPLACEMENT = 0xfffd;

/** Names of the encodings that `charactersOf` supports. */
export const SINGLE_BYTE_NAMES: readonly string[] = [...WHATWG_NAMES, ...Object.keys(DOS_CHARACTERS)];

/** Names of the encodings that WHATWG does not define. */
export const DOS_NAMES: readonly string[] = Object.keys(DOS_CHARACTERS);

/**
 * Returns the UTF-16 code units of the bytes from 0x80 on, 0 for an undefined byte. Returns null if the name is not a
 * single-byte encoding.
 */
export function charactersOf(name: string): Uint16Array | null {
  if (!SINGLE_BYTE_NAMES.includes(name)) return null;
  const characters = KNOWN_CHARACTERS[name] ?? decoded(name);
  const units = new Uint16Array(BYTES);
  for (let index = 0; index < BYTES; index++) {
    const unit = characters.charCodeAt(index);
    units[index] = unit === REPLACEMENT ? 0 : unit;
  }
  return units;
}

/**
 * True if the encoding defines every byte.
 * @param characters result of charactersOf
 */
export function isTotal(characters: Uint16Array): boolean {
  return !characters.includes(0);
}

/**
 * Decodes all bytes with one decoder, because creating a decoder takes longer than using it. Decodes as a stream,
 * because Node 20 mistakes windows-1252 for Latin 1 if a text is decoded at once.
 */
function decoded(name: string): string {
  const bytes = Uint8Array.from({ length: BYTES }, (_, index) => FIRST_BYTE + index);
  return new TextDecoder(name).decode(bytes, { stream: true });
}

const TWO_BYTES_MIN = 0x80;
const THREE_BYTES_MIN = 0x800;

/** Maximum UTF-8 length of a character of the basic plane. */
const BYTES_MAX = 3;

/** @param characters result of charactersOf */
export function utf8OfBytes(bytes: Uint8Array, characters: Uint16Array): Uint8Array {
  const text = Buffer.allocUnsafe(bytes.length * BYTES_MAX);
  let to = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < TWO_BYTES_MIN) text[to++] = byte;
    else to = putUtf8(text, to, characters[byte - TWO_BYTES_MIN]! || REPLACEMENT);
  }
  return text.subarray(0, to);
}

/**
 * Returns the end of the written character.
 * @param unit code unit that is neither a surrogate nor ASCII
 */
function putUtf8(text: Uint8Array, at: number, unit: number): number {
  if (unit < THREE_BYTES_MIN) {
    text[at] = 0xc0 | (unit >>> 6);
    text[at + 1] = 0x80 | (unit & 0x3f);
    return at + 2;
  }
  text[at] = 0xe0 | (unit >>> 12);
  text[at + 1] = 0x80 | ((unit >>> 6) & 0x3f);
  text[at + 2] = 0x80 | (unit & 0x3f);
  return at + 3;
}
