// What each step on a text does to one decoded text, and the functions of the same names. Kernels do the same to plain cells, many at once; both must agree.
// Everything follows the root locale, never the machine's.

const WHITE_SPACE_RUNS = /\p{White_Space}+/gu;
const ACCENTS = /\p{Mn}+/gu;
const CONTROLS = /\p{Cc}+/gu;
const INVISIBLES = /\p{Default_Ignorable_Code_Point}+/gu;
const NOT_LETTERS = /[^\p{L}\p{M}]+/gu;
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

/** Equal for texts that differ in case alone, also where one letter becomes two (ß, SS); the small sigma at the end of a word is like the others. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('\u03C2', '\u03C3');
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

/** é as e; ø, ß and their like too. */
export function stripAccents(text: string): string {
  const bare = text.normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return bare.replace(WITHOUT_ACCENT, (letter) => PLAIN_LETTERS.get(letter)!);
}

export function removeControls(text: string): string {
  return text.replace(CONTROLS, '');
}

export function removeInvisibles(text: string): string {
  return text.replace(INVISIBLES, '');
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

/** A letter begins a word unless a letter or digit stands before it, or an apostrophe behind a letter. */
export function titleCase(text: string): string {
  let made = '';
  let inWord = false;
  let letterBefore = false;
  for (const character of text.toLowerCase()) {
    if (isMark(character)) {
      made += character;
      continue;
    }
    const letter = isLetter(character);
    made += letter && !inWord ? capital(character) : character;
    inWord = letter || isDigit(character) || (letterBefore && (character === "'" || character === '\u2019'));
    letterBefore = letter;
  }
  return made;
}

/** The first letter of the text, and the first behind `.`, `!` or `?` and a white space. */
export function sentenceCase(text: string): string {
  let made = '';
  let begins = true;
  let stopped = false;
  for (const character of text.toLowerCase()) {
    const letter = isLetter(character);
    made += letter && begins ? capital(character) : character;
    if (letter || isDigit(character)) begins = false;
    else if (stopped && isWhiteSpace(character.charCodeAt(0))) begins = true;
    stopped = !letter && (character === '.' || character === '!' || character === '?');
  }
  return made;
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
  for (const character of text) if (keeps(character)) made += character;
  return made;
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

/** Of a letter that becomes several (ﬁ, ß) the first alone: Fi, Ss. */
function capital(letter: string): string {
  const upper = letter.toUpperCase();
  return upper.length === letter.length ? upper : upper[0] + upper.slice(1).toLowerCase();
}

function isLetter(character: string): boolean {
  const unit = character.charCodeAt(0);
  if (unit < 0x80) return (unit | 0x20) >= 97 && (unit | 0x20) <= 122;
  return /\p{L}/u.test(character);
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function isMark(character: string): boolean {
  return character.charCodeAt(0) >= 0x80 && /\p{M}/u.test(character);
}
