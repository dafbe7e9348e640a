// Similarity of texts: a key that spellings of the same name share, and a measure between 0 and 1.
import { normalise, normaliseInSlices, separatePieces } from './normalise.ts';
import { done, lowerCaseInSlices, PIECE_UNITS, type TextWork, textPieces } from './text-edits.ts';

/** Letters that Unicode does not decompose, spelled as in OpenRefine's keyer. */
const SPELLED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    ø: 'oe',
    œ: 'oe',
    å: 'aa',
    '©': 'c',
    ð: 'd',
    đ: 'd',
    ɖ: 'd',
    þ: 'th',
    ƿ: 'w',
    ħ: 'h',
    ı: 'i',
    ĸ: 'k',
    ł: 'l',
    ŋ: 'n',
    ſ: 's',
    ẜ: 's',
    ẝ: 's',
    ŧ: 't',
  }),
);

// The regular expression engine keeps 16 bytes for each repetition, so a match has at most a thousand.
/** Combining diacritical marks, modifier letters and modifier symbols. */
const DIACRITICS = /[\u0300-\u036f\p{Lm}\p{Sk}]{1,1000}/gu;
/** Punctuation and control characters, except those that separate words. */
const PUNCTUATION = /[\p{P}\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]{1,1000}/gu;
const WHITE_SPACE = /[\s\u0085]+/u;
const WHITE_SPACE_CUT = /[\s\u0085]/g;
const SPELLED_LETTERS = new RegExp(`[${[...SPELLED.keys()].join('')}]`, 'gu');

/**
 * Maximum length of a compared text, in characters: far above a name or an address, and at most a million comparisons
 * of characters.
 */
export const COMPARED_LENGTH_MAX = 1000;

/**
 * The key of OpenRefine's "fingerprint" method (FingerprintKeyer, version 3.5 and later): lower case, without
 * diacritics and punctuation, words sorted and without duplicates. `Müller, Anna` and `anna  MULLER` have the same
 * key. A text of more than PIECE_UNITS UTF-16 units keeps all words in their order.
 */
export function fingerprintOf(text: string): string {
  if (text.length > PIECE_UNITS) return done(longFingerprint(text));
  return [...new Set(wordsOf(text))].sort().join(' ');
}

/** The fingerprint of a text of more than PIECE_UNITS UTF-16 units. */
export function* longFingerprint(text: string): TextWork {
  const keys: string[] = [];
  for (const words of textPieces(text, WHITE_SPACE_CUT)) {
    // A text without white space is one piece here, so its letters are spelled in smaller pieces.
    const spelled: string[] = [];
    for (const piece of separatePieces(yield* lowerCaseInSlices(words.trim()))) {
      if (piece !== undefined) spelled.push(spellDecomposed(yield* normaliseInSlices(piece, 'NFKD')));
      yield;
    }
    // Some letters become several words.
    for (const part of textPieces(spelled.join(''), WHITE_SPACE_CUT)) {
      const key = splitWords(part).join(' ');
      if (key !== '') keys.push(key);
      yield;
    }
  }
  return keys.join(' ');
}

function wordsOf(text: string): string[] {
  return splitWords(spellDecomposed(normalise(text.trim().toLowerCase(), 'NFKD')));
}

/** Removes diacritics and punctuation, and spells letters that Unicode does not decompose. */
function spellDecomposed(text: string): string {
  const folded = text.replace(DIACRITICS, '');
  return folded.replace(SPELLED_LETTERS, (letter) => SPELLED.get(letter)!).replace(PUNCTUATION, '');
}

function splitWords(text: string): string[] {
  return text.split(WHITE_SPACE).filter((word) => word !== '');
}

/**
 * Maximum length of a common prefix that counts, and the share of the difference to 1 that each of its characters
 * adds.
 */
const PREFIX_MAX = 4;
const PREFIX_WEIGHT = 0.1;
/** Only texts with a similarity above this value get the bonus for a common prefix. */
const BOOST_ABOVE = 0.7;

/**
 * Jaro-Winkler similarity, 0 to 1, of code points (W. E. Winkler, String Comparator Metrics and Enhanced Decision
 * Rules in the Fellegi-Sunter Model of Record Linkage, 1990). Counts the characters that both texts contain within
 * half the length of the longer text, subtracts half of those in a different order, and adds a bonus for a common
 * prefix. The number of steps is the product of both lengths. Two empty texts are equal.
 */
export function jaroWinkler(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 && right.length === 0) return 1;
  const jaro = jaroOf(left, right);
  if (jaro <= BOOST_ABOVE) return jaro;
  let prefix = 0;
  while (prefix < PREFIX_MAX && prefix < left.length && left[prefix] === right[prefix]) prefix++;
  return jaro + prefix * PREFIX_WEIGHT * (1 - jaro);
}

/**
 * The highest similarity that texts of these lengths can have.
 *
 * @param matches upper bound on the number of characters of one text that match a character of the other
 */
export function similarityMax(
  leftLength: number,
  rightLength: number,
  matches: number = Math.min(leftLength, rightLength),
): number {
  const longest = Math.max(leftLength, rightLength);
  if (longest === 0) return 1;
  const shortest = Math.min(leftLength, rightLength);
  const jaro = (matches / longest + (shortest === 0 ? 1 : matches / shortest) + 1) / 3;
  return jaro + PREFIX_MAX * PREFIX_WEIGHT * (1 - jaro);
}

function jaroOf(left: readonly string[], right: readonly string[]): number {
  const reach = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1);
  const taken = new Uint8Array(right.length);
  const matched: string[] = [];
  for (const [index, point] of left.entries()) {
    const end = Math.min(right.length, index + reach + 1);
    for (let other = Math.max(0, index - reach); other < end; other++) {
      if (taken[other] === 1 || right[other] !== point) continue;
      taken[other] = 1;
      matched.push(point);
      break;
    }
  }
  if (matched.length === 0) return 0;
  let [place, moved] = [0, 0];
  for (const [index, point] of right.entries()) if (taken[index] === 1 && matched[place++] !== point) moved++;
  const same = matched.length;
  return (same / left.length + same / right.length + (same - Math.floor(moved / 2)) / same) / 3;
}
