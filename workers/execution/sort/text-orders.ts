// Orders of texts other than by code points: the alphabet of a language, and a list of values. An order turns a text
// into another one whose code points sort in the wanted order. The alphabets are part of this file, so that a sort has
// the same result on every machine, whatever its version of Node.
import { normalise } from '../../values/normalise.ts';

export interface TextOrder {
  /** Returns a text that sorts by code points as the given text should. */
  key(text: string): string;
  /** Same for a long text. Yields `undefined` wherever the caller may pause. */
  keyInSlices(text: string): Generator<undefined, string, undefined>;
}

/**
 * Letters that a language sorts as separate letters, after another letter: `ñ>n` means that ñ follows n. Several
 * letters after the same letter keep their order, and `=` precedes other spellings of a letter. Sources: CLDR 48,
 * collation of each language.
 */
const ALPHABETS = {
  cs: 'č>c ch>h ř>r š>s ž>z',
  da: 'æ=ä>z ø=ö=ő>z å=aa>z',
  de: '',
  'de-phonebook': '',
  en: '',
  es: 'ñ>n',
  et: 'š>s z>s ž>s õ>w ä>w ö>w ü>w',
  fi: 'å>z ä=æ>z ö=ø>z',
  fr: '',
  hr: 'č>c ć>c dž>d đ>d lj>l nj>n š>s ž>z',
  hu: 'cs>c dz>d dzs>d gy>g ly>l ny>n ö=ő>o sz>s ty>t ü=ű>u zs>z',
  it: '',
  lt: 'č>c š>s ž>z',
  lv: 'ā>a č>c ē>e ģ>g y>i ī>i ķ>k ļ>l ņ>n ō>o ŗ>r š>s ū>u ž>z',
  nb: 'æ=ä=ę>z ø=ö=ő=œ>z å=aa>z',
  nl: '',
  pl: 'ą>a ć>c ę>e ł>l ń>n ó>o ś>s ź>z ż>z',
  pt: '',
  ro: 'ă>a â>a î>i ș=ş>s ț=ţ>t',
  ru: 'й>и',
  sk: 'ä>a č>c ch>h ô>o ř>r š>s ž>z',
  sl: 'č>c ć>c đ>d š>s ž>z',
  sv: 'å>z ä=æ=ę>z ö=ø=ő=œ=ô>z',
  tr: 'ç>c ğ>g ı>h ö>o ş>s ü>u',
  uk: 'ґ>г є>е і>и ї>и й>и',
} as const;

export type AlphabetName = keyof typeof ALPHABETS;
export const ALPHABET_NAMES = Object.keys(ALPHABETS) as AlphabetName[];

/** Letters that Unicode does not decompose, with the letters among which all other languages sort them. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ...{
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ł: 'l',
    þ: 'th',
    ı: 'i',
    ħ: 'h',
    ŋ: 'n',
    ŧ: 't',
    ĸ: 'k',
    ĳ: 'ij',
  },
};

/** Letters that a language sorts with other letters. */
const REPLACED: Partial<Record<AlphabetName, Readonly<Record<string, string>>>> = {
  'de-phonebook': { ä: 'ae', ö: 'oe', ü: 'ue' },
  da: { ü: 'y', ű: 'y' },
  fi: { ü: 'y' },
  lt: { y: 'i' },
  nb: { ü: 'y', ű: 'y' },
  sv: { ü: 'y', ű: 'y' },
};

/** Follows a letter to mark one that sorts after it. Higher than all characters that may follow a letter. */
const AFTER = 0x10fff0;

/** Precedes characters that are neither letters nor digits, so that they sort before both. */
const SYMBOL = '\u0001';

/** Separates the letters from accents and case, which decide only between equal letters. */
const END = '\0';

const MARKS = /\p{M}+/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Number of UTF-16 units that are compared by the alphabet: far more than in a name or a title. The rest of a longer
 * text is compared by code points.
 */
const START_UNITS_MAX = 1000;

class LanguageOrder implements TextOrder {
  /** Tailored letters with the letters that replace them. */
  readonly #letters: ReadonlyMap<string, string>;
  readonly #longest: number;
  readonly #isTurkish: boolean;

  constructor(name: AlphabetName) {
    this.#letters = lettersOf(name);
    this.#longest = Math.max(1, ...[...this.#letters.keys()].map(({ length }) => length));
    this.#isTurkish = name === 'tr';
  }

  key(text: string): string {
    const end = endOfStart(text);
    const parts = this.#parts(end === text.length ? text : text.slice(0, end));
    return end === text.length ? parts.join(END) : [...parts, text.slice(end)].join(END);
  }

  *keyInSlices(text: string): Generator<undefined, string, undefined> {
    yield;
    return this.key(text);
  }

  /** Returns the letters, and what distinguishes texts with the same letters: their accents, then their case. */
  #parts(given: string): readonly [letters: string, accents: string, cases: string] {
    const text = normalise(given, 'NFC');
    const lower = (this.#isTurkish ? text.replaceAll('İ', 'i').replaceAll('I', 'ı') : text).toLowerCase();
    let letters = '';
    for (let at = 0; at < lower.length; ) {
      const [units, made] = this.#letterAt(lower, at);
      letters += made;
      at += units;
    }
    return [letters, normalise(lower, 'NFD'), casesOf(text)];
  }

  #letterAt(text: string, at: number): readonly [units: number, letter: string] {
    for (let units = this.#longest; units > 0; units--) {
      const letter = this.#letters.get(text.slice(at, at + units));
      if (letter !== undefined) return [units, letter];
    }
    const character = String.fromCodePoint(text.codePointAt(at)!);
    const plain = PLAIN_LETTERS[character] ?? this.#withoutMarks(character);
    return [character.length, plain === '' || LETTER_OR_DIGIT.test(plain[0]!) ? plain : SYMBOL + plain];
  }

  /**
   * Returns the letter of the alphabet among which a letter with marks is sorted. In Estonian, for example, ź is sorted
   * like z.
   */
  #withoutMarks(character: string): string {
    const [base = '', ...marks] = normalise(character, 'NFD');
    for (const mark of [...marks, '']) {
      const letter = this.#letters.get(normalise(base + mark, 'NFC'));
      if (letter !== undefined) return letter;
    }
    return PLAIN_LETTERS[base] ?? base.replace(MARKS, '');
  }
}

function lettersOf(name: AlphabetName): Map<string, string> {
  const letters = new Map<string, string>(Object.entries(REPLACED[name] ?? {}));
  const counts = new Map<string, number>();
  for (const entry of ALPHABETS[name].split(' ').filter((text) => text !== '')) {
    const [spellings, before] = entry.split('>') as [string, string];
    const count = (counts.get(before) ?? 0) + 1;
    counts.set(before, count);
    for (const spelling of spellings.split('=')) letters.set(spelling, before + String.fromCodePoint(AFTER + count));
  }
  if (name === 'hu') addDoubled(letters);
  return letters;
}

/** Hungarian doubles only the first character of a doubled letter: `ssz` means sz and sz. */
function addDoubled(letters: Map<string, string>): void {
  for (const [spelling, letter] of [...letters]) {
    if (spelling.length > 1) letters.set(spelling[0] + spelling, letter + letter);
  }
}

/** Small letters before capitals. */
function casesOf(text: string): string {
  let cases = '';
  for (const character of text) cases += character === character.toLowerCase() ? '1' : '2';
  return cases;
}

/** Returns the number of units that are compared by the alphabet. */
function endOfStart(text: string): number {
  if (text.length <= START_UNITS_MAX) return text.length;
  const isLow = (text.charCodeAt(START_UNITS_MAX) & 0xfc00) === 0xdc00;
  return START_UNITS_MAX - (isLow ? 1 : 0);
}

export function languageOrder(name: AlphabetName): TextOrder {
  return new LanguageOrder(name);
}

/** Listed texts first, in the order of the list; others after them, by code points. */
export function listOrder(values: readonly string[]): TextOrder {
  const places = new Map(values.map((value, place) => [value, `1${String.fromCodePoint(place + 1)}`]));
  const key = (text: string): string => places.get(text) ?? `2${text}`;
  return {
    key,
    *keyInSlices(text) {
      yield;
      return key(text);
    },
  };
}
