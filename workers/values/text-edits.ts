// What each step on a text does to one decoded text, and the functions of the same names. Kernels do the same to plain cells, many at once; both must agree.
// Everything follows the root locale, never the machine's.
import { normalise } from './normalise.ts';

// \p{White_Space}, which is all in the basic plane: without it the search is twice as fast.
const WHITE_SPACE_RUNS = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
// The engine of regular expressions keeps 16 bytes for each repetition where a class goes beyond the basic plane: none has more
// than a thousand.
const MARKS = /\p{Mn}{1,1000}/gu;
/** Scripts in which a mark on a letter is an accent. In others it is a vowel, a tone or part of the letter. */
const ACCENTED_LETTER = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const CONTROLS = /\p{Cc}+/gu;
const NOT_LETTERS = /[^\p{L}\p{M}]{1,1000}/gu;
const NOT_DIGITS = /[^0-9]+/g;

/** Letters that Unicode does not take apart, as people write them without accents. */
const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  'ø:o Ø:O ł:l Ł:L đ:d Đ:D ħ:h Ħ:H æ:ae Æ:AE œ:oe Œ:OE ß:ss ẞ:SS þ:th Þ:TH ð:d Ð:D ı:i ŧ:t Ŧ:T'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
const WITHOUT_ACCENT = new RegExp(`[${[...PLAIN_LETTERS.keys()].join('')}]`, 'g');

export function upperCase(text: string): string {
  return text.toUpperCase();
}

export function lowerCase(text: string): string {
  return text.toLowerCase();
}

/** The only small letter whose capital is another letter's: Unicode's case folding keeps ı apart from i. */
const DOTLESS_I = '\u0131';

/**
 * Equal for texts that differ in case alone, also where one letter becomes two (ß, ẞ, SS): full case folding, but for the
 * Turkic forms (Unicode, CaseFolding.txt, status C and F), up to the choice of the letter that stands for its like.
 */
export function foldCase(text: string): string {
  if (text.includes(DOTLESS_I)) return text.split(DOTLESS_I).map(foldCase).join(DOTLESS_I);
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('\u03C2', '\u03C3');
}

/** Without a regular expression: an anchored search for white space at the end costs the square of its length. */
export function trimWhiteSpace(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isWhiteSpace(text.charCodeAt(from))) from++;
  while (to > from && isWhiteSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

export function collapseWhiteSpace(text: string): string {
  return text.replace(WHITE_SPACE_RUNS, ' ');
}

/** Letters beyond ASCII stay. */
export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** é as e; ø, ß and their like too. Letters of scripts other than Latin, Greek and Cyrillic keep their marks. */
export function stripAccents(text: string): string {
  const bare = normalise(withoutAccents(normalise(text, 'NFD')), 'NFC');
  return bare.replace(WITHOUT_ACCENT, (letter) => PLAIN_LETTERS.get(letter)!);
}

function withoutAccents(decomposed: string): string {
  let end = -1;
  let isAccent = false;
  return decomposed.replace(MARKS, (marks, at: number) => {
    // Behind the longest match its run may go on: what holds for its beginning holds for the rest.
    if (at !== end) isAccent = ACCENTED_LETTER.test(characterBefore(decomposed, at));
    end = at + marks.length;
    return isAccent ? '' : marks;
  });
}

/** The character that ends at a UTF-16 unit, empty at the beginning. */
export function characterBefore(text: string, at: number): string {
  const isPair =
    at > 1 && (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800;
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}

/** A run of them is a space between what it parts, and nothing at the ends: lines do not grow together. */
export function removeControls(text: string): string {
  return text.replace(CONTROLS, (run, at: number) => (at === 0 || at + run.length === text.length ? '' : ' '));
}

export function straightenQuotes(text: string): string {
  return text.replace(/[\u2018-\u201B]/g, "'").replace(/[\u201C-\u201F]/g, '"');
}

export function digitsOnly(text: string): string {
  return text.replace(NOT_DIGITS, '');
}

export function lettersOnly(text: string): string {
  return text.replace(NOT_LETTERS, '');
}

/** From here on a text asks for each kind of character once: one expression a character would hold its thread for seconds. */
const LONG_TEXT_UNITS = 4096;

const LETTER = 1;
const MARK = 2;
const OTHER = 3;

/** A letter begins a word unless a letter or digit stands before it, or an apostrophe behind a letter. */
export function titleCase(text: string): string {
  const lower = text.toLowerCase();
  let made = '';
  let from = 0;
  let at = 0;
  let inWord = false;
  let letterBefore = false;
  const kindOf = kindsIn(lower);
  for (const character of lower) {
    const start = at;
    at += character.length;
    const kind = kindOf(character);
    if (kind === MARK) continue;
    const letter = kind === LETTER;
    if (letter && !inWord) {
      const upper = capital(character, lower[at]);
      if (upper !== character) {
        made += lower.slice(from, start) + upper;
        from = isDotted(character, lower[at]) ? at + 1 : at;
      }
    }
    inWord = letter || isDigit(character) || (letterBefore && (character === "'" || character === '\u2019'));
    letterBefore = letter;
  }
  return made + lower.slice(from);
}

/** The first letter of the text, and the first behind `.`, `!` or `?` and a white space. */
export function sentenceCase(text: string): string {
  const lower = text.toLowerCase();
  let made = '';
  let from = 0;
  let at = 0;
  let begins = true;
  let stopped = false;
  const kindOf = kindsIn(lower);
  for (const character of lower) {
    const letter = kindOf(character) === LETTER;
    if (letter && begins) {
      const next = lower[at + character.length];
      const upper = capital(character, next);
      if (upper !== character) {
        made += lower.slice(from, at) + upper;
        from = at + character.length + (isDotted(character, next) ? 1 : 0);
      }
    }
    at += character.length;
    if (letter || isDigit(character)) begins = false;
    else if (stopped && isWhiteSpace(character.charCodeAt(0))) begins = true;
    stopped = !letter && (character === '.' || character === '!' || character === '?');
  }
  return made + lower.slice(from);
}

/** Number of characters (code points). */
export function characterCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}

/** The first `length` characters. */
export function firstCharacters(text: string, length: number): string {
  let at = 0;
  for (let n = 0; n < length && at < text.length; n++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return text.slice(0, at);
}

/** Characters for which `keeps` holds. */
export function filterCharacters(text: string, keeps: (character: string) => boolean): string {
  let made = '';
  let from = 0;
  let at = 0;
  for (const character of text) {
    if (!keeps(character)) {
      made += text.slice(from, at);
      from = at + character.length;
    }
    at += character.length;
  }
  return made + text.slice(from);
}

function isWhiteSpace(unit: number): boolean {
  if (unit === 32 || (unit >= 9 && unit <= 13)) return true;
  if (unit < 0x85) return false;
  return (
    unit === 0x85 ||
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** The small letter of İ is two characters, which become one again. */
function isDotted(letter: string, next: string | undefined): boolean {
  return letter === 'i' && next === '\u0307';
}

/** Of a letter that becomes several (ﬁ, ß) the first alone: Fi, Ss. */
function capital(letter: string, next: string | undefined): string {
  if (isDotted(letter, next)) return '\u0130';
  const upper = letter.toUpperCase();
  return upper.length === letter.length ? upper : upper[0] + upper.slice(1).toLowerCase();
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function kindsIn(text: string): (character: string) => number {
  if (text.length < LONG_TEXT_UNITS) return kindOfCharacter;
  const known = new Uint8Array(0x10000);
  return (character) => {
    if (character.length > 1) return kindOfCharacter(character);
    const unit = character.charCodeAt(0);
    if (known[unit] === 0) known[unit] = kindOfCharacter(character);
    return known[unit]!;
  };
}

function kindOfCharacter(character: string): number {
  const unit = character.charCodeAt(0);
  if (unit < 0x80) return (unit | 0x20) >= 97 && (unit | 0x20) <= 122 ? LETTER : OTHER;
  if (/\p{L}/u.test(character)) return LETTER;
  return /\p{M}/u.test(character) ? MARK : OTHER;
}

/** A sign in the place of each character but for the first and last ones; of all, where fewer than `hiddenMin` would be hidden. */
export function maskCharacters(text: string, first: number, last: number, hiddenMin: number, sign: string): string {
  const characters = [...text];
  const hidden = characters.length - first - last;
  if (hidden < hiddenMin) return sign.repeat(characters.length);
  const begin = characters.slice(0, first).join('');
  return begin + sign.repeat(hidden) + (last === 0 ? '' : characters.slice(-last).join(''));
}

/** The code points in the opposite order. A list of them would take many times the memory of the text. */
export function reversed(text: string): string {
  const units = new Uint16Array(text.length);
  let to = text.length;
  for (let from = 0; from < text.length; from++) {
    const unit = text.charCodeAt(from);
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(from + 1))) units[--to] = text.charCodeAt(++from);
    units[--to] = unit;
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

/** False for the unit behind the last one, which is none. */
function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
