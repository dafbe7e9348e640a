// Finds personal data in longer texts: e-mail addresses, IBANs, card and telephone numbers. Detects formats, and
// checksums where they exist; data in other formats is not found. Every search takes linear time.
import { ibanLength, isIban } from './identifiers.ts';

export type PersonalKind = 'email' | 'iban' | 'card' | 'phone';

/** A range of a text: [from, to). */
export type TextRange = readonly [from: number, to: number];

/**
 * Ranges of one kind in order, without overlaps. Returned one by one, because a long text may contain a million. Null
 * after each candidate that turned out to be something else: the caller may pause there.
 */
export function findPersonalData(kind: PersonalKind, text: string): Iterable<TextRange | null> {
  return FINDERS[kind](text);
}

/** A long text may be cut after these characters, because they are never part of personal data. */
export const BETWEEN_PERSONAL_DATA = /[\n\r\t,;:!?<>="'|{}[\]*#&]/g;

const FINDERS: Readonly<Record<PersonalKind, (text: string) => Iterable<TextRange | null>>> = {
  email: findEmails,
  iban: findIbans,
  card: findCards,
  *phone(text) {
    for (const range of matches(text, PHONE)) yield isPhone(text.slice(...range)) ? range : null;
  },
};

/** Characters before the at sign, and the at sign with the domain. The limits keep the search linear. */
const LOCAL = /[\p{L}\p{N}._%+-]/u;
const LOCAL_CHARACTERS_MAX = 64;
const DOMAIN = /@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;
const IBAN_START = /(?<![\p{L}\p{N}])[A-Za-z]{2}[0-9]{2}/gu;

/** Number of digits of card numbers (ISO/IEC 7812-1). */
const CARD_DIGITS_MIN = 12;
const CARD_DIGITS_MAX = 19;

/** Starts as telephone numbers are written: +, 00, 0 or (0. */
const PHONE = /(?<![\p{L}\p{N}+])(?:\+ ?|\(?0)[0-9](?:[ ()/.-]{0,3}[0-9]){5,18}(?![0-9])/gu;
const DATE = /^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}/;

/** Number of digits of telephone numbers: at most 15 in E.164, with an optional exit code in front. */
const PHONE_DIGITS_MIN = 7;
const PHONE_DIGITS_MAX = 17;

function* matches(text: string, pattern: RegExp): Iterable<TextRange> {
  for (const match of text.matchAll(pattern)) yield [match.index, match.index + match[0].length];
}

/** Searches for at signs first: searching for names takes a hundred times longer in texts without at signs. */
function* findEmails(text: string): Iterable<TextRange | null> {
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', Math.max(from, at + 1))) {
    const start = localStart(text, from, at);
    DOMAIN.lastIndex = at;
    const isFound = start < at && DOMAIN.test(text);
    if (isFound) from = DOMAIN.lastIndex;
    yield isFound ? [start, from] : null;
  }
}

/** Start of the name that ends at `end`: at most LOCAL_CHARACTERS_MAX before it, and not before `from`. */
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

function* findIbans(text: string): Iterable<TextRange | null> {
  let from = 0;
  for (const { index } of text.matchAll(IBAN_START)) {
    if (index < from) continue;
    const end = ibanEnd(text, index);
    if (end > 0) from = end;
    yield end > 0 ? [index, end] : null;
  }
}

/** End of the IBAN that starts here, or 0. */
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

const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** A group of digits, and the Luhn sums of all digits up to its end. */
interface DigitGroup {
  readonly start: number;
  readonly end: number;
  /** Number of digits from the first group of the row to the end of this group. */
  readonly digits: number;
  /** Luhn sums of these digits, where the digits at odd places are doubled, or those at even places (from 1). */
  readonly oddSum: number;
  readonly evenSum: number;
}

/**
 * Finds card numbers, which consist of whole groups of digits with a space or hyphen between them. Sums are carried
 * from group to group, so that a check takes the same time for each length of a number.
 */
function* findCards(text: string): Iterable<TextRange | null> {
  let before: DigitGroup = NO_DIGITS;
  // A card number has at most CARD_DIGITS_MAX groups, so no more are held at a time.
  const groups: DigitGroup[] = [];
  function* first(): Iterable<TextRange | null> {
    const last = lastOfCard(before, groups);
    yield last < 0 ? null : [groups[0]!.start, groups[last]!.end];
    before = groups.splice(0, Math.max(0, last) + 1).at(-1)!;
  }
  for (let at = nextDigit(text, 0); at < text.length; at = nextDigit(text, groups.at(-1)?.end ?? before.end)) {
    const previous = groups.at(-1) ?? before;
    const isJoined = previous.end === at - 1 && previous.digits > 0 && (text[at - 1] === ' ' || text[at - 1] === '-');
    if (!isJoined) {
      while (groups.length > 0) yield* first();
      before = NO_DIGITS;
    }
    groups.push(digitGroup(text, at, isJoined ? previous : NO_DIGITS));
    if (groups.length === CARD_DIGITS_MAX) yield* first();
  }
  while (groups.length > 0) yield* first();
}

const NO_DIGITS: DigitGroup = { start: 0, end: 0, digits: 0, oddSum: 0, evenSum: 0 };

function nextDigit(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isDigit(text.charCodeAt(at))) at++;
  return at;
}

function digitGroup(text: string, start: number, before: DigitGroup): DigitGroup {
  let { digits, oddSum, evenSum } = before;
  let end = start;
  for (; end < text.length && isDigit(text.charCodeAt(end)); end++) {
    const digit = text.charCodeAt(end) - DIGIT_0;
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    digits++;
    oddSum += digits % 2 === 1 ? doubled : digit;
    evenSum += digits % 2 === 0 ? doubled : digit;
  }
  return { start, end, digits, oddSum, evenSum };
}

function isDigit(unit: number): boolean {
  return unit >= DIGIT_0 && unit <= DIGIT_9;
}

/** Index of the last group of the card number that starts with the first group, or -1. */
function lastOfCard(before: DigitGroup, groups: readonly DigitGroup[]): number {
  let found = -1;
  for (let last = 0; last < groups.length; last++) {
    const { digits, oddSum, evenSum } = groups[last]!;
    const length = digits - before.digits;
    if (length > CARD_DIGITS_MAX) break;
    // The last digit is not doubled, the digit before it is.
    const sum = digits % 2 === 0 ? oddSum - before.oddSum : evenSum - before.evenSum;
    if (length >= CARD_DIGITS_MIN && sum % 10 === 0) found = last;
  }
  return found;
}

function isPhone(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '').length;
  return digits >= PHONE_DIGITS_MIN && digits <= PHONE_DIGITS_MAX && !DATE.test(text);
}
