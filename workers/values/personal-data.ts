// Owns finding personal data inside of longer texts: e-mail addresses, IBANs, card and telephone numbers. It finds shapes
// (and checksums where there are some); what has another shape stays unseen. Every search is linear in the text.
import { isLuhn } from './check-digits.ts';
import { ibanLength, isIban } from './iban.ts';

export type PersonalKind = 'email' | 'iban' | 'card' | 'phone';

/** A range of a text: [from, to). */
export type TextRange = readonly [from: number, to: number];

/** Ranges of one kind in their order, none overlapping. */
export function findPersonalData(kind: PersonalKind, text: string): TextRange[] {
  return FINDERS[kind](text);
}

const FINDERS: Readonly<Record<PersonalKind, (text: string) => TextRange[]>> = {
  email: findEmails,
  iban: findIbans,
  card: (text) => matches(text, DIGIT_GROUPS).flatMap((range) => findCards(text, range)),
  phone: (text) => matches(text, PHONE).filter((range) => isPhone(text.slice(...range))),
};

/** What stands before the at sign and, from it on, behind it; the bounds keep the search linear. */
const LOCAL = /[\p{L}\p{N}._%+-]/u;
const LOCAL_CHARACTERS_MAX = 64;
const DOMAIN = /@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;
const IBAN_START = /(?<![\p{L}\p{N}])[A-Za-z]{2}[0-9]{2}/gu;
const DIGIT_GROUPS = /[0-9]+(?:[ -][0-9]+)*/g;

/** Digits of card numbers (ISO/IEC 7812-1). */
const CARD_DIGITS_MIN = 12;
const CARD_DIGITS_MAX = 19;

/** Begins as people write numbers: +, 00, 0 or (0. */
const PHONE = /(?<![\p{L}\p{N}+])(?:\+ ?|\(?0)[0-9](?:[ ()/.-]{0,3}[0-9]){5,18}(?![0-9])/gu;
const DATE = /^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}/;

/** Digits of telephone numbers: E.164 ends at 15, an exit code may stand before. */
const PHONE_DIGITS_MIN = 7;
const PHONE_DIGITS_MAX = 17;

function matches(text: string, pattern: RegExp): TextRange[] {
  return Array.from(text.matchAll(pattern), (match) => [match.index, match.index + match[0].length] as const);
}

/** By their at signs: a search from each place on for a name before one takes a hundred times longer where there are none. */
function findEmails(text: string): TextRange[] {
  const ranges: TextRange[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', Math.max(from, at + 1))) {
    const start = localStart(text, from, at);
    DOMAIN.lastIndex = at;
    if (start === at || !DOMAIN.test(text)) continue;
    from = DOMAIN.lastIndex;
    ranges.push([start, from]);
  }
  return ranges;
}

/** Where the name begins that ends at `end`: LOCAL_CHARACTERS_MAX before it at most, and not before `from`. */
function localStart(text: string, from: number, end: number): number {
  let start = end;
  for (let count = 0; count < LOCAL_CHARACTERS_MAX && start > from; count++) {
    const isPair = start - from > 1 && (text.charCodeAt(start - 1) & 0xfc00) === 0xdc00;
    const before = isPair && (text.charCodeAt(start - 2) & 0xfc00) === 0xd800 ? start - 2 : start - 1;
    if (!LOCAL.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

function findIbans(text: string): TextRange[] {
  const ranges: TextRange[] = [];
  for (const { index } of text.matchAll(IBAN_START)) {
    if (index < (ranges.at(-1)?.[1] ?? 0)) continue;
    const end = ibanEnd(text, index);
    if (end > 0) ranges.push([index, end]);
  }
  return ranges;
}

/** The end of the IBAN that begins here; 0 when none does. */
function ibanEnd(text: string, start: number): number {
  const length = ibanLength(text.slice(start, start + 2));
  let iban = '';
  for (let at = start; at < text.length && iban.length < length; at++) {
    const character = text[at]!;
    if (character === ' ' && text[at - 1] !== ' ') continue;
    if (!/[A-Za-z0-9]/.test(character)) return 0;
    iban += character;
    if (iban.length === length && isIban(iban) && !/[A-Za-z0-9]/.test(text[at + 1] ?? ' ')) return at + 1;
  }
  return 0;
}

/** Whole groups of digits that are a card number together. */
function findCards(text: string, [from, to]: TextRange): TextRange[] {
  const groups = matches(text.slice(from, to), /[0-9]+/g);
  const ranges: TextRange[] = [];
  for (let first = 0; first < groups.length; first++) {
    const last = lastOfCard(text, from, groups, first);
    if (last < 0) continue;
    ranges.push([from + groups[first]![0], from + groups[last]![1]]);
    first = last;
  }
  return ranges;
}

function lastOfCard(text: string, from: number, groups: readonly TextRange[], first: number): number {
  let digits = '';
  let found = -1;
  for (let last = first; last < groups.length; last++) {
    const [start, end] = groups[last]!;
    if (digits.length + end - start > CARD_DIGITS_MAX) break;
    digits += text.slice(from + start, from + end);
    if (digits.length >= CARD_DIGITS_MIN && isLuhn(digits)) found = last;
  }
  return found;
}

function isPhone(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '').length;
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX && !DATE.test(text);
}
