// The text functions, as operations and expressions apply them to one decoded text. Long texts are edited piece by
// piece.
import { done, normalise, normaliseInSlices, separatePieces } from './normalise.ts';

// Edits long texts piece by piece, so that the work can pause between pieces. A piece ends only at a position where
// editing both sides separately gives the same result as editing the whole text.

/** Length of a piece, in UTF-16 units: about a millisecond of work. */
export const PIECE_UNITS = 65_536;

/** Length of an edited piece. For a longer one, the runtime makes lists that only a full collection frees. */
const EDITED_UNITS = 8_192;

/** A cut between any two characters, for edits that treat each character by itself. */
export const BETWEEN_CHARACTERS = /(?![\udc00-\udfff])/g;

/** Replacements between two pauses. */
const REPLACEMENTS_MAX = 1_024;

/** Work on one text that yields `undefined` wherever the caller may pause. */
export type TextWork = Generator<undefined, string, undefined>;

/**
 * Splits a text into pieces of at least `units` units. The rest of a text without a further cut is one piece.
 * @param cut global pattern; a piece may end after each of its matches
 */
export function* textPieces(text: string, cut: RegExp, units = PIECE_UNITS): Generator<string, void, undefined> {
  let from = 0;
  while (text.length - from > units) {
    cut.lastIndex = from + units;
    const found = cut.exec(text);
    if (found === null) break;
    const to = found.index + found[0].length;
    yield text.slice(from, to);
    from = to;
  }
  if (from < text.length) yield text.slice(from);
}

/** @param cut see textPieces */
export function* editInPieces(text: string, cut: RegExp, edit: (piece: string) => string): TextWork {
  if (text.length <= PIECE_UNITS) return edit(text);
  const made: string[] = [];
  let units = 0;
  for (const piece of textPieces(text, cut, EDITED_UNITS)) {
    const edited = edit(piece);
    // Reading a character makes one text of parts that the runtime has only linked, at 64 bytes for each.
    edited.charCodeAt(0);
    made.push(edited);
    units += piece.length;
    if (units >= PIECE_UNITS) yield;
    units %= PIECE_UNITS;
  }
  return made.join('');
}

/** Like `replaceAll` with a function, for edits that look at what is around a match. */
function* replacedInSlices(
  text: string,
  pattern: RegExp,
  replacement: (match: string, at: number) => string,
): TextWork {
  let made: string[] = [];
  let from = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    made.push(text.slice(from, index), replacement(match, index));
    from = index + match.length;
    if (made.length < REPLACEMENTS_MAX) continue;
    made = [made.join('')];
    yield;
  }
  made.push(text.slice(from));
  return made.join('');
}

export { done };

// The text functions, as operations and expressions apply them to one decoded text. Kernels implement the same edits
// for many plain cells at once; both must agree. Everything uses the root locale, never the locale of the machine.

// Equal to \p{White_Space}, all of which is in the basic plane. Written as ranges, which is twice as fast.
const WHITE_SPACE_RUNS = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;
// If a class goes beyond the basic plane, the regular expression engine keeps 16 bytes for each repetition, so the
// number of repetitions is limited.
const MARKS = /\p{Mn}{1,1000}/gu;
/** Scripts in which a mark on a letter is an accent. In others it is a vowel, a tone or part of the letter. */
const ACCENTED_LETTER = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const CONTROLS = /\p{Cc}+/gu;
const NOT_LETTERS = /[^\p{L}\p{M}]{1,1000}/gu;
const NOT_DIGITS = /[^0-9]+/g;

/** Letters that Unicode does not decompose, and their spelling without accents. */
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

/**
 * The only lower-case letter whose upper case belongs to another letter. Unicode case folding keeps ı distinct from
 * i.
 */
const DOTLESS_I = '\u0131';
const NOT_DOTLESS_I = /[^\u0131]+/g;

/**
 * Equal results for texts that differ in case only, including letters that become two (ß, ẞ, SS). Full case folding
 * without the Turkic forms (Unicode, CaseFolding.txt, status C and F), except for the choice of the representative
 * letter.
 */
export function foldCase(text: string): string {
  if (text.includes(DOTLESS_I)) return text.replace(NOT_DOTLESS_I, foldCase);
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('\u03C2', '\u03C3');
}

/** Like foldCase, for long texts: each character is folded by itself. */
export function foldCaseInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, foldCase);
}

/** Like upperCase, for long texts. */
export function upperCaseInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, upperCase);
}

/** The capital sigma. At the end of a word, its lower case is ς instead of σ. */
const SIGMA = '\u03A3';

/** A character that ends a word for the lower case of a sigma (Unicode, SpecialCasing.txt, Final_Sigma). */
const ENDS_WORD = /[^\p{Cased}\p{Case_Ignorable}]/gu;

/** Like lowerCase, for long texts. */
export function lowerCaseInSlices(text: string): TextWork {
  return editInPieces(text, text.includes(SIGMA) ? ENDS_WORD : BETWEEN_CHARACTERS, lowerCase);
}

/** Uses no regular expression, because an anchored search for white space at the end takes quadratic time. */
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

const NOT_WHITE_SPACE = /[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;

/** Like collapseWhiteSpace, for long texts. */
export function collapseWhiteSpaceInSlices(text: string): TextWork {
  return editInPieces(text, NOT_WHITE_SPACE, collapseWhiteSpace);
}

/** Letters beyond ASCII are unchanged. */
export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Like upperAscii, for long texts. */
export function upperAsciiInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, upperAscii);
}

/** Like lowerAscii, for long texts. */
export function lowerAsciiInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, lowerAscii);
}

/**
 * Replaces é by e, and similarly ø, ß and others. Letters of scripts other than Latin, Greek and Cyrillic keep their
 * marks.
 */
export function stripAccents(text: string): string {
  const decomposed = normalise(text, 'NFD');
  const bare = normalise(decomposed.replace(MARKS, accentsOf(decomposed)), 'NFC');
  return bare.replace(WITHOUT_ACCENT, (letter) => PLAIN_LETTERS.get(letter)!);
}

/** Like stripAccents, for long texts. */
export function* stripAccentsInSlices(text: string): TextWork {
  const made: string[] = [];
  for (const piece of separatePieces(text)) {
    if (piece !== undefined) {
      const decomposed = yield* normaliseInSlices(piece, 'NFD');
      const bare = yield* normaliseInSlices(yield* replacedInSlices(decomposed, MARKS, accentsOf(decomposed)), 'NFC');
      made.push(bare.replace(WITHOUT_ACCENT, (letter) => PLAIN_LETTERS.get(letter)!));
    }
    yield;
  }
  return made.join('');
}

/** Returns the replacement function for runs of marks. It must be called for them from left to right. */
function accentsOf(decomposed: string): (marks: string, at: number) => string {
  let end = -1;
  let isAccent = false;
  return (marks, at) => {
    // A run may be longer than the longest match. The continuation is treated like the start of the run.
    if (at !== end) isAccent = ACCENTED_LETTER.test(characterBefore(decomposed, at));
    end = at + marks.length;
    return isAccent ? '' : marks;
  };
}

/** The character that ends at a UTF-16 unit; empty at the start. */
export function characterBefore(text: string, at: number): string {
  const isPair =
    at > 1 && (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800;
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}

/** Replaces each run of control characters by a space, so that lines are not joined. At the ends, removes the run. */
export function removeControls(text: string): string {
  return text.replace(CONTROLS, (run, at) => withoutControls(text, run, at));
}

/** Like removeControls, for long texts. */
export function removeControlsInSlices(text: string): TextWork {
  return replacedInSlices(text, CONTROLS, (run, at) => withoutControls(text, run, at));
}

function withoutControls(text: string, run: string, at: number): string {
  return at === 0 || at + run.length === text.length ? '' : ' ';
}

export function straightenQuotes(text: string): string {
  return text.replace(/[\u2018-\u201B]/g, "'").replace(/[\u201C-\u201F]/g, '"');
}

/** Like straightenQuotes, for long texts. */
export function straightenQuotesInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, straightenQuotes);
}

export function digitsOnly(text: string): string {
  return text.replace(NOT_DIGITS, '');
}

export function lettersOnly(text: string): string {
  return text.replace(NOT_LETTERS, '');
}

/** Like lettersOnly, for long texts. */
export function lettersOnlyInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, lettersOnly);
}

/**
 * From this length on, the kind of each character is cached: one regular expression per character would block the
 * thread for seconds. In UTF-16 units.
 */
const LONG_TEXT_UNITS = 4096;

const LETTER = 1;
const MARK = 2;
const OTHER = 3;

/** A letter starts a word unless it follows a letter or digit, or an apostrophe after a letter. */
export function titleCase(text: string): string {
  return withTitles(text.toLowerCase(), { inWord: false, letterBefore: false });
}

/** What precedes a piece of a text. */
interface BeforeTitle {
  inWord: boolean;
  letterBefore: boolean;
}

/** @param before changed to what precedes the next piece */
function withTitles(lower: string, before: BeforeTitle): string {
  let made = '';
  let from = 0;
  let at = 0;
  let { inWord, letterBefore } = before;
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
  before.inWord = inWord;
  before.letterBefore = letterBefore;
  return made + lower.slice(from);
}

/** A cut between any two characters, except between an i and its dot (see isDotted). */
const NOT_BEFORE_DOT = /(?![\udc00-\udfff])(?!(?<=[iI\u0130])\u0307)/g;

/** Cuts for edits that write a text in lower case and look at what precedes a character. */
const cutOfWords = (text: string): RegExp => (text.includes(SIGMA) ? ENDS_WORD : NOT_BEFORE_DOT);

/** Like titleCase, for long texts. */
export function titleCaseInSlices(text: string): TextWork {
  const before: BeforeTitle = { inWord: false, letterBefore: false };
  return editInPieces(text, cutOfWords(text), (piece) => withTitles(piece.toLowerCase(), before));
}

/** Capitalises the first letter of the text, and the first letter after `.`, `!` or `?` and white space. */
export function sentenceCase(text: string): string {
  return withSentences(text.toLowerCase(), { begins: true, stopped: false });
}

/** What precedes a piece of a text: `stopped` after a full stop. */
interface BeforeSentence {
  begins: boolean;
  stopped: boolean;
}

/** @param before changed to what precedes the next piece */
function withSentences(lower: string, before: BeforeSentence): string {
  let made = '';
  let from = 0;
  let at = 0;
  let { begins, stopped } = before;
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
  before.begins = begins;
  before.stopped = stopped;
  return made + lower.slice(from);
}

/** Like sentenceCase, for long texts. */
export function sentenceCaseInSlices(text: string): TextWork {
  const before: BeforeSentence = { begins: true, stopped: false };
  return editInPieces(text, cutOfWords(text), (piece) => withSentences(piece.toLowerCase(), before));
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

/** The characters for which `keeps` returns true. */
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

/** Like filterCharacters, for long texts. */
export function filterCharactersInSlices(text: string, keeps: (character: string) => boolean): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, (piece) => filterCharacters(piece, keeps));
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

/** The lower case of İ consists of two characters, which are combined again. */
function isDotted(letter: string, next: string | undefined): boolean {
  return letter === 'i' && next === '\u0307';
}

/** Upper case of a letter. If it expands to several letters (ﬁ, ß), only the first is upper case: Fi, Ss. */
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

/**
 * Replaces all characters except the first and last ones by a sign. If fewer than `hiddenMin` would be hidden, all
 * are replaced.
 */
export function maskCharacters(text: string, first: number, last: number, hiddenMin: number, sign: string): string {
  const characters = [...text];
  const hidden = characters.length - first - last;
  if (hidden < hiddenMin) return sign.repeat(characters.length);
  const begin = characters.slice(0, first).join('');
  return begin + sign.repeat(hidden) + (last === 0 ? '' : characters.slice(-last).join(''));
}

/** The code points in reverse order. A list of them would take many times the memory of the text. */
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

/** Like reversed, for long texts. */
export function* reversedInSlices(text: string): TextWork {
  const made: string[] = [];
  for (const piece of textPieces(text, BETWEEN_CHARACTERS)) {
    made.push(reversed(piece));
    yield;
  }
  return made.reverse().join('');
}

/** Inserts a text before each character and at the end. */
export function insertBetween(text: string, by: string): string {
  return done(insertBetweenInSlices(text, by));
}

/** Like insertBetween, for long texts. */
export function* insertBetweenInSlices(text: string, by: string): TextWork {
  const made = yield* editInPieces(text, BETWEEN_CHARACTERS, (piece) =>
    Array.from(piece, (character) => by + character).join(''),
  );
  return made + by;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

/** Returns false for NaN, the unit after the end of the text. */
function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

// Removes invisible characters from a text, and keeps characters that have a visible effect on their neighbours.

/** The regular expression engine keeps 16 bytes for each repetition, so the number of repetitions is limited. */
const INVISIBLES = /\p{Default_Ignorable_Code_Point}{1,1000}/gu;

const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
/** Variation selectors after a character of an emoji: text or picture (UTS 51, "Emoji Presentation"). */
const TEXT_STYLE = 0xfe0e;
const PICTURE_STYLE = 0xfe0f;
const KEYCAP = '\u20E3';
/** Tag characters after this flag spell a region (UTS 51, "Emoji Tag Sequences"). */
const BLACK_FLAG = '\u{1F3F4}';
const FIRST_TAG = 0xe0020;
const LAST_TAG = 0xe007f;
/** Variation selectors that choose a form of an ideograph (UTS 37). */
const FIRST_IDEOGRAPHIC_SELECTOR = 0xe0100;
const LAST_IDEOGRAPHIC_SELECTOR = 0xe01ef;

const PICTURE = /^\p{Extended_Pictographic}$/u;
const PICTURE_OR_MODIFIER = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
const KEY = /^[0-9#*]$/;
const IDEOGRAPH = /^\p{Unified_Ideograph}$/u;
/**
 * Letters and marks whose form depends on their neighbours. Between them, both joiners are part of the spelling
 * (Unicode, 23.2).
 */
const SHAPED = new RegExp(
  `^[${['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian', 'Phags_Pa', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati']
    .concat(['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'])
    .map((script) => `\\p{Script_Extensions=${script}}`)
    .join('')}]$`,
  'u',
);
const LETTER_OR_MARK = /^[\p{L}\p{M}]$/u;

/** Removes all invisible characters, for comparing texts. */
export function withoutInvisibles(text: string): string {
  return text.replace(INVISIBLES, '');
}

/** Like withoutInvisibles, for long texts. */
export function withoutInvisiblesInSlices(text: string): TextWork {
  return editInPieces(text, BETWEEN_CHARACTERS, withoutInvisibles);
}

/**
 * Removes zero-width characters, soft hyphens and similar characters. Keeps joiners and variation selectors inside an
 * emoji, joiners between two letters of a joining script, and selectors of an ideograph's form.
 */
export function removeInvisibles(text: string): string {
  return text.replace(INVISIBLES, (run, at) => keptOf(text, run, at));
}

/** Like removeInvisibles, for long texts. */
export function removeInvisiblesInSlices(text: string): TextWork {
  return replacedInSlices(text, INVISIBLES, (run, at) => keptOf(text, run, at));
}

/** The characters of a run that have a visible effect. */
function keptOf(text: string, run: string, at: number): string {
  let before = characterBefore(text, at);
  let kept = '';
  const characters = [...run];
  for (const [index, character] of characters.entries()) {
    const after = characters[index + 1] ?? characterAt(text, at + run.length);
    if (!isSeen(character.codePointAt(0)!, before, after)) continue;
    kept += character;
    // A variation selector or tag belongs to its picture, so `before` stays the picture: a joiner may follow.
    if (character.codePointAt(0) === ZERO_WIDTH_JOINER) before = character;
  }
  return kept;
}

function isSeen(point: number, before: string, after: string): boolean {
  if (point === ZERO_WIDTH_JOINER && PICTURE_OR_MODIFIER.test(before)) return PICTURE.test(after);
  if (point === ZERO_WIDTH_JOINER || point === ZERO_WIDTH_NON_JOINER) return isShaped(before) && isShaped(after);
  if (point === TEXT_STYLE || point === PICTURE_STYLE) {
    return PICTURE_OR_MODIFIER.test(before) || (KEY.test(before) && after === KEYCAP);
  }
  if (point >= FIRST_TAG && point <= LAST_TAG) return before === BLACK_FLAG;
  return point >= FIRST_IDEOGRAPHIC_SELECTOR && point <= LAST_IDEOGRAPHIC_SELECTOR && IDEOGRAPH.test(before);
}

function isShaped(character: string): boolean {
  return SHAPED.test(character) && LETTER_OR_MARK.test(character);
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
}
