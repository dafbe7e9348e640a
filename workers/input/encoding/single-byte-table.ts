// The characters of single-byte encodings. Those of WHATWG are asked of TextDecoder, so that there is one source of them, but
// for the most frequent one: to ask costs a small file as much as its rows. Two code pages of DOS, which WHATWG lacks and old
// exports have, stand here, too.
import { TextDecoder } from 'node:util';

/** Names of WHATWG's single-byte encodings, as far as the runtime has them. */
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

/** What stands here instead of being asked for. */
const KNOWN_CHARACTERS: Readonly<Record<string, string>> = {
  ...DOS_CHARACTERS,
  'windows-1252': `€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ${LATIN_1}`,
};

const FIRST_BYTE = 0x80;
const BYTES = 128;

/** Stands for a byte that is no character. */
const REPLACEMENT = 0xfffd;

/** Names of the encodings that `charactersOf` knows. */
export const SINGLE_BYTE_NAMES: readonly string[] = [...WHATWG_NAMES, ...Object.keys(DOS_CHARACTERS)];

/** Those of them that are not WHATWG's. */
export const DOS_NAMES: readonly string[] = Object.keys(DOS_CHARACTERS);

/** Code units of the bytes from 0x80 on, 0 where the encoding has none; null for a name that is no single-byte encoding. */
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

/** Every byte is a character, as far as a table of charactersOf goes. */
export function isTotal(characters: Uint16Array): boolean {
  return !characters.includes(0);
}

/**
 * All with one decoder: to make one takes longer than to use it.
 * As a stream: Node 20 takes windows-1252 for Latin 1 where a text is decoded at once.
 */
function decoded(name: string): string {
  const bytes = Uint8Array.from({ length: BYTES }, (_, index) => FIRST_BYTE + index);
  return new TextDecoder(name).decode(bytes, { stream: true });
}
