// Scores how unlikely a text is in a language, in bits. Only non-ASCII characters and their neighbours count.

// Non-ASCII letters of languages, the most frequent first, ordered by published letter frequencies. The order of
// letters with nearly equal frequencies does not matter.

export interface Language {
  /** Lower case. */
  readonly letters: string;
  /** Letters without a lower case form, or with an unusual one. */
  readonly others?: string;
  /** True if words of the language also contain ASCII letters. */
  readonly isLatin: boolean;
  /** Vowels, for alphabets in which vowels and consonants alternate in all words. */
  readonly vowels?: string;
}

const CYRILLIC_VOWELS = 'аеиоуыэюяёіїєъ';
const GREEK_VOWELS = 'αεηιουωάέήίόύώ';

const latin = (letters: string, others = ''): Language => ({ letters, others, isLatin: true });
const other = (letters: string): Language => ({ letters, isLatin: false });
const alphabet = (letters: string, vowels: string): Language => ({ letters, isLatin: false, vowels });

export const LANGUAGES: Readonly<Record<string, Language>> = {
  german: latin('üäößé'),
  french: latin('éèàêçôîùâûœïëæüÿ'),
  spanish: latin('óíáéñúü', 'ªº'),
  portuguese: latin('ãçáéíóõêúâàôü', 'ªº'),
  italian: latin('àèìòùé', 'ªº'),
  nordic: latin('äöåøæéüàô'),
  icelandic: latin('íáðöóéúþæý'),
  dutch: latin('ëéïèüöó'),
  catalan: latin('óàéèíçòúïü', '·'),
  polish: latin('łęąóżśćńź'),
  czech: latin('íáěéřýčžšůúťóďň'),
  slovak: latin('áíčéýžšúľťôňóäďŕĺ'),
  hungarian: latin('áéöóőüíúű'),
  romanian: latin('ăîâşţșț'),
  croatian: latin('čšžćđ'),
  turkish: latin('ıüşğçöâîû', 'İ'),
  lithuanian: latin('ėšųįčžąęūų'),
  latvian: latin('āīēšūņčļžģķ'),
  estonian: latin('äõüöšž'),
  russian: alphabet('оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', CYRILLIC_VOWELS),
  ukrainian: alphabet('оаниівтерслкудмпяьзгбчйжхцюєїшщфґ', CYRILLIC_VOWELS),
  bulgarian: alphabet('аеиотнрсвлкдпмзгяъбучцжщхйшфюь', CYRILLIC_VOWELS),
  serbian: alphabet('аоиенрстувдкјпмлгзбшчцћхжђњљфџ', CYRILLIC_VOWELS),
  greek: alphabet('αοιετσνηυρπκμλςίόγάδέωήθύχφβώξζψϊϋΐΰ', GREEK_VOWELS),
  hebrew: other('יוהלאמרתשבנםעדחקפכסגטצןזךףץ'),
  arabic: other('اليمونرتبعدسفهكقحجةشصطخذىزضغءثئأإآؤظ'),
  thai: other('านรอกเงมยลวดทตสปบค่ห้ีะัไิจพชใ์ืขแุูโ็ถผซณธำศภญษฟฐ๊'),
};

// Scores how unlikely a text is in a language, in bits. Only non-ASCII characters and their neighbours count.

/** Cost of the most frequent non-ASCII letter in a Latin alphabet. Each doubling of the rank costs one bit more. */
const LATIN_LETTER_BITS = 2;
/** Cost of the most frequent letter in other alphabets, and the number of ranks per additional bit. */
const OTHER_LETTER_BITS = 3;
const RANKS_PER_BIT = 4;
/** Cost of a letter that the language does not use, as in a name or a foreign word. */
const FOREIGN_LETTER_BITS = 13;
/** Cost of marks that occur in texts of every language. */
const MARK_BITS = 7;
/** Cost of signs that rarely occur in texts. */
const SIGN_BITS = 13;
/** Additional cost of a mark inside a word, or of a sign next to a letter: words do not contain them. */
const SIGN_IN_WORD_BITS = 5;
/** Cost of control characters and undefined characters. */
const NO_TEXT_BITS = 24;

/** Cost of a capital at the start of a word, after another capital, and inside a word after a small letter. */
const CAPITAL_FIRST_BITS = 1;
const CAPITAL_NEXT_BITS = 0;
/** Cost of an isolated capital, and of an isolated small letter in a Latin alphabet: few words have one letter. */
const CAPITAL_ALONE_BITS = 6;
const SMALL_ALONE_BITS = 4;
const CAPITAL_INSIDE_BITS = 9;
/** Cost of a small letter after two capitals. */
const SMALL_BEHIND_CAPITALS_BITS = 6;
/** Cost of a letter next to a digit: amounts and numbers have signs there, not letters. */
const LETTER_AT_DIGIT_BITS = 6;
/** Costs of a vowel after a vowel, and of a third consecutive consonant, as vowels and consonants alternate. */
const VOWELS_BITS = 3;
const CONSONANTS_BITS = 2;
/** Cost of an ASCII letter next to a letter of another script. */
const MIXED_SCRIPTS_BITS = 8;

const MARKS = '“”„‘’‚–—…•†‡€£¥§°«»©®™½¼²³¿¡µ·№\u00A0\u00AD‰×±‹›';

/** Quotation marks that open or close a quotation. */
const OPENING_QUOTES = '«“„‘‹';
const CLOSING_QUOTES = '»”“’›';
/** Bits deducted if a quotation mark touches a word on its proper side. */
const QUOTE_AT_WORD_BITS = 3;

/** Ø and ø, which are also used as diameter signs. */
const DIAMETERS = [0xd8, 0xf8];

const LETTER = /\p{L}|\p{M}/u;
const UPPER = /\p{Lu}/u;
const NO_TEXT = /[\p{Cc}\p{Co}\p{Cn}\p{Cs}]/u;

type Kind = 'none' | 'lower' | 'upper' | 'mark' | 'sign' | 'noText';

interface Weight {
  readonly kind: Kind;
  readonly bits: number;
}

const NONE: Weight = { kind: 'none', bits: 0 };

/** @param text code units; each non-ASCII unit is one character */
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
      if (unit >= 0x80 && isQuoteAtWord(unit, last, next)) cost -= QUOTE_AT_WORD_BITS;
      if (unit >= 0x80 && !DIAMETERS.includes(unit) && isLetter(weight)) {
        if (!isLetter(last) && !isLetter(next))
          cost += weight.kind === 'upper' ? CAPITAL_ALONE_BITS : language.isLatin ? SMALL_ALONE_BITS : 0;
        if (isDigit(text[at - 1]) || isDigit(text[at + 1])) cost += LETTER_AT_DIGIT_BITS;
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

/** Counts consecutive vowels and consonants, for alphabets that share no letters with ASCII. */
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

function isQuoteAtWord(unit: number, last: Weight, next: Weight): boolean {
  const isBefore = !isLetter(last) && isLetter(next);
  if (isBefore === (isLetter(last) && !isLetter(next))) return false;
  return (isBefore ? OPENING_QUOTES : CLOSING_QUOTES).includes(String.fromCharCode(unit));
}

function isDigit(unit: number | undefined): boolean {
  return unit !== undefined && unit >= 0x30 && unit <= 0x39;
}

function isLetter({ kind }: Weight): boolean {
  return kind === 'lower' || kind === 'upper';
}
