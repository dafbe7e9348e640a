// Encodings of Chinese, Japanese and Korean, as readings of a text: is it valid, and how common are its characters? These
// character sets are ordered by use: their first rows hold what everyday texts are made of.
import { TextDecoder } from 'node:util';

/** Half a thousand syllables or signs make up most texts: bits of one of them. */
const SCRIPT_BITS = 8;
/** A kana: there are 80 of them, and each Japanese text is full of them. */
const KANA_BITS = 6;
/** Of a character of the first level, some thousands. */
const COMMON_BITS = 11;
/** Full-width letters, punctuation. */
const MARK_BITS = 10;
/** Of a character of the second level, or one that was added later. */
const RARE_BITS = 18;
/** Half-width katakana, which stand in rows in exports of banks, and alone in no text: the frequent ones, and others. */
const HALF_WIDTH_BITS = 5;
const HALF_WIDTH_RARE_BITS = 8;
const HALF_WIDTH_ALONE_BITS = 16;
const HALF_WIDTH_FREQUENT = new Set(encodedHalfWidth('ﾞﾝｲｳｼﾄｶﾙﾘｽｸﾀｺﾅﾗﾏﾐﾖﾔﾌｻ'));
/** Hardly a text in Japanese is without kana. */
const NO_KANA_BITS = 8;
/** A letter of ASCII beside it. */
const MIXED_SCRIPTS_BITS = 5;

interface Script {
  readonly encoding: string;
  /** Bits of a character of two bytes. */
  readonly bits: (lead: number, trail: number) => number;
  /** Single bytes from here to 0xdf are half-width katakana. */
  readonly halfWidthFrom?: number;
  readonly hasKana?: true;
}

const SCRIPTS: readonly Script[] = [
  {
    encoding: 'shift_jis',
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
    bits: (lead, trail) => {
      if (trail < 0xa1) return RARE_BITS;
      if (lead < 0xb0) return lead === 0xa1 || lead === 0xa3 ? MARK_BITS : RARE_BITS;
      return lead <= 0xd7 ? COMMON_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'big5',
    bits: (lead) => {
      if (lead >= 0xa4 && lead <= 0xc6) return COMMON_BITS;
      return lead === 0xa1 || lead === 0xa2 ? MARK_BITS : RARE_BITS;
    },
  },
  {
    encoding: 'euc-kr',
    bits: (lead, trail) => {
      if (trail < 0xa1) return RARE_BITS;
      if (lead >= 0xb0 && lead <= 0xc8) return SCRIPT_BITS;
      return lead === 0xa1 || lead === 0xa3 ? MARK_BITS : RARE_BITS;
    },
  },
];

/** Each with what gives its bits for a text, null where that is not valid. */
export const DOUBLE_BYTE_READINGS = SCRIPTS.map((script) => ({
  encoding: script.encoding,
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

/** @param lines valid in the encoding of the script */
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
      // A third and a fourth byte are rare enough to be counted as characters of their own.
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

/** The bytes of half-width katakana, which stand in Unicode in the order of their bytes. */
function encodedHalfWidth(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0) - 0xff61 + 0xa1);
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
