// Owns how like two texts are: a key that spellings of one name share, and a measure between 0 and 1.
import { normalise } from './normalise.ts';

/** Letters that no decomposition takes apart, as OpenRefine's keyer spells them. */
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

/** Combining diacritical marks, modifier letters and modifier symbols. */
const DIACRITICS = /[\u0300-\u036f\p{Lm}\p{Sk}]+/gu;
/** Punctuation and control characters, but for those that part words. */
const PUNCTUATION = /[\p{P}\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f]+/gu;
const WHITE_SPACE = /[\s\u0085]+/u;

/** Longest text that is compared, in characters: far above a name or an address, and a million comparisons at most. */
export const COMPARED_LENGTH_MAX = 1000;

/**
 * The key of OpenRefine's method "fingerprint" (FingerprintKeyer, version 3.5 and later): lower case, without diacritics and
 * punctuation, its words sorted, none twice. `Müller, Anna` and `anna  MULLER` have the same.
 */
export function fingerprintOf(text: string): string {
  const folded = normalise(text.trim().toLowerCase(), 'NFKD').replace(DIACRITICS, '');
  let spelled = '';
  for (const letter of folded) spelled += SPELLED.get(letter) ?? letter;
  const words = spelled.replace(PUNCTUATION, '').split(WHITE_SPACE);
  return [...new Set(words)]
    .filter((word) => word !== '')
    .sort()
    .join(' ');
}

/** Most characters that count at the beginning, and what each of them adds of what is missing to 1. */
const PREFIX_MAX = 4;
const PREFIX_WEIGHT = 0.1;
/** Only texts that are this like are raised by their beginning. */
const BOOST_ABOVE = 0.7;

/**
 * The similarity of Jaro and Winkler, 0 to 1, of code points (W. E. Winkler, String Comparator Metrics and Enhanced Decision
 * Rules in the Fellegi-Sunter Model of Record Linkage, 1990): characters that both have within half the longer text, less
 * half of those that stand in another order, raised for a common beginning. Takes as many steps as the product of the
 * lengths. Two empty texts are the same.
 */
export function jaroWinkler(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 && right.length === 0) return 1;
  const jaro = jaroOf(left, right);
  if (jaro <= BOOST_ABOVE) return jaro;
  let prefix = 0;
  while (prefix < PREFIX_MAX && prefix < left.length && left[prefix] === right[prefix]) prefix++;
  return jaro + prefix * PREFIX_WEIGHT * (1 - jaro);
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
