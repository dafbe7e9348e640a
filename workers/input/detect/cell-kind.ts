// What a cell looks like, for the detectors alone: never a type of the data (nothing is inferred from it). Detectors look at
// thousands of cells of each file: a cell is read unit by unit where it stands, without a text of its own and without
// regular expressions. The tests have the kinds as such, to compare with.

import { isDateMark, momentOf } from './cell-moment.ts';
import { behindDigits, isCapital, isDigit, isLatin, isPlus, isSign, isSpace } from './cell-units.ts';

/** `code`: a word that stands for a value; `text`: words, codes and names; null: what looks like no one cell. */
export type CellKind =
  | ''
  | 'number'
  | 'money'
  | 'date'
  | 'time'
  | 'datetime'
  | 'email'
  | 'url'
  | 'phone'
  | 'code'
  | 'text'
  | null;

const SPACE = 0x20;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const POINT = 0x2e;
const SEMICOLON = 0x3b;
const AT_SIGN = 0x40;
const NO_BREAK_SPACE = 0xa0;
const RIGHT_QUOTE = 0x2019;

const CODES: ReadonlySet<string> = new Set('NA N/A n/a null NULL None - true false TRUE FALSE yes no'.split(' '));
const CODE_UNITS_MAX = 5;

const CURRENCIES: ReadonlySet<number> = new Set([0x24, 0x20ac, 0xa3, 0xa5]);
const PERCENT = 0x25;
const CURRENCY_LETTERS = 3;

/** Of `+44 (0)20 7946-0958`, between its first digit and its last one. */
const PHONE_INNER_MIN = 5;
const PHONE_INNER_MAX = 18;

/** What stands inside names beside letters and digits, of ASCII. */
const NAME_MARKS: ReadonlySet<number> = new Set([...` _.'/&()#%:+*!?-`].map((mark) => mark.charCodeAt(0)));
const LETTER = /^[\p{L}\p{N}\p{M}]$/u;

/** The kind of the text, or of its units [start, end); spaces around do not count. */
export function cellKind(text: string, start = 0, end = text.length): CellKind {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (from < to && isSpace(text.charCodeAt(to - 1))) to--;
  if (from === to) return '';
  const first = text.charCodeAt(from);
  const last = text.charCodeAt(to - 1);
  if (isDigit(first) || isSign(first)) {
    if (isNumber(text, from, to)) return 'number';
    if (isAmount(text, from, to, last) || isSignedMoney(text, from, to)) return 'money';
    const moment = momentOf(text, from, to);
    if (moment !== null) return moment;
  } else if (isMoneyBehindMark(text, from, to, first)) return 'money';
  if (isEmail(text, from, to)) return 'email';
  if (isUrl(text, from, to, first)) return 'url';
  if (isDigit(last) && isPhone(text, from, to)) return 'phone';
  if (to - from <= CODE_UNITS_MAX && CODES.has(text.slice(from, to))) return 'code';
  return isName(text, from, to) ? 'text' : null;
}

/** True for kinds that a header seldom has. */
export function isDataKind(kind: CellKind): boolean {
  return kind !== null && kind !== '' && kind !== 'text' && kind !== 'code';
}

/** Digits, or groups of three; then a fraction and an exponent. */
function isNumber(text: string, start: number, end: number): boolean {
  const from = isSign(text.charCodeAt(start)) ? start + 1 : start;
  let at = behindDigits(text, from, end);
  if (at === from) return false;
  if (at === end) return true;
  if (at - from <= 3) {
    while (isGrouping(text.charCodeAt(at)) && behindDigits(text, at + 1, end) === at + 4) at += 4;
  }
  const mark = text.charCodeAt(at);
  if (at < end && (mark === POINT || mark === COMMA)) {
    const behind = behindDigits(text, at + 1, end);
    if (behind === at + 1) return false;
    at = behind;
  }
  if (at < end && (text.charCodeAt(at) | 0x20) === 0x65) {
    const power = isSign(text.charCodeAt(at + 1)) ? at + 2 : at + 1;
    const behind = behindDigits(text, power, end);
    return behind > power && behind === end;
  }
  return at === end;
}

function isGrouping(unit: number): boolean {
  return unit === SPACE || unit === COMMA || unit === POINT || unit === APOSTROPHE || unit === NO_BREAK_SPACE;
}

/** `12,50 €`, `7 %`, `3 EUR`. */
function isAmount(text: string, start: number, end: number, last: number): boolean {
  let to = end;
  if (CURRENCIES.has(last) || last === PERCENT) to = end - 1;
  else if (end - start > CURRENCY_LETTERS && areCapitals(text, end - CURRENCY_LETTERS)) to = end - CURRENCY_LETTERS;
  else return false;
  if (isSpace(text.charCodeAt(to - 1))) to--;
  return isFigure(text, start, to);
}

/** `€ 12,50`, `EUR 3`. */
function isMoneyBehindMark(text: string, start: number, end: number, first: number): boolean {
  if (CURRENCIES.has(first)) return isFigureBehind(text, start + 1, end, false);
  return isCapital(first) && areCapitals(text, start) && isFigureBehind(text, start + CURRENCY_LETTERS, end, true);
}

/** `-€ 12,50`. */
function isSignedMoney(text: string, start: number, end: number): boolean {
  const isSigned = isSign(text.charCodeAt(start)) && CURRENCIES.has(text.charCodeAt(start + 1));
  return isSigned && isFigureBehind(text, start + 2, end, false);
}

function isFigureBehind(text: string, start: number, end: number, isApart: boolean): boolean {
  const isSpaced = start < end && isSpace(text.charCodeAt(start));
  return (isSpaced || !isApart) && isFigure(text, isSpaced ? start + 1 : start, end);
}

function areCapitals(text: string, at: number): boolean {
  return isCapital(text.charCodeAt(at)) && isCapital(text.charCodeAt(at + 1)) && isCapital(text.charCodeAt(at + 2));
}

/** A digit, behind a sign if any, and what stands inside numbers. */
function isFigure(text: string, start: number, end: number): boolean {
  const from = isSign(text.charCodeAt(start)) ? start + 1 : start;
  if (from >= end || !isDigit(text.charCodeAt(from))) return false;
  for (let at = from + 1; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (!isDigit(unit) && unit !== POINT && unit !== COMMA && unit !== APOSTROPHE && unit !== SPACE) return false;
  }
  return true;
}

/** One `@` with something before it, and behind it something, a point, and two letters or more. */
function isEmail(text: string, start: number, end: number): boolean {
  let sign = -1;
  let point = -1;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === POINT) point = at;
    else if (unit === AT_SIGN) {
      if (sign >= 0) return false;
      sign = at;
    } else if (unit === COMMA || unit === SEMICOLON || unit === QUOTE || isSpace(unit)) return false;
  }
  if (sign <= start || point < sign + 2 || end - point < 3) return false;
  for (let at = point + 1; at < end; at++) if (!isLatin(text.charCodeAt(at))) return false;
  return true;
}

function isUrl(text: string, start: number, end: number, first: number): boolean {
  const letter = first | 0x20;
  if (letter !== 0x68 && letter !== 0x77) return false;
  const beginning = text.slice(start, Math.min(end, start + 8)).toLowerCase();
  const scheme = ['https://', 'http://', 'www.'].find((one) => beginning.startsWith(one));
  if (scheme === undefined || end === start + scheme.length) return false;
  for (let at = start + scheme.length; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE || isSpace(unit)) return false;
  }
  return true;
}

function isPhone(text: string, start: number, end: number): boolean {
  const from = isPlus(text.charCodeAt(start)) ? start + 1 : start;
  const inner = end - from - 2;
  if (!isDigit(text.charCodeAt(from)) || inner < PHONE_INNER_MIN || inner > PHONE_INNER_MAX) return false;
  for (let at = from + 1; at < end; at++) {
    const unit = text.charCodeAt(at);
    const isMark = isDateMark(unit) || unit === SPACE || unit === 0x28 || unit === 0x29;
    if (!isDigit(unit) && !isMark) return false;
  }
  return true;
}

/** Letters, digits and marks of any script, and the punctuation that stands inside names. */
function isName(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (isLatin(unit) || isDigit(unit)) continue;
    const isMark = at > start && (unit < 0x80 ? NAME_MARKS.has(unit) : unit === RIGHT_QUOTE);
    if (isMark) continue;
    if (unit < 0x80) return false;
    if (isAccented(unit)) continue;
    const point = text.codePointAt(at)!;
    if (point > 0xffff) at++;
    if (at >= end || !LETTER.test(String.fromCodePoint(point))) return false;
  }
  return true;
}

/** Of Latin scripts, whose block holds letters alone but for two signs of arithmetic; and Cyrillic. */
function isAccented(unit: number): boolean {
  if (unit < 0x250) return unit >= 0xc0 && unit !== 0xd7 && unit !== 0xf7;
  return unit >= 0x400 && unit < 0x482;
}
