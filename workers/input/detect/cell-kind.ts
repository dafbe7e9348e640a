// Classifies what a cell looks like: its characters, numbers, and dates and times.

// Classifies single UTF-16 units of a cell for the detectors.

const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const NO_BREAK_SPACE = 0xa0;
const FIRST_OTHER_SPACE = 0x1680;
const WHITE_SPACE = /\s/;

/** True for units that String.trim removes. */
export function isSpace(unit: number): boolean {
  if (unit <= SPACE) return unit === SPACE || (unit >= 9 && unit <= 13);
  if (unit < NO_BREAK_SPACE) return false;
  return unit === NO_BREAK_SPACE || (unit >= FIRST_OTHER_SPACE && WHITE_SPACE.test(String.fromCharCode(unit)));
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isPlus(unit: number): boolean {
  return unit === PLUS;
}

function isSign(unit: number): boolean {
  return unit === PLUS || unit === MINUS;
}

function isCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a;
}

function isLatin(unit: number): boolean {
  return isCapital(unit & ~0x20) && unit < 0x80;
}

/** Returns the position after the digits that begin at `at`. */
function afterDigits(text: string, at: number, end: number): number {
  let after = at;
  while (after < end && isDigit(text.charCodeAt(after))) after++;
  return after;
}

// Recognises dates and times as people write them in tables, unit by unit.

const COMMA = 0x2c;
const POINT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const SMALL_A = 0x61;
const SMALL_M = 0x6d;
const SMALL_P = 0x70;

/** Bit in which upper and lower case of an ASCII letter differ. */
const CASE_BIT = 0x20;

/** Returns the kind of the text [start, end): a date or a time, or null if it is neither. */
function momentOf(text: string, start: number, end: number): 'date' | 'time' | 'datetime' | null {
  const at = afterDigits(text, start, end);
  const digits = at - start;
  if (digits === 0 || digits > 4 || at === end) return null;
  if (text.charCodeAt(at) === COLON) return digits <= 2 && isTimeEnd(text, at, end, afterNoon) ? 'time' : null;
  if (!isDateMark(text.charCodeAt(at))) return isDateInWords(text, at, digits, end) ? 'date' : null;
  const month = afterDigits(text, at + 1, end);
  if (month === at + 1) return isDateInWords(text, at, digits, end) ? 'date' : null;
  if (month > at + 3 || !isDateMark(text.charCodeAt(month))) return null;
  const year = afterDigits(text, month + 1, end);
  if (year === month + 1 || year > month + 5) return null;
  if (year >= end) return 'date';
  const between = text.charCodeAt(year);
  if (between !== SPACE && between !== LETTER_T) return null;
  const hour = afterDigits(text, year + 1, end);
  const isHour = hour > year + 1 && hour <= year + 3 && text.charCodeAt(hour) === COLON;
  return isHour && isTimeEnd(text, hour, end, afterZone) ? 'datetime' : null;
}

/** True for characters that separate the parts of a date. */
function isDateMark(unit: number): boolean {
  return unit === MINUS || unit === SLASH || unit === POINT;
}

/** For example `3 May 2024`, starting at the separator after the day. */
function isDateInWords(text: string, mark: number, dayDigits: number, end: number): boolean {
  const isMark = (unit: number): boolean => isDateMark(unit) || unit === SPACE;
  if (dayDigits > 2 || !isMark(text.charCodeAt(mark))) return false;
  let at = mark + 1;
  while (at < end && isLatin(text.charCodeAt(at))) at++;
  const letters = at - mark - 1;
  if (letters < 3 || letters > 9 || !isMark(text.charCodeAt(at))) return false;
  const year = afterDigits(text, at + 1, end);
  return year === end && year >= at + 3 && year <= at + 5;
}

/** True if minutes, with or without seconds, follow the colon, and after them only what `after` accepts. */
function isTimeEnd(
  text: string,
  colon: number,
  end: number,
  after: (text: string, at: number, end: number) => number,
): boolean {
  if (afterDigits(text, colon + 1, end) !== colon + 3) return false;
  let at = colon + 3;
  if (at < end && text.charCodeAt(at) === COLON) {
    if (afterDigits(text, at + 1, end) !== at + 3) return false;
    at += 3;
    const mark = text.charCodeAt(at);
    if (at < end && (mark === POINT || mark === COMMA)) {
      const fraction = afterDigits(text, at + 1, end);
      if (fraction === at + 1) return false;
      at = fraction;
    }
  }
  if (at === end) return true;
  return after(text, isSpace(text.charCodeAt(at)) ? at + 1 : at, end) === end;
}

/** Returns the position after `am` or `pm`. */
function afterNoon(text: string, at: number): number {
  const half = text.charCodeAt(at) | CASE_BIT;
  return (half === SMALL_A || half === SMALL_P) && (text.charCodeAt(at + 1) | CASE_BIT) === SMALL_M ? at + 2 : at;
}

/** Returns the position after `Z`, `UTC`, `+0100` or `+01:00`. */
function afterZone(text: string, at: number, end: number): number {
  if (text.charCodeAt(at) === LETTER_Z) return at + 1;
  if (text.startsWith('UTC', at)) return at + 3;
  if (!isSign(text.charCodeAt(at))) return at;
  const digits = afterDigits(text, at + 1, end) - at - 1;
  if (digits === 4) return at + 5;
  return digits === 2 && text.charCodeAt(at + 3) === COLON && afterDigits(text, at + 4, end) === at + 6 ? at + 6 : at;
}

// Classifies what a cell looks like. Only detectors use these kinds; they are never data types, and nothing is inferred
// from them. Detectors look at thousands of cells per file, so cells are read unit by unit in place, without creating
// strings and without regular expressions. The tests compare with kinds that are written as regular expressions.

/** `code`: a word that stands for a value. `text`: words, codes and names. null: does not look like a single cell. */
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
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const SEMICOLON = 0x3b;
const AT_SIGN = 0x40;
const RIGHT_QUOTE = 0x2019;

const CODES: ReadonlySet<string> = new Set('NA N/A n/a null NULL None - true false TRUE FALSE yes no'.split(' '));
const CODE_UNITS_MAX = 5;

const CURRENCIES: ReadonlySet<number> = new Set([0x24, 0x20ac, 0xa3, 0xa5]);
const PERCENT = 0x25;
const CURRENCY_LETTERS = 3;

/** Length limits of the part of `+44 (0)20 7946-0958` between its first and its last digit. */
const PHONE_INNER_MIN = 5;
const PHONE_INNER_MAX = 18;

/** ASCII characters that occur in names besides letters and digits. */
const NAME_MARKS: ReadonlySet<number> = new Set([...` _.'/&()#%:+*!?-`].map((mark) => mark.charCodeAt(0)));
const LETTER = /^[\p{L}\p{N}\p{M}]$/u;

/** Returns the kind of the text, or of its units [start, end). Spaces around it do not count. */
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

/** True for kinds that headers rarely have. */
export function isDataKind(kind: CellKind): boolean {
  return kind !== null && kind !== '' && kind !== 'text' && kind !== 'code';
}

/** Digits, or groups of three digits, optionally followed by a fraction and an exponent. */
function isNumber(text: string, start: number, end: number): boolean {
  const from = isSign(text.charCodeAt(start)) ? start + 1 : start;
  let at = afterDigits(text, from, end);
  if (at === from) return false;
  if (at === end) return true;
  if (at - from <= 3) {
    while (isGrouping(text.charCodeAt(at)) && afterDigits(text, at + 1, end) === at + 4) at += 4;
  }
  const mark = text.charCodeAt(at);
  if (at < end && (mark === POINT || mark === COMMA)) {
    const after = afterDigits(text, at + 1, end);
    if (after === at + 1) return false;
    at = after;
  }
  if (at < end && (text.charCodeAt(at) | 0x20) === 0x65) {
    const power = isSign(text.charCodeAt(at + 1)) ? at + 2 : at + 1;
    const after = afterDigits(text, power, end);
    return after > power && after === end;
  }
  return at === end;
}

function isGrouping(unit: number): boolean {
  return unit === SPACE || unit === COMMA || unit === POINT || unit === APOSTROPHE || unit === NO_BREAK_SPACE;
}

/** For example `12,50 €`, `7 %`, `3 EUR`. */
function isAmount(text: string, start: number, end: number, last: number): boolean {
  let to = end;
  if (CURRENCIES.has(last) || last === PERCENT) to = end - 1;
  else if (end - start > CURRENCY_LETTERS && areCapitals(text, end - CURRENCY_LETTERS)) to = end - CURRENCY_LETTERS;
  else return false;
  if (isSpace(text.charCodeAt(to - 1))) to--;
  return isNumberText(text, start, to);
}

/** For example `€ 12,50`, `EUR 3`. */
function isMoneyBehindMark(text: string, start: number, end: number, first: number): boolean {
  if (CURRENCIES.has(first)) return isNumberAfter(text, start + 1, end, false);
  return isCapital(first) && areCapitals(text, start) && isNumberAfter(text, start + CURRENCY_LETTERS, end, true);
}

/** For example `-€ 12,50`. */
function isSignedMoney(text: string, start: number, end: number): boolean {
  const isSigned = isSign(text.charCodeAt(start)) && CURRENCIES.has(text.charCodeAt(start + 1));
  return isSigned && isNumberAfter(text, start + 2, end, false);
}

function isNumberAfter(text: string, start: number, end: number, isApart: boolean): boolean {
  const isSpaced = start < end && isSpace(text.charCodeAt(start));
  return (isSpaced || !isApart) && isNumberText(text, isSpaced ? start + 1 : start, end);
}

function areCapitals(text: string, at: number): boolean {
  return isCapital(text.charCodeAt(at)) && isCapital(text.charCodeAt(at + 1)) && isCapital(text.charCodeAt(at + 2));
}

/** A digit, optionally after a sign, followed by characters that occur in numbers. */
function isNumberText(text: string, start: number, end: number): boolean {
  const from = isSign(text.charCodeAt(start)) ? start + 1 : start;
  if (from >= end || !isDigit(text.charCodeAt(from))) return false;
  for (let at = from + 1; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (!isDigit(unit) && unit !== POINT && unit !== COMMA && unit !== APOSTROPHE && unit !== SPACE) return false;
  }
  return true;
}

/** One `@` with something before it. After it: something, a point, and two letters or more. */
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

/** Letters, digits and marks of any script, and the punctuation that occurs in names. */
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

/**
 * True for letters of Latin scripts beyond ASCII (whose blocks contain letters only, except for two arithmetic signs)
 * and for Cyrillic.
 */
function isAccented(unit: number): boolean {
  if (unit < 0x250) return unit >= 0xc0 && unit !== 0xd7 && unit !== 0xf7;
  return unit >= 0x400 && unit < 0x482;
}
