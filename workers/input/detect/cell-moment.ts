// Dates and times as people write them into tables, read unit by unit.
import { behindDigits, isLatin, isSign, isSpace } from './cell-units.ts';

const SPACE = 0x20;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const SMALL_A = 0x61;
const SMALL_M = 0x6d;
const SMALL_P = 0x70;

/** Letters of ASCII differ by it from their capitals. */
const CASE_BIT = 0x20;

/** What the units [start, end) are, all of them; null: neither a date nor a time. */
export function momentOf(text: string, start: number, end: number): 'date' | 'time' | 'datetime' | null {
  const at = behindDigits(text, start, end);
  const digits = at - start;
  if (digits === 0 || digits > 4 || at === end) return null;
  if (text.charCodeAt(at) === COLON) return digits <= 2 && isTimeEnd(text, at, end, behindNoon) ? 'time' : null;
  if (!isDateMark(text.charCodeAt(at))) return isDateInWords(text, at, digits, end) ? 'date' : null;
  const month = behindDigits(text, at + 1, end);
  if (month === at + 1) return isDateInWords(text, at, digits, end) ? 'date' : null;
  if (month > at + 3 || !isDateMark(text.charCodeAt(month))) return null;
  const year = behindDigits(text, month + 1, end);
  if (year === month + 1 || year > month + 5) return null;
  if (year >= end) return 'date';
  const between = text.charCodeAt(year);
  if (between !== SPACE && between !== LETTER_T) return null;
  const hour = behindDigits(text, year + 1, end);
  const isHour = hour > year + 1 && hour <= year + 3 && text.charCodeAt(hour) === COLON;
  return isHour && isTimeEnd(text, hour, end, behindZone) ? 'datetime' : null;
}

/** Between the parts of a date. */
export function isDateMark(unit: number): boolean {
  return unit === MINUS || unit === SLASH || unit === POINT;
}

/** `3 May 2024`, from the mark behind its day on. */
function isDateInWords(text: string, mark: number, dayDigits: number, end: number): boolean {
  const isMark = (unit: number): boolean => isDateMark(unit) || unit === SPACE;
  if (dayDigits > 2 || !isMark(text.charCodeAt(mark))) return false;
  let at = mark + 1;
  while (at < end && isLatin(text.charCodeAt(at))) at++;
  const letters = at - mark - 1;
  if (letters < 3 || letters > 9 || !isMark(text.charCodeAt(at))) return false;
  const year = behindDigits(text, at + 1, end);
  return year === end && year >= at + 3 && year <= at + 5;
}

/** Minutes and seconds, and what `behind` says may follow them. */
function isTimeEnd(
  text: string,
  colon: number,
  end: number,
  behind: (text: string, at: number, end: number) => number,
): boolean {
  if (behindDigits(text, colon + 1, end) !== colon + 3) return false;
  let at = colon + 3;
  if (at < end && text.charCodeAt(at) === COLON) {
    if (behindDigits(text, at + 1, end) !== at + 3) return false;
    at += 3;
    const mark = text.charCodeAt(at);
    if (at < end && (mark === POINT || mark === COMMA)) {
      const fraction = behindDigits(text, at + 1, end);
      if (fraction === at + 1) return false;
      at = fraction;
    }
  }
  if (at === end) return true;
  return behind(text, isSpace(text.charCodeAt(at)) ? at + 1 : at, end) === end;
}

/** Behind `am` or `pm`. */
function behindNoon(text: string, at: number): number {
  const half = text.charCodeAt(at) | CASE_BIT;
  return (half === SMALL_A || half === SMALL_P) && (text.charCodeAt(at + 1) | CASE_BIT) === SMALL_M ? at + 2 : at;
}

/** Behind `Z`, `UTC`, `+0100`, `+01:00`. */
function behindZone(text: string, at: number, end: number): number {
  if (text.charCodeAt(at) === LETTER_Z) return at + 1;
  if (text.startsWith('UTC', at)) return at + 3;
  if (!isSign(text.charCodeAt(at))) return at;
  const digits = behindDigits(text, at + 1, end) - at - 1;
  if (digits === 4) return at + 5;
  return digits === 2 && text.charCodeAt(at + 3) === COLON && behindDigits(text, at + 4, end) === at + 6 ? at + 6 : at;
}
