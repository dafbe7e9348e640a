// Owns finding personal data inside of longer texts: e-mail addresses, IBANs, card and telephone numbers. It finds shapes
// (and checksums where there are some); what has another shape stays unseen. Every search is linear in the text.
import { isLuhn } from './check-digits.ts';
import { isIban } from './iban.ts';

export type PersonalKind = 'email' | 'iban' | 'card' | 'phone';

/** A place in a text: [from, to). */
export type Place = readonly [from: number, to: number];

/** Places of one kind in their order, none overlapping. */
export function findPersonalData(kind: PersonalKind, text: string): Place[] {
  return FINDERS[kind](text);
}

const FINDERS: Readonly<Record<PersonalKind, (text: string) => Place[]>> = {
  email: (text) => matches(text, EMAIL),
  iban: findIbans,
  card: (text) => matches(text, DIGIT_GROUPS).flatMap((place) => findCards(text, place)),
  phone: (text) => matches(text, PHONE).filter((place) => isPhone(text.slice(...place))),
};

/** The bounds keep the search linear. */
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
const IBAN_START = /(?<![\p{L}\p{N}])[A-Za-z]{2}[0-9]{2}/gu;
const IBAN_CHARACTERS_MAX = 34;
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

function matches(text: string, pattern: RegExp): Place[] {
  return Array.from(text.matchAll(pattern), (match) => [match.index, match.index + match[0].length] as const);
}

function findIbans(text: string): Place[] {
  const places: Place[] = [];
  for (const { index } of text.matchAll(IBAN_START)) {
    if (index < (places.at(-1)?.[1] ?? 0)) continue;
    const end = ibanEnd(text, index);
    if (end > 0) places.push([index, end]);
  }
  return places;
}

/** The end of the IBAN that begins here; 0 when none does. */
function ibanEnd(text: string, start: number): number {
  let iban = '';
  for (let at = start; at < text.length && iban.length < IBAN_CHARACTERS_MAX; at++) {
    const character = text[at]!;
    if (character === ' ' && text[at - 1] !== ' ') continue;
    if (!/[A-Za-z0-9]/.test(character)) return 0;
    iban += character;
    if (iban.length >= 15 && isIban(iban) && !/[A-Za-z0-9]/.test(text[at + 1] ?? ' ')) return at + 1;
  }
  return 0;
}

/** Whole groups of digits that are a card number together. */
function findCards(text: string, [from, to]: Place): Place[] {
  const groups = matches(text.slice(from, to), /[0-9]+/g);
  const places: Place[] = [];
  for (let first = 0; first < groups.length; first++) {
    const last = lastOfCard(text, from, groups, first);
    if (last < 0) continue;
    places.push([from + groups[first]![0], from + groups[last]![1]]);
    first = last;
  }
  return places;
}

function lastOfCard(text: string, from: number, groups: readonly Place[], first: number): number {
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
