// How unlikely a text is in a language, in bits: only what lies beyond ASCII counts, with what stands beside it.
import type { Language } from './language-letters.ts';

/** Of the most frequent letter beyond ASCII of a Latin alphabet; each doubling of the rank costs one more. */
const LATIN_LETTER_BITS = 2;
/** Of the most frequent letter of another alphabet, and how many ranks cost one more: so alphabets thin out. */
const OTHER_LETTER_BITS = 3;
const RANKS_PER_BIT = 4;
/** A letter that the language does not use: of a name, or of another language. */
const FOREIGN_LETTER_BITS = 13;
/** Marks that texts of every language hold. */
const MARK_BITS = 7;
/** Signs that hardly any text holds. */
const SIGN_BITS = 13;
/** More, where they touch a letter: words hold none. */
const SIGN_IN_WORD_BITS = 5;
/** Control characters, and what is no character. */
const NO_TEXT_BITS = 24;

/** A capital at the start of a word, behind another capital, and behind a small letter. */
const CAPITAL_FIRST_BITS = 1;
const CAPITAL_NEXT_BITS = 0;
/** A capital that stands alone, and a small letter of a Latin alphabet: few words have one letter. */
const CAPITAL_ALONE_BITS = 6;
const SMALL_ALONE_BITS = 4;
const CAPITAL_INSIDE_BITS = 9;
/** A small letter behind two capitals. */
const SMALL_BEHIND_CAPITALS_BITS = 6;
/** Vowels and consonants take turns: a vowel behind another, and a third consonant. */
const VOWELS_BITS = 3;
const CONSONANTS_BITS = 2;
/** A letter of ASCII beside one of another script. */
const MIXED_SCRIPTS_BITS = 8;

const MARKS = '“”„‘’‚–—…•€£§°«»©®™½¼²³¿¡µ·№\u00A0\u00AD‰×±‹›';

const LETTER = /\p{L}|\p{M}/u;
const UPPER = /\p{Lu}/u;
const NO_TEXT = /[\p{Cc}\p{Co}\p{Cn}\p{Cs}]/u;

type Kind = 'none' | 'lower' | 'upper' | 'mark' | 'sign' | 'noText';

interface Weight {
  readonly kind: Kind;
  readonly bits: number;
}

const NONE: Weight = { kind: 'none', bits: 0 };

/** @param text code units; every one beyond ASCII is a character */
export function textCost(text: Uint16Array, language: Language): number {
  const weights = new Map<number, Weight>();
  const weightOf = (unit: number): Weight => {
    let weight = weights.get(unit);
    if (weight === undefined) {
      weight = unit < 0x80 ? asciiWeight(unit) : weigh(String.fromCharCode(unit), language);
      weights.set(unit, weight);
    }
    return weight;
  };
  let cost = 0;
  let [beforeLast, last] = [NONE, NONE];
  const turns = new Turns(language.vowels ?? '');
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]!;
    const weight = weightOf(unit);
    if (unit >= 0x80 || (text[at - 1] ?? 0) >= 0x80) {
      const next = at + 1 < text.length ? weightOf(text[at + 1]!) : NONE;
      if (unit >= 0x80) cost += weight.bits + placeBits(weight, last, next);
      if (unit >= 0x80 && isLetter(weight) && !isLetter(last) && !isLetter(next)) {
        cost += weight.kind === 'upper' ? CAPITAL_ALONE_BITS : language.isLatin ? SMALL_ALONE_BITS : 0;
      }
      cost += caseBits(weight, last, beforeLast);
      if (language.vowels !== undefined) cost += turns.bits(unit, isLetter(weight));
      if (!language.isLatin && isLetter(weight) && isLetter(last) && unit < 0x80 !== (text[at - 1] ?? 0) < 0x80) {
        cost += MIXED_SCRIPTS_BITS;
      }
    }
    beforeLast = last;
    last = weight;
  }
  return cost;
}

/** What stands behind what in words of an alphabet that has no letters in common with ASCII. */
class Turns {
  readonly #vowels: string;
  #vowelsInRow = 0;
  #consonantsInRow = 0;

  constructor(vowels: string) {
    this.#vowels = vowels;
  }

  bits(unit: number, isLetterUnit: boolean): number {
    const isVowel = isLetterUnit && this.#vowels.includes(String.fromCharCode(unit).toLowerCase());
    this.#vowelsInRow = isVowel ? this.#vowelsInRow + 1 : 0;
    this.#consonantsInRow = isLetterUnit && !isVowel ? this.#consonantsInRow + 1 : 0;
    if (this.#vowelsInRow > 1) return VOWELS_BITS;
    return this.#consonantsInRow > 2 ? CONSONANTS_BITS : 0;
  }
}

function asciiWeight(unit: number): Weight {
  if (unit >= 0x61 && unit <= 0x7a) return { kind: 'lower', bits: 0 };
  return unit >= 0x41 && unit <= 0x5a ? { kind: 'upper', bits: 0 } : NONE;
}

function weigh(character: string, { letters, others = '', isLatin }: Language): Weight {
  if (MARKS.includes(character) || others.includes(character)) {
    return { kind: UPPER.test(character) ? 'upper' : 'mark', bits: MARK_BITS };
  }
  if (!LETTER.test(character)) {
    return NO_TEXT.test(character) ? { kind: 'noText', bits: NO_TEXT_BITS } : { kind: 'sign', bits: SIGN_BITS };
  }
  const rank = letters.indexOf(character.toLowerCase());
  const bits = rank < 0 ? FOREIGN_LETTER_BITS : rankBits(rank, isLatin);
  return { kind: UPPER.test(character) ? 'upper' : 'lower', bits };
}

function rankBits(rank: number, isLatin: boolean): number {
  if (isLatin) return LATIN_LETTER_BITS + Math.round(Math.log2(rank + 1));
  return Math.min(OTHER_LETTER_BITS + Math.floor(rank / RANKS_PER_BIT), FOREIGN_LETTER_BITS - 1);
}

function placeBits({ kind }: Weight, last: Weight, next: Weight): number {
  if (kind === 'sign') return isLetter(last) || isLetter(next) ? SIGN_IN_WORD_BITS : 0;
  return kind === 'mark' && isLetter(last) && isLetter(next) ? SIGN_IN_WORD_BITS : 0;
}

function caseBits({ kind }: Weight, last: Weight, beforeLast: Weight): number {
  if (kind === 'lower') return last.kind === 'upper' && beforeLast.kind === 'upper' ? SMALL_BEHIND_CAPITALS_BITS : 0;
  if (kind !== 'upper') return 0;
  if (last.kind === 'lower') return CAPITAL_INSIDE_BITS;
  return last.kind === 'upper' ? CAPITAL_NEXT_BITS : CAPITAL_FIRST_BITS;
}

function isLetter({ kind }: Weight): boolean {
  return kind === 'lower' || kind === 'upper';
}
