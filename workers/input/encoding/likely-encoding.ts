// Guesses the encoding of a text. Each candidate encoding decodes the text, and the result is scored for each language
// that uses the encoding (text-cost.ts): a letter costs fewer bits the more frequent it is in the language, and
// an implausible character costs many bits. The cheapest reading wins; if costs are equal, the first in the table. Uses
// integers only, so that the result is the same on every machine.

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { charactersOf } from './single-byte-table.ts';
import { LANGUAGES, type Language, textCost } from './text-cost.ts';

// Encodings of Chinese, Japanese and Korean, and how well a text fits them: whether it is valid, and how common its
// characters are. These character sets are ordered by frequency: the first rows contain the characters of everyday
// texts.

/** Cost in bits of a common syllable or sign: about 500 of them make up most texts. */
const SCRIPT_BITS = 8;
/** Cost in bits of a kana: there are about 80, and every Japanese text contains many. */
const KANA_BITS = 6;
/** Cost in bits of a character of the first level, which has some thousands of characters. */
const COMMON_BITS = 11;
/** Cost in bits of full-width letters and punctuation. */
const MARK_BITS = 10;
/** Cost in bits of a character of the second level or of a later addition. */
const RARE_BITS = 18;
/**
 * Costs in bits of half-width katakana: frequent ones, other ones, and single ones. In bank exports they occur in
 * sequences; a single one is implausible in any text.
 */
const HALF_WIDTH_BITS = 5;
const HALF_WIDTH_RARE_BITS = 8;
const HALF_WIDTH_ALONE_BITS = 16;
const HALF_WIDTH_FREQUENT = new Set(encodedHalfWidth('ﾞﾝｲｳｼﾄｶﾙﾘｽｸﾀｺﾅﾗﾏﾐﾖﾔﾌｻ'));
/** Additional cost in bits of a text without kana: almost every Japanese text has some. */
const NO_KANA_BITS = 8;
/** Additional cost in bits of an adjacent ASCII letter. */
const MIXED_SCRIPTS_BITS = 5;

interface Script {
  readonly encoding: string;
  /** Description of such a text for people. */
  readonly shows: string;
  /** Cost in bits of a two-byte character. */
  readonly bits: (lead: number, trail: number) => number;
  /** Single bytes from this value to 0xdf are half-width katakana. */
  readonly halfWidthFrom?: number;
  readonly hasKana?: true;
}

const SCRIPTS: readonly Script[] = [
  {
    encoding: 'shift_jis',
    shows: 'characters of Japanese',
    hasKana: true,
    halfWidthFrom: 0xa1,
    bits: (lead, trail) => {
      if ((lead === 0x82 && trail >= 0x9f) || (lead === 0x83 && trail <= 0x96)) return KANA_BITS;
      if (lead < 0x88) return lead <= 0x82 ? MARK_BITS : RARE_BITS;
      return lead < 0x98 || (lead === 0x98 && trail <= 0x72) ? COMMON_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'euc-jp',
    shows: 'characters of Japanese',
    hasKana: true,
    bits: (lead, trail) => {
      if (lead === 0xa4 || lead === 0xa5) return KANA_BITS;
      if (lead === 0x8e) return trail >= 0xa1 && trail <= 0xdf ? HALF_WIDTH_BITS : RARE_BITS;
      if (lead < 0xb0) return lead === 0xa1 || lead === 0xa3 ? MARK_BITS : RARE_BITS;
      return lead <= 0xcf ? COMMON_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'gb18030',
    shows: 'characters of Chinese',
    bits: (lead, trail) => {
      if (trail < 0xa1) return RARE_BITS;
      if (lead < 0xb0) return lead === 0xa1 || lead === 0xa3 ? MARK_BITS : RARE_BITS;
      return lead <= 0xd7 ? COMMON_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'big5',
    shows: 'characters of Chinese',
    bits: (lead) => {
      if (lead >= 0xa4 && lead <= 0xc6) return COMMON_BITS;
      return lead === 0xa1 || lead === 0xa2 ? MARK_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'euc-kr',
    shows: 'characters of Korean',
    bits: (lead, trail) => {
      if (trail < 0xa1) return RARE_BITS;
      if (lead >= 0xb0 && lead <= 0xc8) return SCRIPT_BITS;
      return lead === 0xa1 || lead === 0xa3 ? MARK_BITS : RARE_BITS;
    },
  },
];

/** Each encoding with a function that returns the cost of a text in bits, or null if the text is not valid in it. */
const DOUBLE_BYTE_READINGS = SCRIPTS.map((script) => ({
  encoding: script.encoding,
  shows: script.shows,
  cost: (lines: Uint8Array): number | null => (isValid(lines, script.encoding) ? costOf(lines, script) : null),
}));

function isValid(lines: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(lines);
    return true;
  } catch {
    return false;
  }
}

/** @param lines lines that are valid in the encoding of the script */
function costOf(lines: Uint8Array, { bits: bitsOf, halfWidthFrom, hasKana: needsKana }: Script): number {
  let cost = 0;
  let hasKana = needsKana !== true;
  let wasLetter = false;
  let wasHalfWidth = false;
  for (let at = 0; at < lines.length; at++) {
    const byte = lines[at]!;
    if (byte < 0x80) {
      wasLetter = isLetter(byte);
      wasHalfWidth = false;
      continue;
    }
    const isHalfWidth = halfWidthFrom !== undefined && byte >= halfWidthFrom && byte <= 0xdf;
    if (isHalfWidth) {
      const next = lines[at + 1] ?? 0;
      const stands = wasHalfWidth || (next >= halfWidthFrom && next <= 0xdf);
      const bits = HALF_WIDTH_FREQUENT.has(byte) ? HALF_WIDTH_BITS : HALF_WIDTH_RARE_BITS;
      cost += stands ? bits : HALF_WIDTH_ALONE_BITS;
      hasKana ||= stands;
    } else {
      const trail = lines[at + 1]!;
      // Characters of four bytes are rare, so the third and fourth byte count as another character.
      const weight = trail < 0x40 ? RARE_BITS : bitsOf(byte, trail);
      cost += weight;
      hasKana ||= weight === KANA_BITS;
      at++;
    }
    if (wasLetter || isLetter(lines[at + 1] ?? 0)) cost += MIXED_SCRIPTS_BITS;
    wasLetter = false;
    wasHalfWidth = isHalfWidth;
  }
  return hasKana ? cost : cost + NO_KANA_BITS;
}

/** Returns the bytes of half-width katakana. Unicode has them in the same order. */
function encodedHalfWidth(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0) - 0xff61 + 0xa1);
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** An encoding in which a text is valid, with its score. */
export interface Reading {
  readonly encoding: string;
  /** Cost in bits. */
  readonly cost: number;
  /** Description, for people, of the non-ASCII bytes in this encoding. */
  readonly shows: string;
}

const WEST = ['german', 'french', 'spanish', 'portuguese', 'italian', 'nordic', 'icelandic', 'dutch', 'catalan'];
const EAST = ['polish', 'czech', 'slovak', 'hungarian', 'romanian', 'croatian', 'german'];
const CYRILLIC = ['russian', 'ukrainian', 'bulgarian', 'serbian'];
const BALTIC = ['lithuanian', 'latvian', 'estonian'];

interface SingleByteReading {
  readonly encoding: string;
  /**
   * Bits for how rarely files have this encoding. They decide if the text contains only one or two non-ASCII letters.
   */
  readonly rarity: number;
  readonly languages: readonly string[];
}

/** If costs are equal, the first entry wins. */
const SINGLE_BYTE_READINGS: readonly SingleByteReading[] = [
  { encoding: 'windows-1252', rarity: 0, languages: WEST },
  { encoding: 'windows-1250', rarity: 2, languages: EAST },
  { encoding: 'windows-1251', rarity: 2, languages: CYRILLIC },
  { encoding: 'windows-1253', rarity: 2, languages: ['greek'] },
  { encoding: 'windows-1254', rarity: 2, languages: ['turkish'] },
  { encoding: 'windows-1257', rarity: 4, languages: BALTIC },
  { encoding: 'windows-1255', rarity: 3, languages: ['hebrew'] },
  { encoding: 'windows-1256', rarity: 3, languages: ['arabic'] },
  { encoding: 'windows-874', rarity: 3, languages: ['thai'] },
  { encoding: 'iso-8859-15', rarity: 3, languages: WEST },
  { encoding: 'iso-8859-2', rarity: 3, languages: EAST },
  { encoding: 'iso-8859-7', rarity: 3, languages: ['greek'] },
  { encoding: 'koi8-r', rarity: 3, languages: CYRILLIC },
  { encoding: 'koi8-u', rarity: 3, languages: CYRILLIC },
  { encoding: 'ibm866', rarity: 3, languages: CYRILLIC },
  { encoding: 'macintosh', rarity: 4, languages: WEST },
  { encoding: 'ibm850', rarity: 4, languages: WEST },
  { encoding: 'ibm437', rarity: 5, languages: WEST },
];

/**
 * Readings of a text, the most likely first; empty for ASCII text. This takes tens of milliseconds: keep the result.
 * @param lines see NonAsciiLines
 */
export function likelyReadings(lines: Uint8Array): readonly Reading[] {
  if (lines.length === 0) return [];
  if (isUtf8(lines)) return [{ encoding: 'utf-8', cost: 0, shows: 'text' }];
  const double = DOUBLE_BYTE_READINGS.map(({ encoding, cost: costOf, shows }) => {
    const cost = costOf(lines);
    return cost === null ? null : { encoding, cost, shows };
  });
  return byCost([...singleByteCosts(lines), ...double]);
}

/** The encodings of `likelyReadings`. */
export function likelyEncodings(lines: Uint8Array): readonly string[] {
  return likelyReadings(lines).map(({ encoding }) => encoding);
}

/**
 * A Latin letter next to a letter of another alphabet. Words do not mix alphabets, so such bytes are UTF-8 by chance,
 * and each match adds a cost in bits.
 */
const TWO_ALPHABETS = /[a-z](?=[^\p{Script=Latin}\P{L}])|(?<=[^\p{Script=Latin}\P{L}])[a-z]/giu;
const TWO_ALPHABETS_BITS = 8;

/** Cost in bits of a text that was UTF-8, in the most likely language. */
export function leastUtf8Cost(text: string): number {
  const units = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  const words = text.match(TWO_ALPHABETS)?.length ?? 0;
  return (
    words * TWO_ALPHABETS_BITS + Math.min(...Object.values(LANGUAGES).map((language) => textCost(units, language)))
  );
}

/** Readings in single-byte encodings, the most likely first. Only a text with NUL bytes has no reading. */
export function singleByteCosts(lines: Uint8Array): readonly Reading[] {
  return byCost(SINGLE_BYTE_READINGS.map((reading) => singleByteReading(lines, reading)));
}

function byCost(readings: readonly (Reading | null)[]): readonly Reading[] {
  return readings.filter((reading) => reading !== null).sort((a, b) => a.cost - b.cost);
}

/**
 * Returns null if the text is not valid in the encoding. Also returns null if the text has no word of an alphabet that
 * only some encodings have.
 */
function singleByteReading(lines: Uint8Array, reading: SingleByteReading): Reading | null {
  const { encoding, rarity, languages } = reading;
  const characters = charactersOf(encoding);
  if (characters === null) return null;
  const text = new Uint16Array(lines.length);
  for (let at = 0; at < lines.length; at++) {
    const byte = lines[at]!;
    const character = byte < 0x80 ? byte : characters[byte - 0x80]!;
    if (character === 0) return null;
    text[at] = character;
  }
  // A single letter does not prove an alphabet: its byte may also be a sign in windows-1252, such as a no-break space.
  if (!languages.some((name) => LANGUAGES[name]!.isLatin) && !hasWord(text)) return null;
  const costs = languages.map((name) => ({ name, cost: textCost(text, LANGUAGES[name] as Language) }));
  const best = costs.reduce((least, one) => (one.cost < least.cost ? one : least));
  const language = best.name[0]!.toUpperCase() + best.name.slice(1);
  return { encoding, cost: rarity + best.cost, shows: hasLetter(text) ? `letters of ${language}` : 'signs alone' };
}

/** Minimum number of consecutive letters that count as a word. */
const WORD_LETTERS_MIN = 3;
const LETTER = /[\p{L}\p{M}]/u;

function hasWord(text: Uint16Array): boolean {
  let letters = 0;
  for (const unit of text) {
    letters = unit >= 0x80 && LETTER.test(String.fromCharCode(unit)) ? letters + 1 : 0;
    if (letters === WORD_LETTERS_MIN) return true;
  }
  return false;
}

function hasLetter(text: Uint16Array): boolean {
  return text.some((unit) => unit >= 0x80 && LETTER.test(String.fromCharCode(unit)));
}
